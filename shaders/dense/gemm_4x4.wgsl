// Matrix product of shared/gemm.wgsl, a tile of 4 × 4 outputs a thread: for outputs that 8 × 8 tiles fit badly.

fn outer(a: vec4<f32>, b: vec4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(a.x * b, a.y * b, a.z * b, a.w * b);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(group, groups, lane, 4u);
    if (!place.exists) {
        return;
    }
    let p = lines_of(gemm.a1, place.batch, place.row, gemm.m);
    let q = lines_of(gemm.b1, place.batch, place.column, gemm.n);
    let r = lines_of(gemm.a2, place.batch, place.row, gemm.m);
    let s = lines_of(gemm.b2, place.batch, place.column, gemm.n);

    var total = mat4x4<f32>();
    for (var start = place.first; start < place.last; start += BLOCK) {
        let stop = min(start + BLOCK, place.last);
        var sum = mat4x4<f32>();
        for (var k = start; k < stop; k += 1u) {
            let i = k * gemm.a1.depth;
            let j = k * gemm.b1.depth;
            let x = vec4<f32>(a1[p.x + i], a1[p.y + i], a1[p.z + i], a1[p.w + i]);
            let y = vec4<f32>(b1[q.x + j], b1[q.y + j], b1[q.z + j], b1[q.w + j]);
            sum += outer(x, y);
        }
        if (gemm.terms == 2u) {
            for (var k = start; k < stop; k += 1u) {
                let i = k * gemm.a2.depth;
                let j = k * gemm.b2.depth;
                let x = vec4<f32>(a2[r.x + i], a2[r.y + i], a2[r.z + i], a2[r.w + i]);
                let y = vec4<f32>(b2[s.x + j], b2[s.y + j], b2[s.z + j], b2[s.w + j]);
                sum += outer(x, y);
            }
        }
        total += sum;
    }
    var rows = array<vec4<f32>, 4>(total[0], total[1], total[2], total[3]);
    for (var i = 0u; i < 4u; i += 1u) {
        store4(place, place.row + i, place.column, rows[i]);
    }
}
