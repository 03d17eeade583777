// Affine steps and their transposes (shared/gather.wgsl) for hardware: a tile of 4 ROWS4 rows × 4 COLUMNS4 samples at one
// position a workgroup, 4 × 16 of it a thread.
//
// 16 terms of the sum at a time go through workgroup memory, where each number that comes in is read by several threads.
// Beyond the end of a run, of the rows and of the samples the tiles are filled with zeros, which add nothing.

// Terms in the tiles.
const DEPTH = 16u;

var<workgroup> panel_tile: array<vec4<f32>, DEPTH * ROWS4>;
var<workgroup> source_tile: array<vec4<f32>, DEPTH * COLUMNS4>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, 0u, 1u);
    let across = (gather.lanes4 + COLUMNS4 - 1u) / COLUMNS4;
    let down = (gather.rows + 4u * ROWS4 - 1u) / (4u * ROWS4);
    let first_row4 = index / across % down * ROWS4;
    let first_lane4 = index % across * COLUMNS4;
    // This thread's part of the tile: 4 rows, 16 samples.
    let my_row4 = lane % ROWS4;
    let my_lane4 = lane / ROWS4 * 4u;
    // The same for all threads of a workgroup, as barriers want it.
    let position = index / across / down;
    let here = place_at(position, 0u, 0u);
    if (!here.exists) {
        return;
    }
    let run = run_of(here);
    let runs = runs_of(here);
    let parts = here.y.z * runs;
    var total0 = mat4x4<f32>();
    var total1 = mat4x4<f32>();
    var total2 = mat4x4<f32>();
    var total3 = mat4x4<f32>();
    for (var part = 0u; part < gather.terms * parts; part += 1u) {
        let term = part / parts;
        let tap = part % parts / runs;
        let column = part % runs;
        let panel_batch = select(gather.panel1_batch, gather.panel2_batch, term == 1u);
        let panel_offset = select(gather.panel1_offset, gather.panel2_offset, term == 1u);
        let source_batch = select(gather.source1_batch, gather.source2_batch, term == 1u);
        let w = panel_offset + group.z * panel_batch + first_row4
            + ((here.y.y + tap) * gather.panel_row + here.x.y + column) * gather.channels * gather.rows4;
        let s = group.z * source_batch + first_lane4
            + ((here.y.x + tap * here.y.w) * gather.source_row + here.x.x + column * here.x.w) * gather.channels * gather.lanes4;
        for (var start = 0u; start < run; start += BLOCK) {
            let stop = min(start + BLOCK, run);
            var sum0 = mat4x4<f32>();
            var sum1 = mat4x4<f32>();
            var sum2 = mat4x4<f32>();
            var sum3 = mat4x4<f32>();
            for (var k = start; k < stop; k += DEPTH) {
                for (var i = lane; i < DEPTH * ROWS4; i += THREADS) {
                    let row4 = i % ROWS4;
                    let at = w + (k + i / ROWS4) * gather.rows4 + row4;
                    var value = vec4<f32>();
                    if (k + i / ROWS4 < stop && first_row4 + row4 < gather.rows4) {
                        if (term == 1u) { value = panel2[at]; } else { value = panel1[at]; }
                    }
                    panel_tile[i] = value;
                }
                for (var i = lane; i < DEPTH * COLUMNS4; i += THREADS) {
                    let lane4 = i % COLUMNS4;
                    let at = s + (k + i / COLUMNS4) * gather.lanes4 + lane4;
                    var value = vec4<f32>();
                    if (k + i / COLUMNS4 < stop && first_lane4 + lane4 < gather.lanes4) {
                        if (term == 1u) { value = source2[at]; } else { value = source1[at]; }
                    }
                    source_tile[i] = value;
                }
                workgroupBarrier();
                for (var i = 0u; i < DEPTH; i += 4u) {
                    let p = i * ROWS4 + my_row4;
                    let q = i * COLUMNS4 + my_lane4;
                    let w0 = transpose(mat4x4<f32>(
                        panel_tile[p], panel_tile[p + ROWS4], panel_tile[p + 2u * ROWS4], panel_tile[p + 3u * ROWS4],
                    ));
                    //: each c of 0 1 2 3
                    let s$c = mat4x4<f32>(
                        source_tile[q + $cu],
                        source_tile[q + COLUMNS4 + $cu],
                        source_tile[q + 2u * COLUMNS4 + $cu],
                        source_tile[q + 3u * COLUMNS4 + $cu],
                    );
                    //: end
                    sum0 += s0 * w0;
                    sum1 += s1 * w0;
                    sum2 += s2 * w0;
                    sum3 += s3 * w0;
                }
                workgroupBarrier();
            }
            total0 += sum0;
            total1 += sum1;
            total2 += sum2;
            total3 += sum3;
        }
    }
    let place = place_at(position, 4u * (first_row4 + my_row4), first_lane4 + my_lane4);
    if (place.lane4 >= gather.lanes4 || place.row >= gather.rows) {
        return;
    }
    let bias = bias_of(group.z, place.row);
    store(place, group.z, place.row, bias.x, total0[0], total1[0], total2[0], total3[0]);
    store(place, group.z, place.row + 1u, bias.y, total0[1], total1[1], total2[1], total3[1]);
    store(place, group.z, place.row + 2u, bias.z, total0[2], total1[2], total2[2], total3[2]);
    store(place, group.z, place.row + 3u, bias.w, total0[3], total1[3], total2[3], total3[3]);
    multiply_kept(place, group.z, 4u);
}
