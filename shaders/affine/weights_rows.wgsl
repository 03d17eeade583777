// Gradients of weights (shared/weights.wgsl), a tile of 4 FOURS rows × 16 columns a thread, in registers.

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(flat_index(group, groups, lane, THREADS), group.z, 4u * FOURS);
    if (!place.exists) {
        return;
    }
    //: each r of fours
    let m$r = rows_from(place.row + 4u * $ru);
    var total0_$r = mat4x4<f32>();
    var total1_$r = mat4x4<f32>();
    var total2_$r = mat4x4<f32>();
    var total3_$r = mat4x4<f32>();
    //: end
    //: each c of 0 1 2 3
    let d$c = columns_from(place.column + 4u * $cu);
    //: end
    for (var block = place.first; block < place.last; block += 1u) {
        let at = block_at(block);
        //: each r of fours
        var sum0_$r = mat4x4<f32>();
        var sum1_$r = mat4x4<f32>();
        var sum2_$r = mat4x4<f32>();
        var sum3_$r = mat4x4<f32>();
        //: end
        //: each t of 1 2
        if ($tu <= weights.terms) {
            var p = at.delta + group.z * weights.delta$t_batch;
            var q = at.source + group.z * weights.source$t_batch;
            for (var k = 0u; k < at.count; k += 1u) {
                //: each c of 0 1 2 3
                let a$c = mat4x4<f32>(
                    source$t[q + d$c.x], source$t[q + d$c.y], source$t[q + d$c.z], source$t[q + d$c.w],
                );
                //: end
                //: each r of fours
                {
                    let g = transpose(
                        mat4x4<f32>(delta$t[p + m$r.x], delta$t[p + m$r.y], delta$t[p + m$r.z], delta$t[p + m$r.w]),
                    );
                    sum0_$r += g * a0;
                    sum1_$r += g * a1;
                    sum2_$r += g * a2;
                    sum3_$r += g * a3;
                }
                //: end
                p += 1u;
                q += 1u;
            }
        }
        //: end
        //: each r of fours
        total0_$r += sum0_$r;
        total1_$r += sum1_$r;
        total2_$r += sum2_$r;
        total3_$r += sum3_$r;
        //: end
    }
    //: each r of fours
    {
        var columns = array<mat4x4<f32>, 4>(total0_$r, total1_$r, total2_$r, total3_$r);
        for (var i = 0u; i < 16u; i += 1u) {
            store4(place.part, place.row + 4u * $ru, place.column + i, columns[i / 4u][i % 4u]);
        }
    }
    //: end
}
