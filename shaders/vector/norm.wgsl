// Second stage of a norm: out[index] = ‖x‖₂ from the partials of vector/squares, which begins with ‖2^k x‖₂² as a pair and k after
// that, for vector/normalize. One workgroup.

struct Norm {
    tiles: u32,
    index: u32,
    zero: u32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> norm: Norm;
@group(0) @binding(1) var<storage, read_write> partials: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    // The least k belongs to the tile of the largest number. 127 − k is a number above 0, as tree_max wants it.
    var largest = 0u;
    for (var t = lane; t < norm.tiles; t += 64u) {
        largest = max(largest, u32(127 - i32(partials[2u * t + 1u].x)));
    }
    let k = 127 - i32(tree_max(lane, largest));
    var sum = vec2<f32>();
    for (var t = lane; t < norm.tiles; t += 64u) {
        // A tile that is smaller by more than 2^63 does not count, so the power may stop there.
        let scale = exact_power_of_two(max(2 * (k - i32(partials[2u * t + 1u].x)), -126));
        sum = add_pairs(sum, scale * partials[2u * t], norm.zero);
    }
    let total = tree_sum(lane, sum, norm.zero);
    if (lane == 0u) {
        out[norm.index] = root_of(total) * exact_power_of_two(-k);
        partials[0] = total;
        partials[1] = vec2<f32>(f32(k), 0.0);
    }
}
