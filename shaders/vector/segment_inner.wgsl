// partials[z · tiles + t] = Σ a[i] x[z, i] over the indices i of tile t: first stage of inner products over segments.
// tile[t] = (first index, count ≤ 4096); a tile lies in one segment. A workgroup a tile; z: column.

struct SegmentInner {
    len: u32,
    x_offset: u32,
    tiles: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> segment_inner: SegmentInner;
@group(0) @binding(1) var<storage, read> tile: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> partials: array<vec2<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let t = flat_index(group, groups, 0u, 1u);
    if (t >= segment_inner.tiles) {
        return;
    }
    let first = tile[t].x;
    let last = first + tile[t].y;
    let column = segment_inner.x_offset + group.z * segment_inner.len;
    var sum = vec2<f32>();
    for (var i = first + lane; i < last; i += 64u) {
        sum = add_to(sum, a[i] * x[column + i], segment_inner.zero);
    }
    let total = tree_sum(lane, sum, segment_inner.zero);
    if (lane == 0u) {
        partials[group.z * segment_inner.tiles + t] = total;
    }
}
