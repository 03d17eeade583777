// Gradients of weights (shared/weights.wgsl) for hardware: a tile of 4 ROWS4 rows × 4 COLUMNS4 columns a workgroup, 4 × 16 of it a
// thread.
//
// 16 samples at a time go through workgroup memory. A thread's rows lie ROWS4 apart, so that neighbours read neighbouring
// vectors.

const ROWS = 4u * ROWS4;
const COLUMNS = 4u * COLUMNS4;

// [four samples][row or column].
var<workgroup> delta_tile: array<vec4<f32>, 4u * ROWS>;
var<workgroup> source_tile: array<vec4<f32>, 4u * COLUMNS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, 0u, 1u);
    let across = (weights.columns + COLUMNS - 1u) / COLUMNS;
    let tiles = across * ((weights.rows + ROWS - 1u) / ROWS);
    let slab = index / tiles;
    if (slab >= weights.slabs) {
        return;
    }
    let first_row = index % tiles / across * ROWS;
    let first_column = index % tiles % across * COLUMNS;
    let first = slab * weights.span;
    let last = min(first + weights.span, weights.blocks);
    // What this thread brings in: vectors of four samples, of some rows and some columns.
    //: each i of row_loads
    let to_row$i = (lane + $iu * THREADS) % 4u * ROWS + (lane + $iu * THREADS) / 4u;
    let m$i = places_of_rows(vec4<u32>(first_row + to_row$i % ROWS)).x + to_row$i / ROWS;
    //: end
    //: each i of column_loads
    let to_column$i = (lane + $iu * THREADS) % 4u * COLUMNS + (lane + $iu * THREADS) / 4u;
    let d$i = places_of_columns(vec4<u32>(first_column + to_column$i % COLUMNS)).x + to_column$i / COLUMNS;
    //: end
    // Its part of the tile: rows ROWS4 apart, 16 columns in a row.
    let my_row = lane % ROWS4;
    let my_column = lane / ROWS4 * 16u;
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
                if (term == 1u) {
                    //: each i of row_loads
                    delta_tile[to_row$i] = delta2[p + k + m$i];
                    //: end
                    //: each i of column_loads
                    source_tile[to_column$i] = source2[q + k + d$i];
                    //: end
                } else {
                    //: each i of row_loads
                    delta_tile[to_row$i] = delta1[p + k + m$i];
                    //: end
                    //: each i of column_loads
                    source_tile[to_column$i] = source1[q + k + d$i];
                    //: end
                }
                workgroupBarrier();
                for (var i = 0u; i < 4u; i += 1u) {
                    let r = i * ROWS + my_row;
                    let c = i * COLUMNS + my_column;
                    let g = transpose(mat4x4<f32>(
                        delta_tile[r], delta_tile[r + ROWS4], delta_tile[r + 2u * ROWS4], delta_tile[r + 3u * ROWS4],
                    ));
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
            store(part, first_row + my_row + ROWS4 * i, column, sums[j][i]);
        }
    }
}
