// out[z, e] = κ_e x[z, e] + λ_e x[z, p(e)]: a shear's Jacobian, or its transpose, times x. x, out: (columns, len); z: column.

struct Sheared {
    len: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

struct Row {
    own: f32,
    other: f32,
    place: u32,
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
    let e = flat_index(group, groups, lane, 64u);
    if (e >= sheared.len) {
        return;
    }
    let row = rows[e];
    let column = group.z * sheared.len;
    var value = row.own * x[column + e];
    if (row.place != NONE) {
        value = value + row.other * x[column + row.place];
    }
    out[column + e] = value;
}
