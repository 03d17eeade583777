// delta_dot[z] += c ⊙ a_dot[z], the term of φ'' in the tangent's backward pass (φ'' ż = −2 a φ' ż = −2 a ȧ). z: direction, size
// values each.

struct TanhCurvature {
    size: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> tanh_curvature: TanhCurvature;
@group(0) @binding(1) var<storage, read> c: array<f32>;
@group(0) @binding(2) var<storage, read> a_dot: array<f32>;
@group(0) @binding(3) var<storage, read_write> delta_dot: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= tanh_curvature.size) {
        return;
    }
    let at = group.z * tanh_curvature.size + i;
    delta_dot[at] = delta_dot[at] + c[i] * a_dot[at];
}
