// y[z] = beta y[z] + alpha d ⊙ x[z]; beta = 0 does not read y, which may hold a NaN. d: (len); x, y: (columns, len); z: column.

struct MultiplyAdd {
    len: u32,
    alpha: f32,
    beta: f32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> multiply_add: MultiplyAdd;
@group(0) @binding(1) var<storage, read> d: array<f32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= multiply_add.len) {
        return;
    }
    let at = group.z * multiply_add.len + i;
    var value = multiply_add.alpha * (d[i] * x[at]);
    if (multiply_add.beta != 0.0) {
        value += multiply_add.beta * y[at];
    }
    y[at] = value;
}
