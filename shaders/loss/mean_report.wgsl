// out[out_offset + z] = Σ_n report[z · rows + n] / rows: mean loss (z even) and share of hits (z odd) of point z / 2. A workgroup
// a z.

struct MeanReport {
    rows: u32,
    out_offset: u32,
    zero: u32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> mean_report: MeanReport;
@group(0) @binding(1) var<storage, read> report: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let rows = mean_report.rows;
    let base = group.z * rows;
    var sum = vec2<f32>();
    for (var n = lane; n < rows; n += 64u) {
        sum = add_to(sum, report[base + n], mean_report.zero);
    }
    let total = tree_sum(lane, sum, mean_report.zero);
    if (lane == 0u) {
        out[mean_report.out_offset + group.z] = (total.x + total.y) / f32(rows);
    }
}
