//! Parameters of the kernels, one struct a kernel, spelled as in its WGSL. `unused_*` fill up to 16 bytes.

use bytemuck::{Pod, Zeroable};

/// How a kernel's parameters lie in memory, spelled as in Rust.
#[derive(Debug, PartialEq, Eq)]
pub struct UniformLayout {
    /// The struct's name.
    pub name: &'static str,
    /// Bytes.
    pub size: usize,
    /// Name, type and first byte of each member.
    pub members: &'static [(&'static str, &'static str, usize)],
}

/// The parameters of a kernel.
pub(super) trait Uniform: Pod {
    const LAYOUT: &'static UniformLayout;
}

macro_rules! uniforms {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),+ $(,)? })+) => {
        $($(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
        pub(super) struct $name {
            $(pub $field: $type,)+
        }

        impl Uniform for $name {
            const LAYOUT: &'static UniformLayout = &UniformLayout {
                name: stringify!($name),
                size: size_of::<$name>(),
                members: &[$((stringify!($field), stringify!($type), std::mem::offset_of!($name, $field)),)+],
            };
        })+
    };
}

uniforms! {
    Gather {
        rows: u32, rows4: u32, channels: u32, source_row: u32,
        panel_row: u32, lanes4: u32, out_width: u32, positions: u32,
        out_row: u32, out_origin: u32, y_windows: u32, x_windows: u32,
        terms: u32, has_bias: u32, bias_at: u32, epilogue: u32,
        panel1_offset: u32, panel2_offset: u32, panel1_batch: u32, panel2_batch: u32,
        source1_batch: u32, source2_batch: u32, out_batch: u32, slope: f32,
    }
    Weights {
        rows: u32, columns: u32, channels: u32, window_width: u32,
        taps: u32, source_row: u32, stride_y: u32, stride_x: u32,
        out_width: u32, delta_row: u32, delta_origin: u32, lanes4: u32,
        position_blocks: u32, blocks: u32, slabs: u32, span: u32,
        terms: u32, delta1_batch: u32, source1_batch: u32, delta2_batch: u32,
        source2_batch: u32, out_offset: u32, out_batch: u32, source_corner: u32,
        tap_row: u32, tap_column: u32, seen: u32, group_rows: u32,
    }
    Grouped {
        rows: u32, group_rows: u32, channels: u32, seen: u32,
        group_stride: u32, row_stride: u32, channel_stride: u32, source_row: u32,
        lanes4: u32, out_width: u32, positions: u32, out_row: u32,
        out_origin: u32, y_windows: u32, x_windows: u32, tap_y: u32,
        tap_x: u32, window_width: u32, terms: u32, has_bias: u32,
        bias_at: u32, epilogue: u32, panel_offset: u32, panel1_batch: u32,
        panel2_batch: u32, source1_batch: u32, source2_batch: u32, out_batch: u32,
        slope: f32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    Bias {
        rows: u32, out_width: u32, delta_row: u32, delta_origin: u32,
        lanes4: u32, position_blocks: u32, blocks: u32, slabs: u32,
        span: u32, delta_batch: u32, out_offset: u32, out_batch: u32,
    }
    Pack {
        rows: u32, rows4: u32, depth: u32, lines: u32,
        inputs: u32, outputs: u32, window_height: u32, window_width: u32,
        period_y: u32, period_x: u32, is_backward: u32, has_bias: u32,
        weight_offset: u32, bias_offset: u32, source_batch: u32, out_offset: u32,
        out_batch: u32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    SumSlabs {
        size: u32, slabs: u32, out_offset: u32, out_batch: u32,
        accumulate: u32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    Pool {
        channels: u32, height: u32, width: u32, lanes4: u32,
        in_row: u32, in_origin: u32, out_height: u32, out_width: u32,
        out_row: u32, out_origin: u32, window_height: u32, window_width: u32,
        stride_y: u32, stride_x: u32, in_batch: u32, out_batch: u32,
        chosen_batch: u32, epilogue: u32, slope: f32, padding_y: u32,
        padding_x: u32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    Place {
        channels: u32, first: u32, count: u32, width: u32,
        size: u32, lanes4: u32, from_first: u32, from_channel: u32,
        from_row: u32, from_column: u32, to_first: u32, to_channel: u32,
        to_row: u32, to_column: u32, with_first: u32, with_row: u32,
        from_batch: u32, with_batch: u32, to_batch: u32, addend: u32,
        epilogue: u32, slope: f32, unused_0: u32, unused_1: u32,
    }
    Cotangent { samples: u32, classes: u32, lanes: u32, unused_0: u32 }
    Square { size: u32, unused_0: u32, unused_1: u32, unused_2: u32 }
    SweepDense {
        units: u32, channels: u32, positions: u32, rows: u32,
        lanes4: u32, width: u32, row: u32, origin: u32,
        in_batch: u32, out_batch: u32, unused_0: u32, unused_1: u32,
    }
    SampleGradient {
        rows: u32, columns: u32, channels: u32, window_width: u32,
        source_row: u32, stride_y: u32, stride_x: u32, out_height: u32,
        out_width: u32, delta_row: u32, delta_origin: u32, lanes4: u32,
        first4: u32, count4: u32, delta_batch: u32, first_z: u32,
        source_corner: u32, tap_row: u32, tap_column: u32, seen: u32,
        group_rows: u32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    SampleSquares {
        rows: u32, columns: u32, seen: u32, size: u32,
        lanes4: u32, first4: u32, count4: u32, first_z: u32,
        out_height: u32, out_width: u32, delta_row: u32, delta_origin: u32,
        delta_batch: u32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    RowProducts {
        rows: u32, group_rows: u32, columns: u32, seen: u32,
        panel_offset: u32, row_stride: u32, tap_stride: u32, channel_stride: u32,
    }
    SweepWindow {
        channels: u32, columns: u32, rows: u32, seen: u32,
        group_rows: u32, panel_offset: u32, lanes4: u32, first4: u32,
        count4: u32, out_height: u32, out_width: u32, delta_row: u32,
        delta_origin: u32, delta_batch: u32, out_batch: u32, first_z: u32,
        row_stride: u32, tap_stride: u32, channel_stride: u32, unused_0: u32,
    }
    PlaneCombine {
        first: u32, len: u32, stride: u32, terms: u32,
        epilogue: u32, slope: f32, unused_0: u32, unused_1: u32,
    }
    Smooth {
        function: u32, keeps: u32, size: u32, channels: u32,
        width: u32, row: u32, origin: u32, lanes4: u32,
        batch_stride: u32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    SmoothTangent { size: u32, unused_0: u32, unused_1: u32, unused_2: u32 }
    SmoothBackward { size: u32, unused_0: u32, unused_1: u32, unused_2: u32 }
    CrossEntropy {
        samples: u32, classes: u32, lanes: u32, report_offset: u32,
        hits: u32, report_batch: u32, count: f32, unused_0: u32,
    }
    CrossEntropyTangent { lanes: u32, classes: u32, count: f32, unused_0: u32 }
    SquaredError {
        samples: u32, outputs: u32, lanes: u32, report_offset: u32,
        hits: u32, report_batch: u32, count: f32, unused_0: u32,
    }
    SquaredErrorTangent { samples: u32, outputs: u32, lanes: u32, count: f32 }
    MeanReport { rows: u32, out_offset: u32, zero: u32, unused_0: u32 }
    Scale { len: u32, alpha: f32, unused_0: u32, unused_1: u32 }
    Axpy { len: u32, x_column: u32, alpha: f32, unused_0: u32 }
    MultiplyAdd { len: u32, alpha: f32, beta: f32, unused_0: u32 }
    SegmentInner { len: u32, x_offset: u32, tiles: u32, zero: u32 }
    SumPartials { segments: u32, tiles: u32, out_offset: u32, zero: u32 }
    Squares { tiles: u32, zero: u32, unused_0: u32, unused_1: u32 }
    Norm { tiles: u32, index: u32, zero: u32, unused_0: u32 }
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
    Quotient { len: u32, unused_0: u32, unused_1: u32, unused_2: u32 }
    QuotientTangent { len: u32, coordinates: u32, unused_0: u32, unused_1: u32 }
    QuotientCotangent { len: u32, coordinates: u32, second: u32, unused_0: u32 }
    QuotientAnchors {
        anchors: u32, len: u32, coordinates: u32, second: u32,
        zero: u32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    Normalized { runs: u32, groups: u32, zero: u32, unused_0: u32 }
    NormalizedTangent { runs: u32, groups: u32, len: u32, zero: u32 }
    NormalizedCotangent {
        runs: u32, groups: u32, len: u32, second: u32,
        zero: u32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
    Sheared { count: u32, len: u32, unused_0: u32, unused_1: u32 }
    GatherRows {
        features: u32, count: u32, rows_offset: u32, lanes: u32,
        out_lanes: u32, unused_0: u32, unused_1: u32, unused_2: u32,
    }
}
