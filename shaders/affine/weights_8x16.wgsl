// Gradients of weights (shared/weights.wgsl), a tile of 8 rows × 16 columns a thread, in registers.

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(flat_index(group, groups, lane, 64u), group.z, 8u);
    if (!place.exists) {
        return;
    }
    let m0 = rows_from(place.row);
    let m1 = rows_from(place.row + 4u);
    let d0 = columns_from(place.column);
    let d1 = columns_from(place.column + 4u);
    let d2 = columns_from(place.column + 8u);
    let d3 = columns_from(place.column + 12u);
    var total00 = mat4x4<f32>();
    var total01 = mat4x4<f32>();
    var total02 = mat4x4<f32>();
    var total03 = mat4x4<f32>();
    var total10 = mat4x4<f32>();
    var total11 = mat4x4<f32>();
    var total12 = mat4x4<f32>();
    var total13 = mat4x4<f32>();
    for (var block = place.first; block < place.last; block += 1u) {
        let at = block_at(block);
        var sum00 = mat4x4<f32>();
        var sum01 = mat4x4<f32>();
        var sum02 = mat4x4<f32>();
        var sum03 = mat4x4<f32>();
        var sum10 = mat4x4<f32>();
        var sum11 = mat4x4<f32>();
        var sum12 = mat4x4<f32>();
        var sum13 = mat4x4<f32>();
        var p = at.delta + group.z * weights.delta1_batch;
        var q = at.source + group.z * weights.source1_batch;
        for (var k = 0u; k < at.count; k += 1u) {
            let g0 = transpose(
                mat4x4<f32>(delta1[p + m0.x], delta1[p + m0.y], delta1[p + m0.z], delta1[p + m0.w]),
            );
            let g1 = transpose(
                mat4x4<f32>(delta1[p + m1.x], delta1[p + m1.y], delta1[p + m1.z], delta1[p + m1.w]),
            );
            let a0 =
                mat4x4<f32>(source1[q + d0.x], source1[q + d0.y], source1[q + d0.z], source1[q + d0.w]);
            let a1 =
                mat4x4<f32>(source1[q + d1.x], source1[q + d1.y], source1[q + d1.z], source1[q + d1.w]);
            let a2 =
                mat4x4<f32>(source1[q + d2.x], source1[q + d2.y], source1[q + d2.z], source1[q + d2.w]);
            let a3 =
                mat4x4<f32>(source1[q + d3.x], source1[q + d3.y], source1[q + d3.z], source1[q + d3.w]);
            sum00 += g0 * a0;
            sum01 += g0 * a1;
            sum02 += g0 * a2;
            sum03 += g0 * a3;
            sum10 += g1 * a0;
            sum11 += g1 * a1;
            sum12 += g1 * a2;
            sum13 += g1 * a3;
            p += 1u;
            q += 1u;
        }
        if (weights.terms == 2u) {
            var p = at.delta + group.z * weights.delta2_batch;
            var q = at.source + group.z * weights.source2_batch;
            for (var k = 0u; k < at.count; k += 1u) {
                let g0 = transpose(
                    mat4x4<f32>(delta2[p + m0.x], delta2[p + m0.y], delta2[p + m0.z], delta2[p + m0.w]),
                );
                let g1 = transpose(
                    mat4x4<f32>(delta2[p + m1.x], delta2[p + m1.y], delta2[p + m1.z], delta2[p + m1.w]),
                );
                let a0 =
                    mat4x4<f32>(source2[q + d0.x], source2[q + d0.y], source2[q + d0.z], source2[q + d0.w]);
                let a1 =
                    mat4x4<f32>(source2[q + d1.x], source2[q + d1.y], source2[q + d1.z], source2[q + d1.w]);
                let a2 =
                    mat4x4<f32>(source2[q + d2.x], source2[q + d2.y], source2[q + d2.z], source2[q + d2.w]);
                let a3 =
                    mat4x4<f32>(source2[q + d3.x], source2[q + d3.y], source2[q + d3.z], source2[q + d3.w]);
                sum00 += g0 * a0;
                sum01 += g0 * a1;
                sum02 += g0 * a2;
                sum03 += g0 * a3;
                sum10 += g1 * a0;
                sum11 += g1 * a1;
                sum12 += g1 * a2;
                sum13 += g1 * a3;
                p += 1u;
                q += 1u;
            }
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
    var rows0 = array<vec4<f32>, 16>(total00[0], total00[1], total00[2], total00[3], total01[0], total01[1], total01[2], total01[3], total02[0], total02[1], total02[2], total02[3], total03[0], total03[1], total03[2], total03[3]);
    var rows1 = array<vec4<f32>, 16>(total10[0], total10[1], total10[2], total10[3], total11[0], total11[1], total11[2], total11[3], total12[0], total12[1], total12[2], total12[3], total13[0], total13[1], total13[2], total13[3]);
    for (var i = 0u; i < 16u; i += 1u) {
        store4(place.part, place.row, place.column + i, rows0[i]);
        store4(place.part, place.row + 4u, place.column + i, rows1[i]);
    }
}
