// Matrix product of shared/gemm.wgsl, one output a thread: for outputs too small to be cut into tiles.

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(group, groups, lane, 1u);
    if (!place.exists) {
        return;
    }
    let p = lines_of(gemm.a1, place.batch, place.row, gemm.m).x;
    let q = lines_of(gemm.b1, place.batch, place.column, gemm.n).x;
    let r = lines_of(gemm.a2, place.batch, place.row, gemm.m).x;
    let s = lines_of(gemm.b2, place.batch, place.column, gemm.n).x;

    var total = 0.0;
    for (var start = place.first; start < place.last; start += BLOCK) {
        let stop = min(start + BLOCK, place.last);
        var sum = 0.0;
        for (var k = start; k < stop; k += 1u) {
            sum += a1[p + k * gemm.a1.depth] * b1[q + k * gemm.b1.depth];
        }
        if (gemm.terms == 2u) {
            for (var k = start; k < stop; k += 1u) {
                sum += a2[r + k * gemm.a2.depth] * b2[s + k * gemm.b2.depth];
            }
        }
        total += sum;
    }
    store(place, place.row, place.column, total);
}
