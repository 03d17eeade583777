// What a cotangent leaves at a convolution, sample by sample, from the samples' own gradients G[z, m, d, n] (count4 vectors of
// four samples, from first4 on). Rows of out[z, row, n], with C channels coming in, D columns and M rows of W, of
// which a row sees `seen` channels, and `group_rows` rows see the same:
//
//   c < C                         (Σ over the m that see c, and its taps d, of W G)², the share of ρ(c)
//   C + d, C + D + d, C + 2D + d  Σ_m G², Gᵀ (W Wᵀ) G and Σ_m W² G² of column d: shares of ‖G‖², ‖Wᵀ G‖² and ‖W ⊙ G‖²
//   C + 3D + m                    (Σ over positions of g_m)², for the bias
//
// products = W Wᵀ of the rows in a group. Where W's numbers lie is as in sweep/row_products.wgsl. A thread four samples of a row. z: cotangent, from first_z on.

struct SweepWindow {
    channels: u32,
    columns: u32,
    rows: u32,
    seen: u32,
    group_rows: u32,
    panel_offset: u32,
    lanes4: u32,
    first4: u32,
    count4: u32,
    out_height: u32,
    out_width: u32,
    delta_row: u32,
    delta_origin: u32,
    delta_batch: u32,
    out_batch: u32,
    first_z: u32,
    row_stride: u32,
    tap_stride: u32,
    channel_stride: u32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> sweep_window: SweepWindow;
@group(0) @binding(1) var<storage, read> gradient: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> g: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> panel: array<f32>;
@group(0) @binding(4) var<storage, read> products: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4<f32>>;

fn weight(m: u32, d: u32) -> f32 {
    let seen = sweep_window.seen;
    let at = d / seen * sweep_window.tap_stride + d % seen * sweep_window.channel_stride;
    return panel[sweep_window.panel_offset + m * sweep_window.row_stride + at];
}

fn gradient_at(z: u32, m: u32, d: u32, lane4: u32) -> vec4<f32> {
    return gradient[((z * sweep_window.rows + m) * sweep_window.columns + d) * sweep_window.count4 + lane4];
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let count4 = sweep_window.count4;
    let channels = sweep_window.channels;
    let columns = sweep_window.columns;
    let rows = sweep_window.rows;
    let lane4 = index % count4;
    let row = index / count4;
    if (row >= channels + 3u * columns + rows) {
        return;
    }
    let z = group.z;
    var value = vec4<f32>();
    if (row < channels) {
        let seen = sweep_window.seen;
        let first = row / seen * sweep_window.group_rows;
        for (var d = row % seen; d < columns; d += seen) {
            var sum = vec4<f32>();
            for (var m = first; m < first + sweep_window.group_rows; m += 1u) {
                sum += weight(m, d) * gradient_at(z, m, d, lane4);
            }
            value += sum;
        }
        value = value * value;
    } else if (row < channels + columns) {
        let d = row - channels;
        for (var m = 0u; m < rows; m += 1u) {
            let x = gradient_at(z, m, d, lane4);
            value += x * x;
        }
    } else if (row < channels + 2u * columns) {
        let d = row - channels - columns;
        for (var m = 0u; m < rows; m += 1u) {
            var sum = vec4<f32>();
            let first = m - m % sweep_window.group_rows;
            for (var k = 0u; k < sweep_window.group_rows; k += 1u) {
                sum += products[m * sweep_window.group_rows + k] * gradient_at(z, first + k, d, lane4);
            }
            value += sum * gradient_at(z, m, d, lane4);
        }
    } else if (row < channels + 3u * columns) {
        let d = row - channels - 2u * columns;
        for (var m = 0u; m < rows; m += 1u) {
            let x = weight(m, d) * gradient_at(z, m, d, lane4);
            value += x * x;
        }
    } else {
        let m = row - channels - 3u * columns;
        let base = (z + sweep_window.first_z) * sweep_window.delta_batch + sweep_window.first4 + lane4;
        for (var y = 0u; y < sweep_window.out_height; y += 1u) {
            var sum = vec4<f32>();
            for (var x = 0u; x < sweep_window.out_width; x += 1u) {
                let position = sweep_window.delta_origin + y * sweep_window.delta_row + x;
                sum += g[base + (position * rows + m) * sweep_window.lanes4];
            }
            value += sum;
        }
        value = value * value;
    }
    let at = (z + sweep_window.first_z) * sweep_window.out_batch + row * sweep_window.lanes4;
    out[at + sweep_window.first4 + lane4] = value;
}
