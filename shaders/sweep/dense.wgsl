// What a cotangent leaves at a dense layer, sample by sample, where G = g aᵀ; h = Wᵀg, spread = (W ⊙ W)(a ⊙ a). Rows of
// out[z, row, n], with U units coming in and M rows of W:
//
//   u < U                 (Σ over the values of unit u of a h)², the share of ρ(u)
//   U, U + 1, U + 2       ‖g‖² ‖a‖² = ‖G‖², ‖a‖² ‖h‖² = ‖Wᵀ G‖², Σ g² spread = ‖W ⊙ G‖²
//   U + 3 + m             g_m², for the bias
//
// A unit is a channel, or a single value in the order in which they lie (U = channels · positions). What comes in is an image that may
// have zeros around it: `width` positions in a row, the next row `row` positions further. A thread four samples of a row. z: cotangent.

struct SweepDense {
    units: u32,
    channels: u32,
    positions: u32,
    rows: u32,
    lanes4: u32,
    width: u32,
    row: u32,
    origin: u32,
    in_batch: u32,
    out_batch: u32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> sweep_dense: SweepDense;
@group(0) @binding(1) var<storage, read> g: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> h: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> spread: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4<f32>>;

// Blocks, for the reason given in shared/gather.wgsl.
const BLOCK = 64u;

// Where position q of the image that comes in lies.
fn position(q: u32) -> u32 {
    return sweep_dense.origin + q / sweep_dense.width * sweep_dense.row + q % sweep_dense.width;
}

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
    let units = sweep_dense.units;
    if (row >= units + 3u + sweep_dense.rows) {
        return;
    }
    let first_g = group.z * sweep_dense.rows * lanes4 + lane4;
    let first_h = group.z * sweep_dense.in_batch + lane4;
    var value = vec4<f32>();
    if (row < units) {
        let first = row / channels;
        for (var q = first; q < first + sweep_dense.positions * channels / units; q += 1u) {
            let at = (position(q) * channels + row % channels) * lanes4;
            value += a[lane4 + at] * h[first_h + at];
        }
        value = value * value;
    } else if (row >= units + 3u) {
        value = g[first_g + (row - units - 3u) * lanes4];
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
                if (row == units + 2u) {
                    factor = spread[lane4 + m * lanes4];
                }
                sum_g += x * x * factor;
            }
            square_g += sum_g;
        }
        value = square_g;
        if (row < units + 2u) {
            // ‖a‖², and ‖h‖² in the place of ‖g‖².
            var square_a = vec4<f32>();
            var square_h = vec4<f32>();
            // A row of the image lies in one run.
            let run = sweep_dense.width * channels;
            for (var q = 0u; q < sweep_dense.positions; q += sweep_dense.width) {
                let line = position(q) * channels;
                for (var start = 0u; start < run; start += BLOCK) {
                    let stop = min(start + BLOCK, run);
                    var sum_a = vec4<f32>();
                    var sum_h = vec4<f32>();
                    for (var f = line + start; f < line + stop; f += 1u) {
                        let x = a[lane4 + f * lanes4];
                        let y = h[first_h + f * lanes4];
                        sum_a += x * x;
                        sum_h += y * y;
                    }
                    square_a += sum_a;
                    square_h += sum_h;
                }
            }
            value = square_a * select(square_h, square_g, row == units);
        }
    }
    out[group.z * sweep_dense.out_batch + row * lanes4 + lane4] = value;
}
