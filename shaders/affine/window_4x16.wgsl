// The first affine step where its runs are short (shared/gather.wgsl), a tile of 4 rows × 16 samples a thread. The source has
// its padding around it, so every window lies inside, and one loop goes over all taps: windows[y_windows + k] are the places of
// terms 4k … 4k + 3 within a window, x_windows how many such fours there are. Lines of a panel beyond the last term are 0.
// source_row and panel_row are the strides in rows and columns.

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let across = gather.lanes4 / 4u;
    let down = (gather.rows + 3u) / 4u;
    let position = index / across / down;
    if (position >= gather.positions) {
        return;
    }
    let row = index / across % down * 4u;
    let lane4 = index % across * 4u;
    let y = position / gather.out_width;
    let x = position % gather.out_width;
    let place = Place(
        row, lane4, vec4<u32>(), vec4<u32>(), gather.out_origin + y * gather.out_row + x, true,
    );
    let dw = gather.rows4;
    var w = gather.panel1_offset + group.z * gather.panel1_batch + row / 4u;
    let corner = (y * gather.source_row + x * gather.panel_row) * gather.lanes4 + lane4;
    var total0 = mat4x4<f32>();
    var total1 = mat4x4<f32>();
    var total2 = mat4x4<f32>();
    var total3 = mat4x4<f32>();
    for (var start = 0u; start < gather.x_windows; start += BLOCK / 4u) {
        let stop = min(start + BLOCK / 4u, gather.x_windows);
        var sum0 = mat4x4<f32>();
        var sum1 = mat4x4<f32>();
        var sum2 = mat4x4<f32>();
        var sum3 = mat4x4<f32>();
        for (var k = start; k < stop; k += 1u) {
            let s = windows[gather.y_windows + k] * gather.lanes4 + vec4<u32>(corner);
            let w0 = transpose(mat4x4<f32>(panel1[w], panel1[w + dw], panel1[w + 2u * dw], panel1[w + 3u * dw]));
            sum0 += mat4x4<f32>(source1[s.x], source1[s.y], source1[s.z], source1[s.w]) * w0;
            sum1 += mat4x4<f32>(source1[s.x + 1u], source1[s.y + 1u], source1[s.z + 1u], source1[s.w + 1u]) * w0;
            sum2 += mat4x4<f32>(source1[s.x + 2u], source1[s.y + 2u], source1[s.z + 2u], source1[s.w + 2u]) * w0;
            sum3 += mat4x4<f32>(source1[s.x + 3u], source1[s.y + 3u], source1[s.z + 3u], source1[s.w + 3u]) * w0;
            w += 4u * dw;
        }
        total0 += sum0;
        total1 += sum1;
        total2 += sum2;
        total3 += sum3;
    }
    let bias = bias_of(group.z, row);
    store(place, group.z, row, bias.x, total0[0], total1[0], total2[0], total3[0]);
    store(place, group.z, row + 1u, bias.y, total0[1], total1[1], total2[1], total3[1]);
    store(place, group.z, row + 2u, bias.z, total0[2], total1[2], total2[2], total3[2]);
    store(place, group.z, row + 3u, bias.w, total0[3], total1[3], total2[3], total3[3]);
    curve(place, group.z, 4u);
}
