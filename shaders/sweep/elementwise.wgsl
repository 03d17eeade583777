// out = x ⊙ x (is_square = 1) or φ' ⊙ x with φ' read off kept, by four numbers. x, out: (batch, size); kept: (size). z: batch.

struct Elementwise {
    size: u32,
    is_square: u32,
    epilogue: u32,
    slope: f32,
}

@group(0) @binding(0) var<uniform> elementwise: Elementwise;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> kept: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= elementwise.size) {
        return;
    }
    let at = group.z * elementwise.size + i;
    let value = x[at];
    if (elementwise.is_square == 1u) {
        out[at] = value * value;
        return;
    }
    var factor = vec4<f32>();
    if (elementwise.epilogue >= 2u) {
        factor = kept[i];
    }
    out[at] = finish(value, factor, elementwise.epilogue, elementwise.slope);
}
