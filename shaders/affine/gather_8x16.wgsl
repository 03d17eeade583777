// Affine steps and their transposes (shared/gather.wgsl), a tile of 8 rows × 16 samples a thread, in registers.
//
// No workgroup memory and no barriers: on software adapters a barrier costs more than the loads it saves. Four terms of a sum
// go together as a product of 4 × 4 matrices, as a loop's turn costs as much as several additions there.

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(flat_index(group, groups, lane, 64u), 8u);
    if (!place.exists) {
        return;
    }
    let dw = gather.rows4;
    let ds = gather.lanes4;
    let run = place.x.z * gather.channels;
    var total00 = mat4x4<f32>();
    var total01 = mat4x4<f32>();
    var total02 = mat4x4<f32>();
    var total03 = mat4x4<f32>();
    var total10 = mat4x4<f32>();
    var total11 = mat4x4<f32>();
    var total12 = mat4x4<f32>();
    var total13 = mat4x4<f32>();
    for (var tap = 0u; tap < place.y.z; tap += 1u) {
        var w = gather.panel1_offset + group.z * gather.panel1_batch + place.row / 4u
            + ((place.y.y + tap) * gather.panel_row + place.x.y) * gather.channels * dw;
        var s = group.z * gather.source1_batch + place.lane4
            + ((place.y.x + tap) * gather.source_row + place.x.x) * gather.channels * ds;
        for (var start = 0u; start < run; start += BLOCK) {
            let stop = min(start + BLOCK, run);
            var sum00 = mat4x4<f32>();
            var sum01 = mat4x4<f32>();
            var sum02 = mat4x4<f32>();
            var sum03 = mat4x4<f32>();
            var sum10 = mat4x4<f32>();
            var sum11 = mat4x4<f32>();
            var sum12 = mat4x4<f32>();
            var sum13 = mat4x4<f32>();
            var k = start;
            for (; k + 4u <= stop; k += 4u) {
                let w0 = transpose(
                    mat4x4<f32>(panel1[w], panel1[w + dw], panel1[w + 2u * dw], panel1[w + 3u * dw]),
                );
                let w1 = transpose(
                    mat4x4<f32>(panel1[w + 1u], panel1[w + dw + 1u], panel1[w + 2u * dw + 1u], panel1[w + 3u * dw + 1u]),
                );
                let s0 =
                    mat4x4<f32>(source1[s], source1[s + ds], source1[s + 2u * ds], source1[s + 3u * ds]);
                let s1 =
                    mat4x4<f32>(source1[s + 1u], source1[s + ds + 1u], source1[s + 2u * ds + 1u], source1[s + 3u * ds + 1u]);
                let s2 =
                    mat4x4<f32>(source1[s + 2u], source1[s + ds + 2u], source1[s + 2u * ds + 2u], source1[s + 3u * ds + 2u]);
                let s3 =
                    mat4x4<f32>(source1[s + 3u], source1[s + ds + 3u], source1[s + 2u * ds + 3u], source1[s + 3u * ds + 3u]);
                sum00 += s0 * w0;
                sum01 += s1 * w0;
                sum02 += s2 * w0;
                sum03 += s3 * w0;
                sum10 += s0 * w1;
                sum11 += s1 * w1;
                sum12 += s2 * w1;
                sum13 += s3 * w1;
                w += 4u * dw;
                s += 4u * ds;
            }
            for (; k < stop; k += 1u) {
                let w0 = panel1[w];
                let w1 = panel1[w + 1u];
                let s0 = source1[s];
                sum00 += outer(w0, s0);
                sum10 += outer(w1, s0);
                let s1 = source1[s + 1u];
                sum01 += outer(w0, s1);
                sum11 += outer(w1, s1);
                let s2 = source1[s + 2u];
                sum02 += outer(w0, s2);
                sum12 += outer(w1, s2);
                let s3 = source1[s + 3u];
                sum03 += outer(w0, s3);
                sum13 += outer(w1, s3);
                w += dw;
                s += ds;
            }
            total00 += sum00;
            total01 += sum01;
            total02 += sum02;
            total03 += sum03;
            total10 += sum10;
            total11 += sum11;
            total12 += sum12;
            total13 += sum13;
        }
    }
    if (gather.terms == 2u) {
        for (var tap = 0u; tap < place.y.z; tap += 1u) {
            var w = gather.panel2_offset + group.z * gather.panel2_batch + place.row / 4u
                + ((place.y.y + tap) * gather.panel_row + place.x.y) * gather.channels * dw;
            var s = group.z * gather.source2_batch + place.lane4
                + ((place.y.x + tap) * gather.source_row + place.x.x) * gather.channels * ds;
            for (var start = 0u; start < run; start += BLOCK) {
                let stop = min(start + BLOCK, run);
                var sum00 = mat4x4<f32>();
                var sum01 = mat4x4<f32>();
                var sum02 = mat4x4<f32>();
                var sum03 = mat4x4<f32>();
                var sum10 = mat4x4<f32>();
                var sum11 = mat4x4<f32>();
                var sum12 = mat4x4<f32>();
                var sum13 = mat4x4<f32>();
                var k = start;
                for (; k + 4u <= stop; k += 4u) {
                    let w0 = transpose(
                        mat4x4<f32>(panel2[w], panel2[w + dw], panel2[w + 2u * dw], panel2[w + 3u * dw]),
                    );
                    let w1 = transpose(
                        mat4x4<f32>(panel2[w + 1u], panel2[w + dw + 1u], panel2[w + 2u * dw + 1u], panel2[w + 3u * dw + 1u]),
                    );
                    let s0 =
                        mat4x4<f32>(source2[s], source2[s + ds], source2[s + 2u * ds], source2[s + 3u * ds]);
                    let s1 =
                        mat4x4<f32>(source2[s + 1u], source2[s + ds + 1u], source2[s + 2u * ds + 1u], source2[s + 3u * ds + 1u]);
                    let s2 =
                        mat4x4<f32>(source2[s + 2u], source2[s + ds + 2u], source2[s + 2u * ds + 2u], source2[s + 3u * ds + 2u]);
                    let s3 =
                        mat4x4<f32>(source2[s + 3u], source2[s + ds + 3u], source2[s + 2u * ds + 3u], source2[s + 3u * ds + 3u]);
                    sum00 += s0 * w0;
                    sum01 += s1 * w0;
                    sum02 += s2 * w0;
                    sum03 += s3 * w0;
                    sum10 += s0 * w1;
                    sum11 += s1 * w1;
                    sum12 += s2 * w1;
                    sum13 += s3 * w1;
                    w += 4u * dw;
                    s += 4u * ds;
                }
                for (; k < stop; k += 1u) {
                    let w0 = panel2[w];
                    let w1 = panel2[w + 1u];
                    let s0 = source2[s];
                    sum00 += outer(w0, s0);
                    sum10 += outer(w1, s0);
                    let s1 = source2[s + 1u];
                    sum01 += outer(w0, s1);
                    sum11 += outer(w1, s1);
                    let s2 = source2[s + 2u];
                    sum02 += outer(w0, s2);
                    sum12 += outer(w1, s2);
                    let s3 = source2[s + 3u];
                    sum03 += outer(w0, s3);
                    sum13 += outer(w1, s3);
                    w += dw;
                    s += ds;
                }
                total00 += sum00;
                total01 += sum01;
                total02 += sum02;
                total03 += sum03;
                total10 += sum10;
                total11 += sum11;
                total12 += sum12;
                total13 += sum13;
            }
        }
    }
    let bias0 = bias_of(group.z, place.row);
    store(place, group.z, place.row, bias0.x, total00[0], total01[0], total02[0], total03[0]);
    store(place, group.z, place.row + 1u, bias0.y, total00[1], total01[1], total02[1], total03[1]);
    store(place, group.z, place.row + 2u, bias0.z, total00[2], total01[2], total02[2], total03[2]);
    store(place, group.z, place.row + 3u, bias0.w, total00[3], total01[3], total02[3], total03[3]);
    let bias1 = bias_of(group.z, place.row + 4u);
    store(place, group.z, place.row + 4u, bias1.x, total10[0], total11[0], total12[0], total13[0]);
    store(place, group.z, place.row + 5u, bias1.y, total10[1], total11[1], total12[1], total13[1]);
    store(place, group.z, place.row + 6u, bias1.z, total10[2], total11[2], total12[2], total13[2]);
    store(place, group.z, place.row + 7u, bias1.w, total10[3], total11[3], total12[3], total13[3]);
    curve(place, group.z, 8u);
}
