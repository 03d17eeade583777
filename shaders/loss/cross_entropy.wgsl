// Softmax cross-entropy of z (batch, classes, lanes) against class numbers: report[n] = −log p_y, report[hits + n] = 1 where the
// first largest output is y's, p = softmax z, delta = (p − y)/count, both 0 in the lanes beyond the samples. A thread a
// sample; z: point, with a report of its own.

struct CrossEntropy {
    samples: u32,
    classes: u32,
    lanes: u32,
    report_offset: u32,
    hits: u32,
    report_batch: u32,
    count: f32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> cross_entropy: CrossEntropy;
@group(0) @binding(1) var<storage, read> z: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<f32>;
@group(0) @binding(3) var<storage, read_write> p: array<f32>;
@group(0) @binding(4) var<storage, read_write> delta: array<f32>;
@group(0) @binding(5) var<storage, read_write> report: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let n = flat_index(group, groups, lane, 64u);
    let lanes = cross_entropy.lanes;
    if (n >= lanes) {
        return;
    }
    let classes = cross_entropy.classes;
    let base = group.z * classes * lanes + n;
    if (n >= cross_entropy.samples) {
        for (var j = 0u; j < classes; j += 1u) {
            p[base + j * lanes] = 0.0;
            delta[base + j * lanes] = 0.0;
        }
        return;
    }
    let label = u32(targets[n]);
    var largest = z[base];
    var best = 0u;
    for (var j = 1u; j < classes; j += 1u) {
        let value = z[base + j * lanes];
        if (value > largest) {
            largest = value;
            best = j;
        }
    }
    // Two sums without the 1 of the largest and without the label's term: where p_y is near 1, 1 − p_y and log p_y
    // then keep their digits.
    var beside_best = 0.0;
    var beside_label = 0.0;
    for (var j = 0u; j < classes; j += 1u) {
        let e = exp_accurate(z[base + j * lanes] - largest);
        p[base + j * lanes] = e;
        beside_best += select(e, 0.0, j == best);
        beside_label += select(e, 0.0, j == label);
    }
    let sum = 1.0 + beside_best;
    for (var j = 0u; j < classes; j += 1u) {
        let share = p[base + j * lanes] / sum;
        p[base + j * lanes] = share;
        delta[base + j * lanes] = select(share, -beside_label / sum, j == label) / cross_entropy.count;
    }
    let at = group.z * cross_entropy.report_batch + cross_entropy.report_offset + n;
    report[at] = log_one_plus(beside_best) + (largest - z[base + label * lanes]);
    report[at + cross_entropy.hits] = select(0.0, 1.0, best == label);
}
