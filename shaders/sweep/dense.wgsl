// What a cotangent leaves at a dense layer, sample by sample, where G = g aᵀ; h = Wᵀg, spread = (W ⊙ W)(a ⊙ a). Rows of
// out[z, row, n], with C channels (of some positions each) coming in and M rows of W:
//
//   c < C                 (Σ over the positions of channel c of a h)², the share of ρ(c)
//   C, C + 1, C + 2       ‖g‖² ‖a‖² = ‖G‖², ‖a‖² ‖h‖² = ‖Wᵀ G‖², Σ g² spread = ‖W ⊙ G‖²
//   C + 3 + m             g_m², for the bias
//
// A thread four samples of a row. z: cotangent.

struct SweepDense {
    channels: u32,
    positions: u32,
    rows: u32,
    lanes4: u32,
    out_batch: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> sweep_dense: SweepDense;
@group(0) @binding(1) var<storage, read> g: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> h: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> spread: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4<f32>>;

// Blocks, for the reason given in shared/gather.wgsl.
const BLOCK = 64u;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let lanes4 = sweep_dense.lanes4;
    let channels = sweep_dense.channels;
    let lane4 = index % lanes4;
    let row = index / lanes4;
    if (row >= channels + 3u + sweep_dense.rows) {
        return;
    }
    let features = channels * sweep_dense.positions;
    let first_g = group.z * sweep_dense.rows * lanes4 + lane4;
    let first_h = group.z * features * lanes4 + lane4;
    var value = vec4<f32>();
    if (row < channels) {
        for (var q = 0u; q < sweep_dense.positions; q += 1u) {
            let at = (q * channels + row) * lanes4;
            value += a[lane4 + at] * h[first_h + at];
        }
        value = value * value;
    } else if (row >= channels + 3u) {
        value = g[first_g + (row - channels - 3u) * lanes4];
        value = value * value;
    } else {
        // ‖g‖² or, for the last of the three, Σ g² spread.
        var square_g = vec4<f32>();
        for (var start = 0u; start < sweep_dense.rows; start += BLOCK) {
            let stop = min(start + BLOCK, sweep_dense.rows);
            var sum_g = vec4<f32>();
            for (var m = start; m < stop; m += 1u) {
                let x = g[first_g + m * lanes4];
                var factor = vec4<f32>(1.0);
                if (row == channels + 2u) {
                    factor = spread[lane4 + m * lanes4];
                }
                sum_g += x * x * factor;
            }
            square_g += sum_g;
        }
        value = square_g;
        if (row < channels + 2u) {
            // ‖a‖², and ‖h‖² in the place of ‖g‖².
            var square_a = vec4<f32>();
            var square_h = vec4<f32>();
            for (var start = 0u; start < features; start += BLOCK) {
                let stop = min(start + BLOCK, features);
                var sum_a = vec4<f32>();
                var sum_h = vec4<f32>();
                for (var f = start; f < stop; f += 1u) {
                    let x = a[lane4 + f * lanes4];
                    let y = h[first_h + f * lanes4];
                    sum_a += x * x;
                    sum_h += y * y;
                }
                square_a += sum_a;
                square_h += sum_h;
            }
            value = square_a * select(square_h, square_g, row == channels);
        }
    }
    out[group.z * sweep_dense.out_batch + row * lanes4 + lane4] = value;
}
