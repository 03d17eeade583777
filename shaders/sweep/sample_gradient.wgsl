// out[z, m, d, n] = Σ_q g[z, q, m, n] a[(q's window, d), n]: the gradient of every sample by itself in a convolution's weights,
// d = (tap, input channel of those that row m sees), q over output positions; windows as in shared/weights.wgsl. Of lanes4 vectors
// of four samples, those from first4 on, count4 of them, go into an out of count4. A thread a tile of 4 m × 4 d, four samples. z: cotangent, from first_z on.

struct SampleGradient {
    rows: u32,
    columns: u32,
    channels: u32,
    window_width: u32,
    source_row: u32,
    stride_y: u32,
    stride_x: u32,
    out_height: u32,
    out_width: u32,
    delta_row: u32,
    delta_origin: u32,
    lanes4: u32,
    first4: u32,
    count4: u32,
    delta_batch: u32,
    first_z: u32,
    source_corner: u32,
    tap_row: u32,
    tap_column: u32,
    seen: u32,
    group_rows: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> sample_gradient: SampleGradient;
@group(0) @binding(1) var<storage, read> g: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;

// Where column d begins within a window.
fn column_from(column: u32) -> u32 {
    let d = min(column, sample_gradient.columns - 1u);
    let tap = d / sample_gradient.seen;
    let width = sample_gradient.window_width;
    let position = tap / width * sample_gradient.tap_row + tap % width * sample_gradient.tap_column;
    return (position * sample_gradient.channels + d % sample_gradient.seen) * sample_gradient.lanes4;
}

fn store(z: u32, m: u32, end: u32, d: u32, lane4: u32, value: vec4<f32>) {
    if (m < end && d < sample_gradient.columns) {
        out[((z * sample_gradient.rows + m) * sample_gradient.columns + d) * sample_gradient.count4 + lane4] = value;
    }
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let count4 = sample_gradient.count4;
    let lanes4 = sample_gradient.lanes4;
    let across = (sample_gradient.columns + 3u) / 4u;
    let lane4 = index % count4;
    let d = index / count4 % across * 4u;
    // No tile lies in two groups of rows, which see other channels.
    let down = (sample_gradient.group_rows + 3u) / 4u;
    let part = index / count4 / across / down;
    let m = part * sample_gradient.group_rows + index / count4 / across % down * 4u;
    let end = (part + 1u) * sample_gradient.group_rows;
    if (end > sample_gradient.rows) {
        return;
    }
    let channels = sample_gradient.channels;
    let rows = min(vec4<u32>(m, m + 1u, m + 2u, m + 3u), vec4<u32>(end - 1u)) * lanes4;
    let columns = vec4<u32>(column_from(d), column_from(d + 1u), column_from(d + 2u), column_from(d + 3u))
        + part * sample_gradient.seen * lanes4;
    let base = (group.z + sample_gradient.first_z) * sample_gradient.delta_batch + sample_gradient.first4 + lane4;
    // Column i is the vector of four samples of (row i, column d + j).
    var total0 = mat4x4<f32>();
    var total1 = mat4x4<f32>();
    var total2 = mat4x4<f32>();
    var total3 = mat4x4<f32>();
    // A block a row of positions, for the reason given in shared/gather.wgsl.
    for (var y = 0u; y < sample_gradient.out_height; y += 1u) {
        var sum0 = mat4x4<f32>();
        var sum1 = mat4x4<f32>();
        var sum2 = mat4x4<f32>();
        var sum3 = mat4x4<f32>();
        for (var x = 0u; x < sample_gradient.out_width; x += 1u) {
            let p = base
                + (sample_gradient.delta_origin + y * sample_gradient.delta_row + x) * sample_gradient.rows * lanes4;
            let position = sample_gradient.source_corner
                + y * sample_gradient.stride_y * sample_gradient.source_row + x * sample_gradient.stride_x;
            let q = position * channels * lanes4 + sample_gradient.first4 + lane4;
            let g0 = g[p + rows.x];
            let g1 = g[p + rows.y];
            let g2 = g[p + rows.z];
            let g3 = g[p + rows.w];
            let a0 = a[q + columns.x];
            let a1 = a[q + columns.y];
            let a2 = a[q + columns.z];
            let a3 = a[q + columns.w];
            sum0 += mat4x4<f32>(g0 * a0, g1 * a0, g2 * a0, g3 * a0);
            sum1 += mat4x4<f32>(g0 * a1, g1 * a1, g2 * a1, g3 * a1);
            sum2 += mat4x4<f32>(g0 * a2, g1 * a2, g2 * a2, g3 * a2);
            sum3 += mat4x4<f32>(g0 * a3, g1 * a3, g2 * a3, g3 * a3);
        }
        total0 += sum0;
        total1 += sum1;
        total2 += sum2;
        total3 += sum3;
    }
    var totals = array<mat4x4<f32>, 4>(total0, total1, total2, total3);
    for (var j = 0u; j < 4u; j += 1u) {
        for (var i = 0u; i < 4u; i += 1u) {
            store(group.z, m + i, end, d + j, lane4, totals[j][i]);
        }
    }
}
