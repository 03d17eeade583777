//! The table of kernels: path in `shaders/`, source with its includes, bindings, its parameters.

use super::template::{self, Shape};
use super::uniforms::{self, UniformLayout};

/// How a kernel uses a storage buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    Write,
}
use Access::{Read, Write};

/// One kernel as a pipeline needs it. Binding 0 is its parameters, a uniform; the storage buffers follow from 1 on.
#[derive(Debug)]
pub struct KernelSpec {
    /// Path in `shaders/` without `.wgsl`.
    pub path: &'static str,
    /// The pipeline's.
    pub label: &'static str,
    /// The includes, then the file, as `build.rs` copies them. Joined when they are wanted: a module then has each include once.
    texts: &'static [&'static str],
    /// A tile's, if the file is written for several.
    shape: Option<Shape>,
    /// The storage buffers in the order of their bindings.
    pub storage: &'static [Access],
    /// The parameters.
    pub uniform: &'static UniformLayout,
}

impl KernelSpec {
    /// Of a tile, where a kernel computes tiles.
    pub(super) fn shape(&self) -> Option<Shape> {
        self.shape
    }

    /// WGSL.
    pub fn source(&self) -> String {
        let text = self.texts.concat();
        match self.shape {
            Some(shape) => template::expand(&text, shape),
            None => text,
        }
    }
}

macro_rules! shape {
    () => {
        None
    };
    ($fours:literal) => {
        Some(Shape::Registers { fours: $fours })
    };
    ($rows4:literal $columns4:literal) => {
        Some(Shape::Workgroup { rows4: $rows4, columns4: $columns4 })
    };
}

macro_rules! shader {
    ($folder:literal, $path:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/shaders/", $folder, $path, ".wgsl"))
    };
}

macro_rules! label {
    ($path:literal) => {
        $path
    };
    ($path:literal $fours:literal) => {
        concat!($path, ", fours ", $fours)
    };
    ($path:literal $rows4:literal $columns4:literal) => {
        concat!($path, ", fours ", $rows4, " × ", $columns4)
    };
}

macro_rules! kernels {
    ($($name:ident = $path:literal $(of [$($fours:literal),+])?, [$($shared:literal),*], $uniform:ident, [$($access:ident),+];)+) => {
        /// A kernel, named by its place in the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is the file of its path, whose header says what it does")]
        pub enum Kernel { $($name,)+ }

        impl Kernel {
            /// All kernels.
            pub const ALL: &'static [Kernel] = &[$(Kernel::$name,)+];

            /// What a pipeline needs to know of it.
            pub fn spec(self) -> &'static KernelSpec {
                match self {
                    $(Kernel::$name => {
                        static SPEC: KernelSpec = KernelSpec {
                            path: $path,
                            label: label!($path $($($fours)+)?),
                            shape: shape!($($($fours)+)?),
                            texts: &[$(shader!("shared/", $shared),)* shader!("", $path)],
                            storage: &[$($access,)+],
                            uniform: <uniforms::$uniform as uniforms::Uniform>::LAYOUT,
                        };
                        &SPEC
                    })+
                }
            }
        }
    };
}

/// The files in `shaders/shared/`, without `.wgsl`.
pub const SHARED_SOURCES: &[&str] =
    &["epilogue", "gather", "grid", "math", "pool", "quotient", "root", "run", "scale", "smooth", "tree", "weights"];

kernels! {
    Gather32x128 = "affine/gather_workgroup" of [8, 32], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Gather64x64 = "affine/gather_workgroup" of [16, 16], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Gather128x64 = "affine/gather_workgroup" of [32, 16], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Gather4x16 = "affine/gather_rows" of [1], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Gather8x16 = "affine/gather_rows" of [2], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Gather12x16 = "affine/gather_rows" of [3], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Gather16x16 = "affine/gather_rows" of [4], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Gather20x16 = "affine/gather_rows" of [5], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Window4x16 = "affine/window_rows" of [1], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Window8x16 = "affine/window_rows" of [2], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Window12x16 = "affine/window_rows" of [3], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Window16x16 = "affine/window_rows" of [4], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Window20x16 = "affine/window_rows" of [5], ["grid", "epilogue", "gather"], Gather, [Read, Read, Read, Read, Read, Read, Write];
    Weights32x128 = "affine/weights_workgroup" of [8, 32], ["grid", "weights"], Weights, [Read, Read, Read, Read, Write];
    Weights64x64 = "affine/weights_workgroup" of [16, 16], ["grid", "weights"], Weights, [Read, Read, Read, Read, Write];
    Weights128x64 = "affine/weights_workgroup" of [32, 16], ["grid", "weights"], Weights, [Read, Read, Read, Read, Write];
    Weights4x16 = "affine/weights_rows" of [1], ["grid", "weights"], Weights, [Read, Read, Read, Read, Write];
    Weights8x16 = "affine/weights_rows" of [2], ["grid", "weights"], Weights, [Read, Read, Read, Read, Write];
    Weights12x16 = "affine/weights_rows" of [3], ["grid", "weights"], Weights, [Read, Read, Read, Read, Write];
    Weights16x16 = "affine/weights_rows" of [4], ["grid", "weights"], Weights, [Read, Read, Read, Read, Write];
    Weights20x16 = "affine/weights_rows" of [5], ["grid", "weights"], Weights, [Read, Read, Read, Read, Write];
    Grouped1 = "affine/grouped" of [1], ["grid", "epilogue"], Grouped, [Read, Read, Read, Read, Read, Read, Write];
    Grouped4 = "affine/grouped" of [4], ["grid", "epilogue"], Grouped, [Read, Read, Read, Read, Read, Read, Write];
    WeightsGrouped1 = "affine/weights_grouped" of [1], ["grid", "weights"], Weights, [Read, Read, Read, Read, Write];
    WeightsGrouped4 = "affine/weights_grouped" of [4], ["grid", "weights"], Weights, [Read, Read, Read, Read, Write];
    Bias = "affine/bias", ["grid"], Bias, [Read, Write];
    SumSlabs = "affine/sum_slabs", ["grid"], SumSlabs, [Read, Write];
    Pack = "affine/pack", ["grid"], Pack, [Read, Write];
    MaxForward = "pool/max_forward", ["grid", "epilogue", "pool"], Pool, [Read, Write, Write];
    MaxTangent = "pool/max_tangent", ["grid", "epilogue", "pool"], Pool, [Read, Read, Read, Write];
    MaxBackward = "pool/max_backward", ["grid", "epilogue", "pool"], Pool, [Read, Read, Read, Write];
    MaxSpread = "pool/max_spread", ["grid", "epilogue", "pool"], Pool, [Read, Read, Read, Write];
    AverageForward = "pool/average_forward", ["grid", "epilogue", "pool"], Pool, [Read, Read, Write];
    AverageBackward = "pool/average_backward", ["grid", "epilogue", "pool"], Pool, [Read, Read, Write];
    Place = "plain/place", ["grid", "epilogue"], Place, [Read, Read, Read, Write];
    Cotangent = "sweep/cotangent", ["grid"], Cotangent, [Read, Read, Read, Write];
    Square = "sweep/square", ["grid"], Square, [Read, Write];
    SweepDense = "sweep/dense", ["grid"], SweepDense, [Read, Read, Read, Read, Write];
    SampleGradient = "sweep/sample_gradient", ["grid"], SampleGradient, [Read, Read, Write];
    SampleSquares = "sweep/sample_squares", ["grid"], SampleSquares, [Read, Read, Write];
    RowProducts = "sweep/row_products", ["grid"], RowProducts, [Read, Write];
    SweepWindow = "sweep/window", ["grid"], SweepWindow, [Read, Read, Read, Read, Write];
    PlaneCombine = "plane/combine", ["grid", "epilogue"], PlaneCombine, [Read, Read, Write];
    Smooth = "activation/smooth", ["grid", "math", "smooth"], Smooth, [Write, Write, Write];
    SmoothTangent = "activation/smooth_tangent", ["grid"], SmoothTangent, [Read, Read, Write, Write];
    SmoothBackward = "activation/smooth_backward", ["grid"], SmoothBackward, [Read, Write, Write];
    CrossEntropy = "loss/cross_entropy", ["grid", "math"], CrossEntropy, [Read, Read, Write, Write, Write];
    CrossEntropyTangent = "loss/cross_entropy_tangent", ["grid"], CrossEntropyTangent, [Read, Write];
    SquaredError = "loss/squared_error", ["grid"], SquaredError, [Read, Read, Write, Write];
    SquaredErrorTangent = "loss/squared_error_tangent", ["grid"], SquaredErrorTangent, [Write];
    MeanReport = "loss/mean_report", ["tree"], MeanReport, [Read, Write];
    Scale = "vector/scale", ["grid"], Scale, [Write];
    Axpy = "vector/axpy", ["grid"], Axpy, [Read, Write];
    MultiplyAdd = "vector/multiply_add", ["grid"], MultiplyAdd, [Read, Read, Write];
    SegmentInner = "vector/segment_inner", ["grid", "tree"], SegmentInner, [Read, Read, Read, Write];
    SumPartials = "vector/sum_partials", ["grid", "tree"], SumPartials, [Read, Read, Write];
    Squares = "vector/squares", ["grid", "scale", "tree"], Squares, [Read, Read, Write];
    Norm = "vector/norm", ["root", "scale", "tree"], Norm, [Write, Write];
    SegmentAxpy = "vector/segment_axpy", ["grid"], SegmentAxpy, [Read, Read, Read, Write];
    Combine = "vector/combine", ["grid"], Combine, [Read, Read, Write];
    Normalize = "vector/normalize", ["grid", "root", "scale"], Normalize, [Read, Read, Write];
    Adam = "vector/adam", ["grid"], Adam, [Read, Write, Write, Write];
    Quotient = "space/quotient", ["grid", "quotient"], Quotient, [Read, Read, Write];
    QuotientTangent = "space/quotient_tangent", ["grid", "quotient"], QuotientTangent, [Read, Read, Read, Write];
    QuotientCotangent = "space/quotient_cotangent", ["grid", "quotient"], QuotientCotangent, [Read, Read, Read, Read, Read, Read, Write];
    QuotientAnchors = "space/quotient_anchors", ["grid", "quotient", "tree"], QuotientAnchors, [Read, Read, Read, Read, Read, Read, Write];
    Normalized = "space/normalized", ["grid", "run", "scale", "tree"], Normalized, [Read, Read, Write];
    NormalizedTangent = "space/normalized_tangent", ["grid", "run", "scale", "tree"], NormalizedTangent, [Read, Read, Read, Write];
    NormalizedCotangent = "space/normalized_cotangent", ["grid", "run", "scale", "tree"], NormalizedCotangent, [Read, Read, Read, Read, Read, Write];
    Sheared = "space/sheared", ["grid"], Sheared, [Read, Read, Write];
    GatherRows = "vector/gather_rows", ["grid"], GatherRows, [Read, Read, Write];
}
