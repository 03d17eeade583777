// Gradients of weights (shared/weights.wgsl) of a step whose channels are in groups: `group_rows` rows see the same `seen` channels. A
// thread the same column in FOURS rows of a group, in a slab.

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let down = (weights.group_rows + FOURS - 1u) / FOURS;
    let size = weights.rows / weights.group_rows * down * weights.columns;
    let slab = index / size;
    if (slab >= weights.slabs) {
        return;
    }
    let tile = index % size / weights.columns;
    let column = index % weights.columns;
    let row = tile % down * FOURS;
    let first = tile / down * weights.group_rows;
    let channel = tile / down * weights.seen + column / weights.taps;
    let tap = column % weights.taps;
    let position = tap / weights.window_width * weights.tap_row + tap % weights.window_width * weights.tap_column;
    let d = (position * weights.channels + channel) * weights.lanes4;
    let last = min((slab + 1u) * weights.span, weights.blocks);
    //: each r of fours
    let m$r = (first + min(row + $ru, weights.group_rows - 1u)) * weights.lanes4;
    var total$r = vec4<f32>();
    //: end
    for (var block = slab * weights.span; block < last; block += 1u) {
        let at = block_at(block);
        //: each r of fours
        var sum$r = vec4<f32>();
        //: end
        //: each t of 1 2
        if ($tu <= weights.terms) {
            let p = at.delta + group.z * weights.delta$t_batch;
            let q = at.source + group.z * weights.source$t_batch + d;
            for (var k = 0u; k < at.count; k += 1u) {
                let value = source$t[q + k];
                //: each r of fours
                sum$r += delta$t[p + m$r + k] * value;
                //: end
            }
        }
        //: end
        //: each r of fours
        total$r += sum$r;
        //: end
    }
    let to = weights.out_offset + (group.z * weights.slabs + slab) * weights.out_batch + column;
    //: each r of fours
    if (row + $ru < weights.group_rows) {
        out[to + (first + row + $ru) * weights.columns] = (total$r.x + total$r.y) + (total$r.z + total$r.w);
    }
    //: end
}
