// Matrix product of shared/gemm.wgsl, a tile of 8 × 8 outputs a thread, in registers.
//
// No workgroup memory and no barriers: on software adapters a barrier costs more than the loads it saves.

fn outer(a: vec4<f32>, b: vec4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(a.x * b, a.y * b, a.z * b, a.w * b);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(group, groups, lane, 8u);
    if (!place.exists) {
        return;
    }
    let p0 = lines_of(gemm.a1, place.batch, place.row, gemm.m);
    let p1 = lines_of(gemm.a1, place.batch, place.row + 4u, gemm.m);
    let q0 = lines_of(gemm.b1, place.batch, place.column, gemm.n);
    let q1 = lines_of(gemm.b1, place.batch, place.column + 4u, gemm.n);
    let r0 = lines_of(gemm.a2, place.batch, place.row, gemm.m);
    let r1 = lines_of(gemm.a2, place.batch, place.row + 4u, gemm.m);
    let s0 = lines_of(gemm.b2, place.batch, place.column, gemm.n);
    let s1 = lines_of(gemm.b2, place.batch, place.column + 4u, gemm.n);

    var total00 = mat4x4<f32>();
    var total01 = mat4x4<f32>();
    var total10 = mat4x4<f32>();
    var total11 = mat4x4<f32>();
    for (var start = place.first; start < place.last; start += BLOCK) {
        let stop = min(start + BLOCK, place.last);
        var sum00 = mat4x4<f32>();
        var sum01 = mat4x4<f32>();
        var sum10 = mat4x4<f32>();
        var sum11 = mat4x4<f32>();
        for (var k = start; k < stop; k += 1u) {
            let i = k * gemm.a1.depth;
            let j = k * gemm.b1.depth;
            let x0 = vec4<f32>(a1[p0.x + i], a1[p0.y + i], a1[p0.z + i], a1[p0.w + i]);
            let x1 = vec4<f32>(a1[p1.x + i], a1[p1.y + i], a1[p1.z + i], a1[p1.w + i]);
            let y0 = vec4<f32>(b1[q0.x + j], b1[q0.y + j], b1[q0.z + j], b1[q0.w + j]);
            let y1 = vec4<f32>(b1[q1.x + j], b1[q1.y + j], b1[q1.z + j], b1[q1.w + j]);
            sum00 += outer(x0, y0);
            sum01 += outer(x0, y1);
            sum10 += outer(x1, y0);
            sum11 += outer(x1, y1);
        }
        if (gemm.terms == 2u) {
            for (var k = start; k < stop; k += 1u) {
                let i = k * gemm.a2.depth;
                let j = k * gemm.b2.depth;
                let x0 = vec4<f32>(a2[r0.x + i], a2[r0.y + i], a2[r0.z + i], a2[r0.w + i]);
                let x1 = vec4<f32>(a2[r1.x + i], a2[r1.y + i], a2[r1.z + i], a2[r1.w + i]);
                let y0 = vec4<f32>(b2[s0.x + j], b2[s0.y + j], b2[s0.z + j], b2[s0.w + j]);
                let y1 = vec4<f32>(b2[s1.x + j], b2[s1.y + j], b2[s1.z + j], b2[s1.w + j]);
                sum00 += outer(x0, y0);
                sum01 += outer(x0, y1);
                sum10 += outer(x1, y0);
                sum11 += outer(x1, y1);
            }
        }
        total00 += sum00;
        total01 += sum01;
        total10 += sum10;
        total11 += sum11;
    }
    // A loop, so that the epilogue is compiled once a row and not 16 times.
    var left = array<vec4<f32>, 8>(
        total00[0], total00[1], total00[2], total00[3], total10[0], total10[1], total10[2], total10[3],
    );
    var right = array<vec4<f32>, 8>(
        total01[0], total01[1], total01[2], total01[3], total11[0], total11[1], total11[2], total11[3],
    );
    for (var i = 0u; i < 8u; i += 1u) {
        store4(place, place.row + i, place.column, left[i]);
        store4(place, place.row + i, place.column + 4u, right[i]);
    }
}
