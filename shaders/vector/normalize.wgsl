// q[q_offset + i] = x[i] / ‖x‖₂, 0 where the norm is 0. x: (len); square[0] = ‖2^k x‖₂² as a pair (shared/tree.wgsl),
// square[1].x = k.

struct Normalize {
    len: u32,
    q_offset: u32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> normalize: Normalize;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> square: array<vec2<f32>>;
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
    var value = 0.0;
    // Neither `> 0` nor `!= 0`, which are false for NaN: it shall stay one.
    if (!(square[0].x == 0.0)) {
        let scaled = exact_power_of_two(i32(square[1].x)) * x[i];
        // All values would share the rounding of 1/‖x‖, and ‖q‖ would show it: a correctly rounded quotient for each.
        let inverse = inverse_root(square[0]);
        let ratio = scaled * inverse.x;
        value = ratio + (product_error(scaled, inverse.x, ratio) + ratio * inverse.y);
    }
    q[normalize.q_offset + i] = value;
}
