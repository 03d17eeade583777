// out[z, i] = Σ_n G[z, m, d, n]² over count4 vectors of four samples, G the gradients of single samples in a convolution's
// weights (sweep/sample_gradient.wgsl) and i W's index of (m, d); behind them, where size has room for a bias,
// Σ_n (Σ over positions of g_m)². A thread a number. z: cotangent, in g from first_z on.

struct SampleSquares {
    rows: u32,
    columns: u32,
    seen: u32,
    size: u32,
    lanes4: u32,
    first4: u32,
    count4: u32,
    first_z: u32,
    out_height: u32,
    out_width: u32,
    delta_row: u32,
    delta_origin: u32,
    delta_batch: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> sample_squares: SampleSquares;
@group(0) @binding(1) var<storage, read> gradient: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> g: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

// Blocks, for the reason given in shared/gather.wgsl.
const BLOCK4 = 16u;

// Where line m of g at its first position begins.
fn bias_from(z: u32, m: u32) -> u32 {
    let line = sample_squares.delta_origin * sample_squares.rows + m;
    let base = (z + sample_squares.first_z) * sample_squares.delta_batch + sample_squares.first4;
    return base + line * sample_squares.lanes4;
}

// Σ over positions of g, for four samples.
fn over_positions(first: u32) -> vec4<f32> {
    var total = vec4<f32>();
    for (var y = 0u; y < sample_squares.out_height; y += 1u) {
        var sum = vec4<f32>();
        for (var x = 0u; x < sample_squares.out_width; x += 1u) {
            sum += g[first + (y * sample_squares.delta_row + x) * sample_squares.rows * sample_squares.lanes4];
        }
        total += sum;
    }
    return total;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= sample_squares.size) {
        return;
    }
    let columns = sample_squares.columns;
    let count4 = sample_squares.count4;
    let z = group.z;
    let m = i / columns;
    let is_weight = m < sample_squares.rows;
    // W's index is (m, channel, tap), the gradient's (m, tap, channel).
    let taps = columns / sample_squares.seen;
    let d = i % taps * sample_squares.seen + i % columns / taps;
    let from_gradient = ((z * sample_squares.rows + m) * columns + d) * count4;
    let from_bias = bias_from(z, i - min(i, sample_squares.rows * columns));
    var total = vec4<f32>();
    for (var start = 0u; start < count4; start += BLOCK4) {
        let stop = min(start + BLOCK4, count4);
        var sum = vec4<f32>();
        for (var k = start; k < stop; k += 1u) {
            var value: vec4<f32>;
            if (is_weight) {
                value = gradient[from_gradient + k];
            } else {
                value = over_positions(from_bias + k);
            }
            sum += value * value;
        }
        total += sum;
    }
    out[z * sample_squares.size + i] = (total.x + total.y) + (total.z + total.w);
}
