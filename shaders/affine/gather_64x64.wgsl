// Affine steps and their transposes (shared/gather.wgsl) for hardware: a tile of 64 rows × 64 samples at one position a
// workgroup, 4 × 16 of it a thread.
//
// 16 terms of the sum at a time go through workgroup memory, where each number that comes in is read by 16 or by 4 threads.
// Beyond the end of a run, of the rows and of the samples the tiles are filled with zeros, which add nothing.

// Terms in the tiles.
const DEPTH = 16u;
// Vectors of four, rows or samples, of a term.
const SIDE4 = 16u;

var<workgroup> panel_tile: array<vec4<f32>, 256>;
var<workgroup> source_tile: array<vec4<f32>, 256>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, 0u, 1u);
    let across = (gather.lanes4 + SIDE4 - 1u) / SIDE4;
    let down = (gather.rows + 4u * SIDE4 - 1u) / (4u * SIDE4);
    let first_row4 = index / across % down * SIDE4;
    let first_lane4 = index % across * SIDE4;
    // This thread's part of the tile: 4 rows, 16 samples.
    let my_row4 = lane % SIDE4;
    let my_lane4 = lane / SIDE4 * 4u;
    let place = place_at(index / across / down, 4u * (first_row4 + my_row4), first_lane4 + my_lane4);
    if (!place.exists) {
        return;
    }
    // What it brings in: one vector of rows and one of samples, of every fourth term.
    let brings = lane % SIDE4;
    let brings_term = lane / SIDE4;
    let has_row = first_row4 + brings < gather.rows4;
    let has_lane = first_lane4 + brings < gather.lanes4;
    let run = run_of(place);
    let runs = runs_of(place);
    let parts = place.y.z * runs;
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
        let w = panel_offset + group.z * panel_batch + first_row4 + brings
            + ((place.y.y + tap) * gather.panel_row + place.x.y + column) * gather.channels * gather.rows4;
        let s = group.z * source_batch + first_lane4 + brings
            + ((place.y.x + tap * place.y.w) * gather.source_row + place.x.x + column * place.x.w) * gather.channels * gather.lanes4;
        for (var start = 0u; start < run; start += BLOCK) {
            let stop = min(start + BLOCK, run);
            var sum0 = mat4x4<f32>();
            var sum1 = mat4x4<f32>();
            var sum2 = mat4x4<f32>();
            var sum3 = mat4x4<f32>();
            for (var k = start; k < stop; k += DEPTH) {
                for (var i = brings_term; i < DEPTH; i += 4u) {
                    var from_panel = vec4<f32>();
                    var from_source = vec4<f32>();
                    if (k + i < stop) {
                        let at_panel = w + (k + i) * gather.rows4;
                        let at_source = s + (k + i) * gather.lanes4;
                        if (term == 1u) {
                            if (has_row) { from_panel = panel2[at_panel]; }
                            if (has_lane) { from_source = source2[at_source]; }
                        } else {
                            if (has_row) { from_panel = panel1[at_panel]; }
                            if (has_lane) { from_source = source1[at_source]; }
                        }
                    }
                    panel_tile[i * SIDE4 + brings] = from_panel;
                    source_tile[i * SIDE4 + brings] = from_source;
                }
                workgroupBarrier();
                for (var i = 0u; i < DEPTH; i += 4u) {
                    let p = i * SIDE4 + my_row4;
                    let q = i * SIDE4 + my_lane4;
                    let w0 = transpose(
                        mat4x4<f32>(panel_tile[p], panel_tile[p + 16u], panel_tile[p + 32u], panel_tile[p + 48u]),
                    );
                    let s0 =
                        mat4x4<f32>(source_tile[q], source_tile[q + 16u], source_tile[q + 32u], source_tile[q + 48u]);
                    let s1 =
                        mat4x4<f32>(source_tile[q + 1u], source_tile[q + 17u], source_tile[q + 33u], source_tile[q + 49u]);
                    let s2 =
                        mat4x4<f32>(source_tile[q + 2u], source_tile[q + 18u], source_tile[q + 34u], source_tile[q + 50u]);
                    let s3 =
                        mat4x4<f32>(source_tile[q + 3u], source_tile[q + 19u], source_tile[q + 35u], source_tile[q + 51u]);
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
