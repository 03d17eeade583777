// W of a parameter vector as the panel that affine/gather_* read: panel[z, t, r], rows r padded to 8 with zeros; z: column.
//
// Forward t = (tap, input channel) and r is an output channel; after the last t come zeros up to `lines`, then the bias. Backward (is_backward = 1)
// t = (tap, output channel), r is an input channel, and along each axis the taps are sorted by their residue modulo the
// period (the stride, without what it has in common with the dilation), descending within a residue: those that reach one input position
// meet ascending output positions.

struct Pack {
    rows: u32,
    rows4: u32,
    depth: u32,
    lines: u32,
    inputs: u32,
    outputs: u32,
    window_height: u32,
    window_width: u32,
    period_y: u32,
    period_x: u32,
    is_backward: u32,
    has_bias: u32,
    weight_offset: u32,
    bias_offset: u32,
    source_batch: u32,
    out_offset: u32,
    out_batch: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> pack: Pack;
@group(0) @binding(1) var<storage, read> parameters: array<f32>;
@group(0) @binding(2) var<storage, read_write> panel: array<vec4<f32>>;

// The tap in this place of the sorted ones.
fn sorted_tap(place: u32, size: u32, period: u32) -> u32 {
    var residue = 0u;
    var rest = place;
    var count = (size + period - 1u) / period;
    while (rest >= count) {
        rest -= count;
        residue += 1u;
        count = (size - residue + period - 1u) / period;
    }
    return residue + (count - 1u - rest) * period;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    let t = i / pack.rows4;
    let r = i % pack.rows4 * 4u;
    if (t > pack.lines || (t == pack.lines && pack.is_backward == 1u)) {
        return;
    }
    let area = pack.window_height * pack.window_width;
    let source = group.z * pack.source_batch;
    var base = source + pack.weight_offset;
    var step = 0u;
    if (t == pack.lines) {
        base = source + pack.bias_offset;
        step = 1u;
    } else if (pack.is_backward == 1u) {
        let place = t / pack.outputs;
        let y = sorted_tap(place / pack.window_width, pack.window_height, pack.period_y);
        let x = sorted_tap(place % pack.window_width, pack.window_width, pack.period_x);
        base += t % pack.outputs * pack.inputs * area + y * pack.window_width + x;
        step = area;
    } else {
        base += t % pack.inputs * area + t / pack.inputs;
        step = pack.inputs * area;
    }
    var value = vec4<f32>();
    if (t < pack.depth || (t == pack.lines && pack.has_bias == 1u)) {
        for (var j = 0u; j < 4u; j += 1u) {
            if (r + j < pack.rows) {
                value[j] = parameters[base + (r + j) * step];
            }
        }
    }
    panel[pack.out_offset + group.z * pack.out_batch + i] = value;
}
