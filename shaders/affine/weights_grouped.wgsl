// Gradients of weights (shared/weights.wgsl) of a step whose channels are in groups: `group_rows` rows see the same `seen` channels. A
// thread a number of W and a slab.

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, THREADS);
    let size = weights.rows * weights.columns;
    let slab = index / size;
    if (slab >= weights.slabs) {
        return;
    }
    let row = index % size / weights.columns;
    let channel = row / weights.group_rows * weights.seen + index % weights.columns / weights.taps;
    let tap = index % weights.taps;
    let offset = tap / weights.window_width * weights.tap_row + tap % weights.window_width * weights.tap_column;
    let m = row * weights.lanes4;
    let d = (offset * weights.channels + channel) * weights.lanes4;
    let last = min((slab + 1u) * weights.span, weights.blocks);
    var total = vec4<f32>();
    for (var block = slab * weights.span; block < last; block += 1u) {
        let at = block_at(block);
        var sum = vec4<f32>();
        //: each t of 1 2
        if ($tu <= weights.terms) {
            let p = at.delta + group.z * weights.delta$t_batch + m;
            let q = at.source + group.z * weights.source$t_batch + d;
            for (var k = 0u; k < at.count; k += 1u) {
                sum += delta$t[p + k] * source$t[q + k];
            }
        }
        //: end
        total += sum;
    }
    let part = group.z * weights.slabs + slab;
    out[weights.out_offset + part * weights.out_batch + index % size] = (total.x + total.y) + (total.z + total.w);
}
