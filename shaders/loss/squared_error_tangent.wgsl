// z_dot becomes delta_dot = 2 z_dot / count, in place, 0 in the lanes beyond the samples. z_dot: (directions, outputs, lanes).
// z: direction.

struct SquaredErrorTangent {
    samples: u32,
    outputs: u32,
    lanes: u32,
    count: f32,
}

@group(0) @binding(0) var<uniform> squared_error_tangent: SquaredErrorTangent;
@group(0) @binding(1) var<storage, read_write> z_dot: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    let size = squared_error_tangent.outputs * squared_error_tangent.lanes;
    if (i >= size) {
        return;
    }
    let at = group.z * size + i;
    let is_sample = i % squared_error_tangent.lanes < squared_error_tangent.samples;
    z_dot[at] = select(0.0, 2.0 * z_dot[at] / squared_error_tangent.count, is_sample);
}
