// a = φ(z) in the place of z, for an image with zeros around it, which stay; and where they are kept φ' (keeps ≥ 1) and φ''
// (keeps = 2), which have one copy for all of the batch. z: batch, batch_stride vectors of four apart.

struct Smooth {
    function: u32,
    keeps: u32,
    size: u32,
    channels: u32,
    width: u32,
    row: u32,
    origin: u32,
    lanes4: u32,
    batch_stride: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> smooth_step: Smooth;
@group(0) @binding(1) var<storage, read_write> values: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> slopes: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> bends: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= smooth_step.size) {
        return;
    }
    let feature = i / smooth_step.lanes4;
    let position = feature / smooth_step.channels;
    let y = position / smooth_step.width;
    let pixel = smooth_step.origin + y * smooth_step.row + position % smooth_step.width;
    let at = (pixel * smooth_step.channels + feature % smooth_step.channels) * smooth_step.lanes4 + i % smooth_step.lanes4;
    let to = group.z * smooth_step.batch_stride + at;
    let before = values[to];
    var after = before;
    var slope = before;
    var bend = before;
    for (var k = 0u; k < 4u; k += 1u) {
        let jet = smooth_jet(before[k], smooth_step.function);
        after[k] = jet.x;
        slope[k] = jet.y;
        bend[k] = jet.z;
    }
    values[to] = after;
    if (smooth_step.keeps >= 1u) {
        slopes[at] = slope;
    }
    if (smooth_step.keeps == 2u) {
        bends[at] = bend;
    }
}
