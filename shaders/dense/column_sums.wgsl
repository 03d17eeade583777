// out[out_offset + z · out_batch + j] = Σ_i x[b, i, j] over the rows i of slab s, z = b · slabs + s: the gradient of a bias.
// x: (batch, rows, width), row-major.

struct ColumnSums {
    rows: u32,
    width: u32,
    slabs: u32,
    span: u32,
    out_offset: u32,
    out_batch: u32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> column_sums: ColumnSums;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let j = flat_index(group, groups, lane, 64u);
    if (j >= column_sums.width) {
        return;
    }
    let batch = group.z / column_sums.slabs;
    let first = group.z % column_sums.slabs * column_sums.span;
    let last = min(first + column_sums.span, column_sums.rows);
    let base = batch * column_sums.rows * column_sums.width + j;
    // Blocks, for the reason given in shared/gemm.wgsl.
    var total = 0.0;
    for (var start = first; start < last; start += 64u) {
        let stop = min(start + 64u, last);
        var sum = 0.0;
        for (var i = start; i < stop; i += 1u) {
            sum += x[base + i * column_sums.width];
        }
        total += sum;
    }
    out[column_sums.out_offset + group.z * column_sums.out_batch + j] = total;
}
