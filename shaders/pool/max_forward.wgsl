// out = φ(the largest of each window); chosen = which one it is, counted row by row, the first of equals. What is beyond the image is
// never chosen. A thread four outputs.

@group(0) @binding(1) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> chosen: array<vec4<u32>>;

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
    // Rows and columns of the image, once the window's are added.
    let y = top - pool.padding_y;
    let x = left - pool.padding_x;
    var largest = source[batch + before(y + rows.x, x + columns.x, place)];
    var best = vec4<u32>(rows.x * pool.window_width + columns.x);
    for (var i = rows.x; i < rows.y; i += 1u) {
        for (var j = columns.x; j < columns.y; j += 1u) {
            let value = source[batch + before(y + i, x + j, place)];
            let is_larger = value > largest;
            largest = select(largest, value, is_larger);
            best = select(best, vec4<u32>(i * pool.window_width + j), is_larger);
        }
    }
    let at = after(place.y, place.x, place);
    chosen[group.z * pool.chosen_batch + at] = best;
    out[group.z * pool.out_batch + at] = finish(largest, vec4<f32>(), pool.epilogue, pool.slope);
}
