// y[z] *= alpha. y: (columns, len); z: column.

struct Scale {
    len: u32,
    alpha: f32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> scale: Scale;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= scale.len) {
        return;
    }
    let at = group.z * scale.len + i;
    y[at] = scale.alpha * y[at];
}
