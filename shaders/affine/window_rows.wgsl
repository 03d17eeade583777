// The first affine step where its runs are short (shared/gather.wgsl), a tile of 4 FOURS rows × 16 samples a thread. The source
// has its padding around it, so every window lies inside, and one loop goes over all taps: windows[y_windows + k] are the places of
// terms 4k … 4k + 3 within a window, x_windows how many such fours there are. Lines of a panel beyond the last term are 0.
// source_row and panel_row are the strides in rows and columns.

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, THREADS);
    let across = gather.lanes4 / 4u;
    let down = (gather.rows + 4u * FOURS - 1u) / (4u * FOURS);
    let position = index / across / down;
    if (position >= gather.positions) {
        return;
    }
    let row = index / across % down * 4u * FOURS;
    let lane4 = index % across * 4u;
    let y = position / gather.out_width;
    let x = position % gather.out_width;
    let place = Place(
        row, lane4, vec4<u32>(), vec4<u32>(), gather.out_origin + y * gather.out_row + x, true,
    );
    let dw = gather.rows4;
    var w = gather.panel1_offset + group.z * gather.panel1_batch + row / 4u;
    let corner = (y * gather.source_row + x * gather.panel_row) * gather.lanes4 + lane4;
    //: each r of fours
    var total0_$r = mat4x4<f32>();
    var total1_$r = mat4x4<f32>();
    var total2_$r = mat4x4<f32>();
    var total3_$r = mat4x4<f32>();
    //: end
    for (var start = 0u; start < gather.x_windows; start += BLOCK / 4u) {
        let stop = min(start + BLOCK / 4u, gather.x_windows);
        //: each r of fours
        var sum0_$r = mat4x4<f32>();
        var sum1_$r = mat4x4<f32>();
        var sum2_$r = mat4x4<f32>();
        var sum3_$r = mat4x4<f32>();
        //: end
        for (var k = start; k < stop; k += 1u) {
            let s = windows[gather.y_windows + k] * gather.lanes4 + vec4<u32>(corner);
            //: each c of 0 1 2 3
            let s$c = mat4x4<f32>(source1[s.x + $cu], source1[s.y + $cu], source1[s.z + $cu], source1[s.w + $cu]);
            //: end
            //: each r of fours
            {
                let rows = transpose(mat4x4<f32>(
                    panel1[w + $ru], panel1[w + dw + $ru], panel1[w + 2u * dw + $ru], panel1[w + 3u * dw + $ru],
                ));
                sum0_$r += s0 * rows;
                sum1_$r += s1 * rows;
                sum2_$r += s2 * rows;
                sum3_$r += s3 * rows;
            }
            //: end
            w += 4u * dw;
        }
        //: each r of fours
        total0_$r += sum0_$r;
        total1_$r += sum1_$r;
        total2_$r += sum2_$r;
        total3_$r += sum3_$r;
        //: end
    }
    //: each r of fours
    {
        let four = row + 4u * $ru;
        let bias = bias_of(group.z, four);
        store(place, group.z, four, bias.x, total0_$r[0], total1_$r[0], total2_$r[0], total3_$r[0]);
        store(place, group.z, four + 1u, bias.y, total0_$r[1], total1_$r[1], total2_$r[1], total3_$r[1]);
        store(place, group.z, four + 2u, bias.z, total0_$r[2], total1_$r[2], total2_$r[2], total3_$r[2]);
        store(place, group.z, four + 3u, bias.w, total0_$r[3], total1_$r[3], total2_$r[3], total3_$r[3]);
    }
    //: end
    multiply_kept(place, group.z, 4u * FOURS);
}
