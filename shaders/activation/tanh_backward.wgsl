// Backward through a = tanh z, q = Wᵀδ coming in: c = −2 a ⊙ q, kept for the second derivative, and delta = (1 − a²) ⊙ q, in
// q's place. size values.

struct TanhBackward {
    size: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> tanh_backward: TanhBackward;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> delta: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= tanh_backward.size) {
        return;
    }
    let q = delta[i];
    c[i] = -2.0 * a[i] * q;
    delta[i] = (1.0 - a[i]) * (1.0 + a[i]) * q;
}
