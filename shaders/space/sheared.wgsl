// out[z, e] = κ_e x[z, e] + λ_e x[z, p(e)] for the rows of a table: a shear's Jacobian, or its transpose, times x, where it is not
// the identity; out is a copy of x elsewhere. x, out: (columns, len); z: column.

struct Sheared {
    count: u32,
    len: u32,
    unused_0: u32,
    unused_1: u32,
}

struct Row {
    place: u32,
    own: f32,
    other: f32,
    at: u32,
}

// No second term.
const NONE = 0xffffffffu;

@group(0) @binding(0) var<uniform> sheared: Sheared;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= sheared.count) {
        return;
    }
    let row = rows[i];
    let column = group.z * sheared.len;
    var value = row.own * x[column + row.place];
    if (row.at != NONE) {
        value = value + row.other * x[column + row.at];
    }
    out[column + row.place] = value;
}
