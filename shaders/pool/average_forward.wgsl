// out = φ(the mean of each window), or, as the pool is linear, its tangent: φ' ⊙ that mean. What is beyond the image is 0,
// and counts. A thread four outputs.

@group(0) @binding(1) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> kept: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let place = place_of(index, pool.out_width);
    if (place.y >= pool.out_height) {
        return;
    }
    let batch = group.z * pool.in_batch;
    let top = place.y * pool.stride_y;
    let left = place.x * pool.stride_x;
    let rows = inside(top, pool.window_height, pool.padding_y, pool.height);
    let columns = inside(left, pool.window_width, pool.padding_x, pool.width);
    var sum = vec4<f32>();
    for (var i = rows.x; i < rows.y; i += 1u) {
        var row = vec4<f32>();
        for (var j = columns.x; j < columns.y; j += 1u) {
            row += source[batch + before(top + i - pool.padding_y, left + j - pool.padding_x, place)];
        }
        sum += row;
    }
    let at = after(place.y, place.x, place);
    var factor = vec4<f32>();
    if (pool.epilogue >= 2u) {
        factor = kept[at];
    }
    let mean = sum / f32(pool.window_height * pool.window_width);
    out[group.z * pool.out_batch + at] = finish(mean, factor, pool.epilogue, pool.slope);
}
