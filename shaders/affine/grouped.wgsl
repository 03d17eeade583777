// An affine step whose channels are in groups, or its transpose: at every position of an output image and for every sample
//
//   out[z, (y, x), r] = epilogue( Σ_t Σ_k W1[r, t, k] source1[t, k] + the same of W2 and source2 + bias[r] ),
//
// t over the taps whose source lies inside the image, k over the channels of r's group, `seen` of those that the source has. W lies as in
// the parameter vector: number (r / group_rows) group_stride + (r % group_rows) row_stride + k channel_stride + tap.
// windows[y_windows + y] and windows[x_windows + x] are (first source row or column, first tap, count, from one source row or column to
// the next); from one tap to the next it is tap_y window rows, or tap_x (below 0 on the way back). Where groups are as many as channels
// (k is 0), this is as good as it gets; with few groups a panel's tiles would share what they read. A thread four samples of a row.
// z: direction or point.

struct Grouped {
    rows: u32,
    group_rows: u32,
    channels: u32,
    seen: u32,
    group_stride: u32,
    row_stride: u32,
    channel_stride: u32,
    source_row: u32,
    lanes4: u32,
    out_width: u32,
    positions: u32,
    out_row: u32,
    out_origin: u32,
    y_windows: u32,
    x_windows: u32,
    tap_y: u32,
    tap_x: u32,
    window_width: u32,
    terms: u32,
    has_bias: u32,
    bias_at: u32,
    epilogue: u32,
    panel_offset: u32,
    panel1_batch: u32,
    panel2_batch: u32,
    source1_batch: u32,
    source2_batch: u32,
    out_batch: u32,
    slope: f32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> grouped: Grouped;
@group(0) @binding(1) var<storage, read> source1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> panel1: array<f32>;
@group(0) @binding(3) var<storage, read> source2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> panel2: array<f32>;
@group(0) @binding(5) var<storage, read> kept: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> windows: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> out: array<vec4<f32>>;

// Blocks, for the reason given in shared/gather.wgsl.
const BLOCK = 128u;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, THREADS);
    let lanes4 = grouped.lanes4;
    let lane4 = index % lanes4;
    let row = index / lanes4 % grouped.rows;
    let position = index / lanes4 / grouped.rows;
    if (position >= grouped.positions) {
        return;
    }
    let y = position / grouped.out_width;
    let x = position % grouped.out_width;
    let down = windows[grouped.y_windows + y];
    let across = windows[grouped.x_windows + x];
    let part = row / grouped.group_rows;
    let first = part * grouped.group_stride + row % grouped.group_rows * grouped.row_stride;
    let channel = part * grouped.seen;
    var total = vec4<f32>();
    //: each t of 1 2
    for (var i = 0u; i < down.z && $tu <= grouped.terms; i += 1u) {
        let taps = (down.y + i * grouped.tap_y) * grouped.window_width;
        let source_y = (down.x + i * down.w) * grouped.source_row;
        for (var start = 0u; start < grouped.seen; start += BLOCK) {
            let stop = min(start + BLOCK, grouped.seen);
            var sum = vec4<f32>();
            for (var j = 0u; j < across.z; j += 1u) {
                let tap = taps + across.y + j * grouped.tap_x;
                let line = (source_y + across.x + j * across.w) * grouped.channels + channel;
                let weights = grouped.panel_offset + group.z * grouped.panel$t_batch + first + tap;
                let source = group.z * grouped.source$t_batch + line * lanes4 + lane4;
                for (var k = start; k < stop; k += 1u) {
                    sum += panel$t[weights + k * grouped.channel_stride] * source$t[source + k * lanes4];
                }
            }
            total += sum;
        }
    }
    //: end
    if (grouped.has_bias == 1u) {
        total += vec4<f32>(panel1[grouped.panel_offset + group.z * grouped.panel1_batch + grouped.bias_at + row]);
    }
    let at = ((grouped.out_origin + y * grouped.out_row + x) * grouped.rows + row) * lanes4 + lane4;
    var factor = vec4<f32>();
    if (grouped.epilogue >= 2u) {
        factor = kept[at];
    }
    out[group.z * grouped.out_batch + at] = finish(total, factor, grouped.epilogue, grouped.slope);
}
