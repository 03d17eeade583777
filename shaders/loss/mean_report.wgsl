// out[out_offset + z] = Σ_n report[z · rows + n] / rows: mean loss (z = 0) and share of hits (z = 1). A workgroup a z.

struct MeanReport {
    rows: u32,
    out_offset: u32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> mean_report: MeanReport;
@group(0) @binding(1) var<storage, read> report: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let rows = mean_report.rows;
    let base = group.z * rows;
    // Blocks of 32 terms a lane, for the reason given in shared/gemm.wgsl.
    var total = 0.0;
    for (var start = 0u; start < rows; start += 2048u) {
        let stop = min(start + 2048u, rows);
        var sum = 0.0;
        for (var n = start + lane; n < stop; n += 64u) {
            sum += report[base + n];
        }
        total += sum;
    }
    let sum = tree_sum(lane, total);
    if (lane == 0u) {
        out[mean_report.out_offset + group.z] = sum / f32(rows);
    }
}
