// out[f, rows[i].y] = x[f, rows[i].x] for i < count: chosen samples of x (features, lanes), into the lanes of a batch.
// rows is read from rows_offset on.

struct GatherRows {
    features: u32,
    count: u32,
    rows_offset: u32,
    lanes: u32,
    out_lanes: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> gather_rows: GatherRows;
@group(0) @binding(1) var<storage, read> rows: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let feature = index / gather_rows.count;
    if (feature >= gather_rows.features) {
        return;
    }
    let row = rows[gather_rows.rows_offset + index % gather_rows.count];
    out[feature * gather_rows.out_lanes + row.y] = x[feature * gather_rows.lanes + row.x];
}
