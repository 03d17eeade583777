// Lines of one image in another's places: out[to] = finish(x[from]), to which y[with] is added first if addend = 1, or what is there already
// if it is 2. A line is a value of every sample; that of channel c at row i and column j is number first + c channel + i row + j column of
// each of them. Channels outside first … first + count are 0: those of x begin there. A thread four samples of a value. z: direction or
// point.

struct Place {
    channels: u32,
    first: u32,
    count: u32,
    width: u32,
    size: u32,
    lanes4: u32,
    from_first: u32,
    from_channel: u32,
    from_row: u32,
    from_column: u32,
    to_first: u32,
    to_channel: u32,
    to_row: u32,
    to_column: u32,
    with_first: u32,
    with_row: u32,
    from_batch: u32,
    with_batch: u32,
    to_batch: u32,
    addend: u32,
    epilogue: u32,
    slope: f32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> place: Place;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> y: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> kept: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    if (index >= place.size) {
        return;
    }
    let lane4 = index % place.lanes4;
    let feature = index / place.lanes4;
    let channel = feature % place.channels;
    let row = feature / place.channels / place.width;
    let column = feature / place.channels % place.width;
    let to = place.to_first + channel * place.to_channel + row * place.to_row + column * place.to_column;
    let at = to * place.lanes4 + lane4;
    var value = vec4<f32>();
    // Below the first one this is a very large number.
    let own = channel - place.first;
    if (own < place.count) {
        let line = place.from_first + own * place.from_channel + row * place.from_row + column * place.from_column;
        value = x[group.z * place.from_batch + line * place.lanes4 + lane4];
    }
    if (place.addend == 1u) {
        let line = place.with_first + channel * place.from_channel + row * place.with_row + column * place.from_column;
        value += y[group.z * place.with_batch + line * place.lanes4 + lane4];
    } else if (place.addend == 2u) {
        value += out[group.z * place.to_batch + at];
    }
    var factor = vec4<f32>();
    if (place.epilogue >= 2u) {
        factor = kept[at];
    }
    out[group.z * place.to_batch + at] = finish(value, factor, place.epilogue, place.slope);
}
