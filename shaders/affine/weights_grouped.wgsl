// Gradients of weights (shared/weights.wgsl) of a step whose channels are in groups: `group_rows` rows see the same `seen` channels. A
// thread four columns, in W's order, in FOURS rows of a group, in a slab.

// Where a column begins within a window of the source.
fn line_of(column: u32, part: u32) -> u32 {
    let d = min(column, weights.columns - 1u);
    let tap = d % weights.taps;
    let position = tap / weights.window_width * weights.tap_row + tap % weights.window_width * weights.tap_column;
    return (position * weights.channels + part * weights.seen + d / weights.taps) * weights.lanes4;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let across = (weights.columns + 3u) / 4u;
    let down = (weights.group_rows + FOURS - 1u) / FOURS;
    let tiles = weights.rows / weights.group_rows * down * across;
    let slab = index / tiles;
    if (slab >= weights.slabs) {
        return;
    }
    let tile = index % tiles / across;
    let part = tile / down;
    let row = tile % down * FOURS;
    let column = index % across * 4u;
    let first = part * weights.group_rows;
    let last = min((slab + 1u) * weights.span, weights.blocks);
    //: each c of 0 1 2 3
    let d$c = line_of(column + $cu, part);
    //: end
    //: each r of fours
    let m$r = (first + min(row + $ru, weights.group_rows - 1u)) * weights.lanes4;
    //: each c of 0 1 2 3
    var total$r_$c = vec4<f32>();
    //: end
    //: end
    for (var block = slab * weights.span; block < last; block += 1u) {
        let at = block_at(block);
        //: each r of fours
        //: each c of 0 1 2 3
        var sum$r_$c = vec4<f32>();
        //: end
        //: end
        //: each t of 1 2
        if ($tu <= weights.terms) {
            let p = at.delta + group.z * weights.delta$t_batch;
            let q = at.source + group.z * weights.source$t_batch;
            for (var k = 0u; k < at.count; k += 1u) {
                //: each c of 0 1 2 3
                let a$c = source$t[q + d$c + k];
                //: end
                //: each r of fours
                {
                    let g = delta$t[p + m$r + k];
                    //: each c of 0 1 2 3
                    sum$r_$c += g * a$c;
                    //: end
                }
                //: end
            }
        }
        //: end
        //: each r of fours
        //: each c of 0 1 2 3
        total$r_$c += sum$r_$c;
        //: end
        //: end
    }
    let to = weights.out_offset + (group.z * weights.slabs + slab) * weights.out_batch + column;
    //: each r of fours
    if (row + $ru < weights.group_rows) {
        var totals = array<vec4<f32>, 4>(total$r_0, total$r_1, total$r_2, total$r_3);
        for (var c = 0u; c < 4u && column + c < weights.columns; c += 1u) {
            let total = totals[c];
            out[to + (first + row + $ru) * weights.columns + c] = (total.x + total.y) + (total.z + total.w);
        }
    }
    //: end
}
