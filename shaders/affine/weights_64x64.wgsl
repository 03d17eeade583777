// Gradients of weights (shared/weights.wgsl) for hardware: a tile of 64 rows × 64 columns a workgroup, 4 × 16 of it a thread.
//
// 16 samples at a time go through workgroup memory. A thread's rows lie 16 apart, so that neighbours read neighbouring
// vectors.

const SIDE = 64u;

// [four samples][row or column].
var<workgroup> delta_tile: array<vec4<f32>, 256>;
var<workgroup> source_tile: array<vec4<f32>, 256>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, 0u, 1u);
    let across = (weights.columns + SIDE - 1u) / SIDE;
    let tiles = across * ((weights.rows + SIDE - 1u) / SIDE);
    let slab = index / tiles;
    if (slab >= weights.slabs) {
        return;
    }
    let first_row = index % tiles / across * SIDE;
    let first_column = index % tiles % across * SIDE;
    let first = slab * weights.span;
    let last = min(first + weights.span, weights.blocks);
    // What this thread brings in: one vector of four samples, of four rows and four columns.
    let brings = lane % 4u;
    let brings_side = lane / 4u + vec4<u32>(0u, 16u, 32u, 48u);
    let m = places_of_rows(first_row + brings_side) + brings;
    let d = places_of_columns(first_column + brings_side) + brings;
    let to = brings * SIDE + brings_side;
    // Its part of the tile: rows 16 apart, 16 columns in a row.
    let my_row = lane % 16u;
    let my_column = lane / 16u * 16u;
    var total0 = mat4x4<f32>();
    var total1 = mat4x4<f32>();
    var total2 = mat4x4<f32>();
    var total3 = mat4x4<f32>();
    for (var block = first; block < last; block += 1u) {
        let at = block_at(block);
        var sum0 = mat4x4<f32>();
        var sum1 = mat4x4<f32>();
        var sum2 = mat4x4<f32>();
        var sum3 = mat4x4<f32>();
        for (var term = 0u; term < weights.terms; term += 1u) {
            let p = at.delta + group.z * select(weights.delta1_batch, weights.delta2_batch, term == 1u);
            let q = at.source + group.z * select(weights.source1_batch, weights.source2_batch, term == 1u);
            for (var k = 0u; k < at.count; k += 4u) {
                for (var i = 0u; i < 4u; i += 1u) {
                    if (term == 1u) {
                        delta_tile[to[i]] = delta2[p + k + m[i]];
                        source_tile[to[i]] = source2[q + k + d[i]];
                    } else {
                        delta_tile[to[i]] = delta1[p + k + m[i]];
                        source_tile[to[i]] = source1[q + k + d[i]];
                    }
                }
                workgroupBarrier();
                for (var i = 0u; i < 4u; i += 1u) {
                    let r = i * SIDE + my_row;
                    let c = i * SIDE + my_column;
                    let g = transpose(
                        mat4x4<f32>(delta_tile[r], delta_tile[r + 16u], delta_tile[r + 32u], delta_tile[r + 48u]),
                    );
                    let a0 =
                        mat4x4<f32>(source_tile[c], source_tile[c + 1u], source_tile[c + 2u], source_tile[c + 3u]);
                    let a1 =
                        mat4x4<f32>(source_tile[c + 4u], source_tile[c + 5u], source_tile[c + 6u], source_tile[c + 7u]);
                    let a2 =
                        mat4x4<f32>(source_tile[c + 8u], source_tile[c + 9u], source_tile[c + 10u], source_tile[c + 11u]);
                    let a3 =
                        mat4x4<f32>(source_tile[c + 12u], source_tile[c + 13u], source_tile[c + 14u], source_tile[c + 15u]);
                    sum0 += g * a0;
                    sum1 += g * a1;
                    sum2 += g * a2;
                    sum3 += g * a3;
                }
                workgroupBarrier();
            }
        }
        total0 += sum0;
        total1 += sum1;
        total2 += sum2;
        total3 += sum3;
    }
    let part = group.z * weights.slabs + slab;
    var sums = array<vec4<f32>, 16>(total0[0], total0[1], total0[2], total0[3], total1[0], total1[1], total1[2], total1[3], total2[0], total2[1], total2[2], total2[3], total3[0], total3[1], total3[2], total3[3]);
    for (var j = 0u; j < 16u; j += 1u) {
        let column = first_column + my_column + j;
        for (var i = 0u; i < 4u; i += 1u) {
            store(part, first_row + my_row + 16u * i, column, sums[j][i]);
        }
    }
}
