// First stage of a norm. For each tile t of x, partials[2t] = Σ (2^k x[i])² as a pair (shared/tree.wgsl) and partials[2t + 1].x = k, where
// 2^k takes the tile's largest number to about 1: no square overflows, and none that counts is lost. tile[t] = (first index,
// count ≤ 4096). A workgroup a tile.

struct Squares {
    tiles: u32,
    zero: u32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> squares: Squares;
@group(0) @binding(1) var<storage, read> tile: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> partials: array<vec2<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let t = flat_index(group, groups, 0u, 1u);
    if (t >= squares.tiles) {
        return;
    }
    let first = tile[t].x;
    let last = first + tile[t].y;
    var exponent = 0u;
    for (var i = first + lane; i < last; i += 64u) {
        exponent = max(exponent, exponent_of(x[i]));
    }
    let k = scaling_exponent(tree_max(lane, exponent));
    let scale = exact_power_of_two(k);
    var sum = vec2<f32>();
    for (var i = first + lane; i < last; i += 64u) {
        let value = scale * x[i];
        sum = add_to(sum, value * value, squares.zero);
    }
    let total = tree_sum(lane, sum, squares.zero);
    if (lane == 0u) {
        partials[2u * t] = total;
        partials[2u * t + 1u] = vec2<f32>(f32(k), 0.0);
    }
}
