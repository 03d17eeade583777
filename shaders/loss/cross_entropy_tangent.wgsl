// z_dot becomes delta_dot = (diag p − p pᵀ) z_dot / count, in place. p: (classes, lanes); z_dot: (directions, classes, lanes).
// A thread a sample, z: direction. Where p is 0 (the lanes beyond the samples), so is delta_dot.

struct CrossEntropyTangent {
    lanes: u32,
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
    let lanes = cross_entropy_tangent.lanes;
    if (n >= lanes) {
        return;
    }
    let classes = cross_entropy_tangent.classes;
    let at = group.z * classes * lanes + n;
    // (diag p − p pᵀ) 1 = 0, so z_dot may be taken relative to the likeliest class: no cancellation where its p is near 1.
    var best = 0u;
    for (var j = 1u; j < classes; j += 1u) {
        if (p[n + j * lanes] > p[n + best * lanes]) {
            best = j;
        }
    }
    let reference = z_dot[at + best * lanes];
    var mean = 0.0;
    for (var j = 0u; j < classes; j += 1u) {
        mean += p[n + j * lanes] * (z_dot[at + j * lanes] - reference);
    }
    for (var j = 0u; j < classes; j += 1u) {
        let value = (z_dot[at + j * lanes] - reference) - mean;
        z_dot[at + j * lanes] = p[n + j * lanes] * value / cross_entropy_tangent.count;
    }
}
