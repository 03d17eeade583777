// products[a · rows + b] = Σ_d W[a, d] W[b, d], W a panel (d, row) of forward weights. A thread a pair of rows.

struct RowProducts {
    rows: u32,
    rows4: u32,
    depth: u32,
    panel_offset: u32,
}

@group(0) @binding(0) var<uniform> row_products: RowProducts;
@group(0) @binding(1) var<storage, read> panel: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> products: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    let a = i / row_products.rows;
    let b = i % row_products.rows;
    if (a >= row_products.rows) {
        return;
    }
    var total = 0.0;
    for (var start = 0u; start < row_products.depth; start += 64u) {
        let stop = min(start + 64u, row_products.depth);
        var sum = 0.0;
        for (var d = start; d < stop; d += 1u) {
            let line = row_products.panel_offset + d * row_products.rows4;
            sum += panel[line + a / 4u][a % 4u] * panel[line + b / 4u][b % 4u];
        }
        total += sum;
    }
    products[i] = total;
}
