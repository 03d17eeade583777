// Back through a max pool: out = φ' ⊙ the sum of delta over the windows that chose this value. A thread four inputs.

@group(0) @binding(1) var<storage, read> delta: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> chosen: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> kept: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;

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
            let at = after(y, x, place);
            let own = (place.y + pool.padding_y - y * pool.stride_y) * pool.window_width
                + place.x + pool.padding_x - x * pool.stride_x;
            let value = delta[group.z * pool.out_batch + at];
            sum += select(vec4<f32>(), value, chosen[at] == vec4<u32>(own));
        }
    }
    let at = before(place.y, place.x, place);
    out[group.z * pool.in_batch + at] = finish(sum, kept[at], pool.epilogue, pool.slope);
}
