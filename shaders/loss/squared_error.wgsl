// Squared error of rows of z (rows, outputs): report[n] = Σ_c (z − y)², report[hits + n] = 0, delta = 2 (z − y)/count.
// A thread a row.

struct SquaredError {
    rows: u32,
    outputs: u32,
    target_offset: u32,
    report_offset: u32,
    hits: u32,
    count: f32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> squared_error: SquaredError;
@group(0) @binding(1) var<storage, read> z: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<f32>;
@group(0) @binding(3) var<storage, read_write> delta: array<f32>;
@group(0) @binding(4) var<storage, read_write> report: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let n = flat_index(group, groups, lane, 64u);
    if (n >= squared_error.rows) {
        return;
    }
    let base = n * squared_error.outputs;
    var sum = 0.0;
    for (var j = 0u; j < squared_error.outputs; j += 1u) {
        let difference = z[base + j] - targets[squared_error.target_offset + base + j];
        sum += difference * difference;
        delta[base + j] = 2.0 * difference / squared_error.count;
    }
    report[squared_error.report_offset + n] = sum;
    report[squared_error.hits + squared_error.report_offset + n] = 0.0;
}
