// Affine steps and their transposes (shared/gather.wgsl), a tile of 4 FOURS rows × 16 samples a thread, in registers.
//
// No workgroup memory and no barriers: on software adapters a barrier costs more than the loads it saves. Four terms of a sum
// go together as a product of 4 × 4 matrices, as a loop's turn costs as much as several additions there.

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(flat_index(group, groups, lane, THREADS), 4u * FOURS);
    if (!place.exists) {
        return;
    }
    let dw = gather.rows4;
    let ds = gather.lanes4;
    let run = run_of(place);
    let runs = runs_of(place);
    //: each r of fours
    var total0_$r = mat4x4<f32>();
    var total1_$r = mat4x4<f32>();
    var total2_$r = mat4x4<f32>();
    var total3_$r = mat4x4<f32>();
    //: end
    //: each t of 1 2
    for (var part = 0u; part < place.y.z * runs && $tu <= gather.terms; part += 1u) {
        let tap = part / runs;
        let column = part % runs;
        var w = gather.panel$t_offset + group.z * gather.panel$t_batch + place.row / 4u
            + ((place.y.y + tap) * gather.panel_row + place.x.y + column) * gather.channels * dw;
        var s = group.z * gather.source$t_batch + place.lane4
            + ((place.y.x + tap * place.y.w) * gather.source_row + place.x.x + column * place.x.w) * gather.channels * ds;
        for (var start = 0u; start < run; start += BLOCK) {
            let stop = min(start + BLOCK, run);
            //: each r of fours
            var sum0_$r = mat4x4<f32>();
            var sum1_$r = mat4x4<f32>();
            var sum2_$r = mat4x4<f32>();
            var sum3_$r = mat4x4<f32>();
            //: end
            var k = start;
            for (; k + 4u <= stop; k += 4u) {
                //: each c of 0 1 2 3
                let s$c = mat4x4<f32>(
                    source$t[s + $cu], source$t[s + ds + $cu], source$t[s + 2u * ds + $cu], source$t[s + 3u * ds + $cu],
                );
                //: end
                //: each r of fours
                {
                    let rows = transpose(mat4x4<f32>(
                        panel$t[w + $ru], panel$t[w + dw + $ru], panel$t[w + 2u * dw + $ru], panel$t[w + 3u * dw + $ru],
                    ));
                    sum0_$r += s0 * rows;
                    sum1_$r += s1 * rows;
                    sum2_$r += s2 * rows;
                    sum3_$r += s3 * rows;
                }
                //: end
                w += 4u * dw;
                s += 4u * ds;
            }
            for (; k < stop; k += 1u) {
                //: each c of 0 1 2 3
                let s$c = source$t[s + $cu];
                //: end
                //: each r of fours
                {
                    let rows = panel$t[w + $ru];
                    sum0_$r += outer(rows, s0);
                    sum1_$r += outer(rows, s1);
                    sum2_$r += outer(rows, s2);
                    sum3_$r += outer(rows, s3);
                }
                //: end
                w += dw;
                s += ds;
            }
            //: each r of fours
            total0_$r += sum0_$r;
            total1_$r += sum1_$r;
            total2_$r += sum2_$r;
            total3_$r += sum3_$r;
            //: end
        }
    }
    //: end
    //: each r of fours
    {
        let row = place.row + 4u * $ru;
        let bias = bias_of(group.z, row);
        store(place, group.z, row, bias.x, total0_$r[0], total1_$r[0], total2_$r[0], total3_$r[0]);
        store(place, group.z, row + 1u, bias.y, total0_$r[1], total1_$r[1], total2_$r[1], total3_$r[1]);
        store(place, group.z, row + 2u, bias.z, total0_$r[2], total1_$r[2], total2_$r[2], total3_$r[2]);
        store(place, group.z, row + 3u, bias.w, total0_$r[3], total1_$r[3], total2_$r[3], total3_$r[3]);
    }
    //: end
    multiply_kept(place, group.z, 4u * FOURS);
}
