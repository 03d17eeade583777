// z_dot becomes delta_dot = (diag p − p pᵀ) z_dot / count, in place. p: (rows, classes); z_dot: (directions, rows, classes).
// A thread a row, z: direction.

struct CrossEntropyTangent {
    rows: u32,
    classes: u32,
    count: f32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> cross_entropy_tangent: CrossEntropyTangent;
@group(0) @binding(1) var<storage, read> p: array<f32>;
@group(0) @binding(2) var<storage, read_write> z_dot: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let n = flat_index(group, groups, lane, 64u);
    if (n >= cross_entropy_tangent.rows) {
        return;
    }
    let classes = cross_entropy_tangent.classes;
    let base = n * classes;
    let at = (group.z * cross_entropy_tangent.rows + n) * classes;
    // (diag p − p pᵀ) 1 = 0, so z_dot may be taken relative to the likeliest class: no cancellation where its p is near 1.
    var best = 0u;
    for (var j = 1u; j < classes; j += 1u) {
        if (p[base + j] > p[base + best]) {
            best = j;
        }
    }
    let reference = z_dot[at + best];
    var mean = 0.0;
    for (var j = 0u; j < classes; j += 1u) {
        mean += p[base + j] * (z_dot[at + j] - reference);
    }
    for (var j = 0u; j < classes; j += 1u) {
        z_dot[at + j] = p[base + j] * ((z_dot[at + j] - reference) - mean) / cross_entropy_tangent.count;
    }
}
