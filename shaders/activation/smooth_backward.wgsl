// Back to a smooth activation, what was pulled back to it in delta: q. It joins φ'' in bends, and delta = φ' ⊙ q. size values.

struct SmoothBackward {
    size: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> smooth_backward: SmoothBackward;
@group(0) @binding(1) var<storage, read> slopes: array<f32>;
@group(0) @binding(2) var<storage, read_write> bends: array<f32>;
@group(0) @binding(3) var<storage, read_write> delta: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= smooth_backward.size) {
        return;
    }
    let q = delta[i];
    bends[i] = bends[i] * q;
    delta[i] = slopes[i] * q;
}
