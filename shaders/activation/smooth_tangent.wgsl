// Behind a smooth activation, z_dot in values: bend_dots = φ'' ⊙ q ⊙ z_dot, which the way back adds, and a_dot = φ' ⊙ z_dot in
// z_dot's place. slopes, bends: (size); values, bend_dots: (batch, size). z: batch.

struct SmoothTangent {
    size: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> smooth_tangent: SmoothTangent;
@group(0) @binding(1) var<storage, read> slopes: array<f32>;
@group(0) @binding(2) var<storage, read> bends: array<f32>;
@group(0) @binding(3) var<storage, read_write> values: array<f32>;
@group(0) @binding(4) var<storage, read_write> bend_dots: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= smooth_tangent.size) {
        return;
    }
    let at = group.z * smooth_tangent.size + i;
    let z_dot = values[at];
    bend_dots[at] = bends[i] * z_dot;
    values[at] = slopes[i] * z_dot;
}
