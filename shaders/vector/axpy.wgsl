// y[z] += alpha x[z], with x_column = 0 for an x of one column. y: (columns, len); z: column.

struct Axpy {
    len: u32,
    x_column: u32,
    alpha: f32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> axpy: Axpy;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= axpy.len) {
        return;
    }
    let at = group.z * axpy.len + i;
    y[at] = y[at] + axpy.alpha * x[group.z * axpy.x_column + i];
}
