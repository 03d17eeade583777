// An affine step whose channels are in groups, or its transpose: at every position of an output image and for every sample
//
//   out[z, (y, x), r] = epilogue( Σ_t Σ_k W1[r, t, k] source1[t, k] + the same of W2 and source2 + bias[r] ),
//
// t over the taps whose source lies inside the image, k over the channels of r's group, `seen` of those that the source has. W lies as in
// the parameter vector: number (r / group_rows) group_stride + (r % group_rows) row_stride + k channel_stride + tap.
// windows[y_windows + y] and windows[x_windows + x] are (first source row or column, first tap, count, from one source row or column to
// the next); from one tap to the next it is tap_y window rows, or tap_x (below 0 on the way back). A thread FOURS rows of a group (not fours
// of them), 16 samples: of groups of one row the tile is one, as rows of different groups have nothing in common. z: direction or point.

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

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let lanes4 = grouped.lanes4;
    // A thread's fours of samples lie so far apart, so that neighbours read neighbouring vectors.
    let across = lanes4 / 4u;
    // Rows of a group in tiles of FOURS, the last of which may reach beyond it.
    let down = (grouped.group_rows + FOURS - 1u) / FOURS;
    let tiles = grouped.rows / grouped.group_rows * down;
    let lane4 = index % across;
    let tile = index / across % tiles;
    let position = index / across / tiles;
    if (position >= grouped.positions) {
        return;
    }
    let part = tile / down;
    let row = tile % down * FOURS;
    let y = position / grouped.out_width;
    let x = position % grouped.out_width;
    let rows = windows[grouped.y_windows + y];
    let columns = windows[grouped.x_windows + x];
    let channel = part * grouped.seen;
    //: each r of fours
    let first$r = grouped.panel_offset + part * grouped.group_stride
        + min(row + $ru, grouped.group_rows - 1u) * grouped.row_stride;
    //: each c of 0 1 2 3
    var total$r_$c = vec4<f32>();
    //: end
    //: end
    //: each t of 1 2
    for (var i = 0u; i < rows.z && $tu <= grouped.terms; i += 1u) {
        let taps = group.z * grouped.panel$t_batch + (rows.y + i * grouped.tap_y) * grouped.window_width;
        let source_y = (rows.x + i * rows.w) * grouped.source_row;
        for (var start = 0u; start < grouped.seen; start += BLOCK) {
            let stop = min(start + BLOCK, grouped.seen);
            //: each r of fours
            //: each c of 0 1 2 3
            var sum$r_$c = vec4<f32>();
            //: end
            //: end
            for (var j = 0u; j < columns.z; j += 1u) {
                let tap = taps + columns.y + j * grouped.tap_x;
                let line = (source_y + columns.x + j * columns.w) * grouped.channels + channel;
                let source = group.z * grouped.source$t_batch + line * lanes4 + lane4;
                for (var k = start; k < stop; k += 1u) {
                    //: each c of 0 1 2 3
                    let value$c = source$t[source + k * lanes4 + $cu * across];
                    //: end
                    //: each r of fours
                    {
                        let weight = panel$t[first$r + tap + k * grouped.channel_stride];
                        //: each c of 0 1 2 3
                        sum$r_$c += weight * value$c;
                        //: end
                    }
                    //: end
                }
            }
            //: each r of fours
            //: each c of 0 1 2 3
            total$r_$c += sum$r_$c;
            //: end
            //: end
        }
    }
    //: end
    let place = (grouped.out_origin + y * grouped.out_row + x) * grouped.rows + part * grouped.group_rows + row;
    let bias = grouped.panel_offset + group.z * grouped.panel1_batch + grouped.bias_at + part * grouped.group_rows + row;
    //: each r of fours
    if (row + $ru < grouped.group_rows) {
        var added = 0.0;
        if (grouped.has_bias == 1u) {
            added = panel1[bias + $ru];
        }
        var totals = array<vec4<f32>, 4>(total$r_0, total$r_1, total$r_2, total$r_3);
        for (var c = 0u; c < 4u; c += 1u) {
            let at = (place + $ru) * lanes4 + lane4 + c * across;
            var factor = vec4<f32>();
            if (grouped.epilogue >= 2u) {
                factor = kept[at];
            }
            out[group.z * grouped.out_batch + at] = finish(totals[c] + added, factor, grouped.epilogue, grouped.slope);
        }
    }
    //: end
}
