// The tangent of a max pool: out = φ' ⊙ the chosen ones of source. A thread four outputs.

@group(0) @binding(1) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> chosen: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> kept: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;

fn value_of(place: Place, batch: u32, chosen: u32, component: u32) -> f32 {
    let y = place.y * pool.stride_y + chosen / pool.window_width - pool.padding_y;
    let x = place.x * pool.stride_x + chosen % pool.window_width - pool.padding_x;
    return source[batch + before(y, x, place)][component];
}

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
    let at = after(place.y, place.x, place);
    let best = chosen[at];
    let value = vec4<f32>(
        value_of(place, batch, best.x, 0u),
        value_of(place, batch, best.y, 1u),
        value_of(place, batch, best.z, 2u),
        value_of(place, batch, best.w, 3u),
    );
    out[group.z * pool.out_batch + at] = finish(value, kept[at], pool.epilogue, pool.slope);
}
