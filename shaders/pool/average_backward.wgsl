// Back through an average pool: out = φ' ⊙ the sum of delta over the windows that contain this value, over their size.
// A thread four inputs.

@group(0) @binding(1) var<storage, read> delta: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> kept: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let place = place_of(index, pool.width);
    if (place.y >= pool.height) {
        return;
    }
    let rows = windows_over(place.y + pool.padding_y, pool.window_height, pool.stride_y, pool.out_height);
    let columns = windows_over(place.x + pool.padding_x, pool.window_width, pool.stride_x, pool.out_width);
    var sum = vec4<f32>();
    for (var y = rows.x; y < rows.y; y += 1u) {
        for (var x = columns.x; x < columns.y; x += 1u) {
            sum += delta[group.z * pool.out_batch + after(y, x, place)];
        }
    }
    let at = before(place.y, place.x, place);
    var factor = vec4<f32>();
    if (pool.epilogue >= 2u) {
        factor = kept[at];
    }
    let share = sum / f32(pool.window_height * pool.window_width);
    out[group.z * pool.in_batch + at] = finish(share, factor, pool.epilogue, pool.slope);
}
