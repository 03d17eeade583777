// Squared error of z (batch, outputs, lanes): report[n] = Σ_c (z − y)², report[hits + n] = 0, delta = 2 (z − y)/count, 0 in the
// lanes beyond the samples. targets: (outputs, lanes). A thread a sample; z: point, with a report of its own.

struct SquaredError {
    samples: u32,
    outputs: u32,
    lanes: u32,
    report_offset: u32,
    hits: u32,
    report_batch: u32,
    count: f32,
    unused_0: u32,
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
    let lanes = squared_error.lanes;
    if (n >= lanes) {
        return;
    }
    let base = group.z * squared_error.outputs * lanes + n;
    let is_sample = n < squared_error.samples;
    var sum = 0.0;
    for (var j = 0u; j < squared_error.outputs; j += 1u) {
        let difference = z[base + j * lanes] - targets[j * lanes + n];
        sum += difference * difference;
        delta[base + j * lanes] = select(0.0, 2.0 * difference / squared_error.count, is_sample);
    }
    if (is_sample) {
        let at = group.z * squared_error.report_batch + squared_error.report_offset + n;
        report[at] = sum;
        report[at + squared_error.hits] = 0.0;
    }
}
