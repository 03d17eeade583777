// Back through a max pool without padding whose windows do not overlap: the chosen value of each gets φ' ⊙ delta, the others 0. φ' is piecewise
// and read off the pool's own result, which has the sign of what it chose: one load instead of one a value. Values between
// windows are not written: nothing else writes there either, so they are 0. A thread four outputs.

@group(0) @binding(1) var<storage, read> delta: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> chosen: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> result: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;

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
    let at = after(place.y, place.x, place);
    let value = finish(delta[group.z * pool.out_batch + at], result[at], pool.epilogue, pool.slope);
    let best = chosen[at];
    var own = vec4<u32>();
    for (var i = 0u; i < pool.window_height; i += 1u) {
        var to = before(place.y * pool.stride_y + i, place.x * pool.stride_x, place);
        for (var j = 0u; j < pool.window_width; j += 1u) {
            out[group.z * pool.in_batch + to] = select(vec4<f32>(), value, best == own);
            own += vec4<u32>(1u);
            to += pool.channels * pool.lanes4;
        }
    }
}
