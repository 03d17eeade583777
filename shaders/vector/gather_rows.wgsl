// out[i] = x[rows[rows_offset + i / width] · width + i mod width], i < len: rows of x, chosen and put below each other.

struct GatherRows {
    len: u32,
    width: u32,
    rows_offset: u32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> gather_rows: GatherRows;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= gather_rows.len) {
        return;
    }
    let row = rows[gather_rows.rows_offset + i / gather_rows.width];
    out[i] = x[row * gather_rows.width + i % gather_rows.width];
}
