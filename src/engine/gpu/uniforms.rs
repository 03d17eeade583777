//! Parameters of the kernels, one struct a kernel, spelled as in its WGSL. `unused_*` fill up to 16 bytes.

use bytemuck::{Pod, Zeroable};

macro_rules! uniforms {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),+ $(,)? })+) => {
        $($(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
        pub(super) struct $name {
            $(pub $field: $type,)+
        })+
    };
}

uniforms! {
    /// Where an operand of a matrix product lies; see `shaders/shared/gemm.wgsl`.
    Operand { offset: u32, line: u32, depth: u32, batch: u32 }
    Gemm {
        a1: Operand, b1: Operand, a2: Operand, b2: Operand,
        m: u32, n: u32, k: u32, terms: u32,
        slabs: u32, span: u32, c_offset: u32, c_row: u32,
        c_batch: u32, has_bias: u32, bias_offset: u32, bias_batch: u32,
        epilogue: u32, slope: f32, unused_0: u32, unused_1: u32,
    }
    SumSlabs { size: u32, slabs: u32, out_offset: u32, out_batch: u32 }
    ColumnSums {
        rows: u32, width: u32, slabs: u32, span: u32,
        out_offset: u32, out_batch: u32, unused_0: u32, unused_1: u32,
    }
    TanhBackward { size: u32, unused_0: u32, unused_1: u32, unused_2: u32 }
    TanhCurvature { size: u32, unused_0: u32, unused_1: u32, unused_2: u32 }
    CrossEntropy {
        rows: u32, classes: u32, target_offset: u32, report_offset: u32,
        hits: u32, count: f32, unused_0: u32, unused_1: u32,
    }
    CrossEntropyTangent { rows: u32, classes: u32, count: f32, unused_0: u32 }
    SquaredError {
        rows: u32, outputs: u32, target_offset: u32, report_offset: u32,
        hits: u32, count: f32, unused_0: u32, unused_1: u32,
    }
    MeanReport { rows: u32, out_offset: u32, zero: u32, unused_0: u32 }
    Scale { len: u32, alpha: f32, unused_0: u32, unused_1: u32 }
    Axpy { len: u32, x_column: u32, alpha: f32, unused_0: u32 }
    MultiplyAdd { len: u32, alpha: f32, beta: f32, unused_0: u32 }
    SegmentInner { len: u32, x_offset: u32, tiles: u32, zero: u32 }
    SumPartials {
        segments: u32, tiles: u32, out_offset: u32, root: u32,
        zero: u32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    SegmentAxpy { len: u32, segments: u32, unused_0: u32, unused_1: u32 }
    Combine {
        len: u32, first: u32, terms: u32, c_offset: u32,
        alpha: f32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    Normalize { len: u32, q_offset: u32, unused_0: u32, unused_1: u32 }
    Adam {
        len: u32, learning_rate: f32, beta1: f32, one_minus_beta1: f32,
        beta2: f32, one_minus_beta2: f32, epsilon: f32, mean_correction: f32,
        square_correction: f32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    GatherRows { len: u32, width: u32, rows_offset: u32, unused_0: u32 }
}
