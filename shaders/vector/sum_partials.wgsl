// out[out_offset + s + z · segments] = Σ partials[z · tiles + t] over the tiles t of segment s: second stage of inner products
// over segments. runs[s] = (first tile, count). A workgroup a segment; z: column.

struct SumPartials {
    segments: u32,
    tiles: u32,
    out_offset: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> sum_partials: SumPartials;
@group(0) @binding(1) var<storage, read> runs: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> partials: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let s = flat_index(group, groups, 0u, 1u);
    if (s >= sum_partials.segments) {
        return;
    }
    let first = runs[s].x;
    let last = first + runs[s].y;
    var sum = vec2<f32>();
    for (var t = first + lane; t < last; t += 64u) {
        sum = add_pairs(sum, partials[group.z * sum_partials.tiles + t], sum_partials.zero);
    }
    let total = tree_sum(lane, sum, sum_partials.zero);
    if (lane == 0u) {
        let at = sum_partials.out_offset + s + group.z * sum_partials.segments;
        out[at] = total.x + total.y;
    }
}
