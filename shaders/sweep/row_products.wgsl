// products[a · group_rows + k] = Σ_d W[a, d] W[b, d] with b row k of those that are in a's group, W the weights of a panel. With its
// numbers in rows of `columns`, d = (tap, channel of `seen`), row_stride, tap_stride and channel_stride say where they are.
// A thread a pair of rows.

struct RowProducts {
    rows: u32,
    group_rows: u32,
    columns: u32,
    seen: u32,
    panel_offset: u32,
    row_stride: u32,
    tap_stride: u32,
    channel_stride: u32,
}

@group(0) @binding(0) var<uniform> row_products: RowProducts;
@group(0) @binding(1) var<storage, read> panel: array<f32>;
@group(0) @binding(2) var<storage, read_write> products: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    let a = i / row_products.group_rows;
    if (a >= row_products.rows) {
        return;
    }
    let b = a - a % row_products.group_rows + i % row_products.group_rows;
    let row_a = row_products.panel_offset + a * row_products.row_stride;
    let row_b = row_products.panel_offset + b * row_products.row_stride;
    var total = 0.0;
    for (var start = 0u; start < row_products.columns; start += 64u) {
        let stop = min(start + 64u, row_products.columns);
        var sum = 0.0;
        for (var d = start; d < stop; d += 1u) {
            let at = d / row_products.seen * row_products.tap_stride + d % row_products.seen * row_products.channel_stride;
            sum += panel[row_a + at] * panel[row_b + at];
        }
        total += sum;
    }
    products[i] = total;
}
