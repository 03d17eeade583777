// q[q_offset + i] = x[i] / norms[index], 0 where the norm is 0. x: (len).

struct Normalize {
    len: u32,
    q_offset: u32,
    index: u32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> normalize: Normalize;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> norms: array<f32>;
@group(0) @binding(3) var<storage, read_write> q: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= normalize.len) {
        return;
    }
    let norm = norms[normalize.index];
    var value = 0.0;
    // Not `norm > 0`: a NaN shall stay one.
    if (norm != 0.0) {
        value = x[i] / norm;
    }
    q[normalize.q_offset + i] = value;
}
