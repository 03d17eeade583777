// y[z, i] += alpha Σ_j c[c_offset + j + z · terms] q[first + j, i], j < terms. q, y: (columns, len); z: column.

struct Combine {
    len: u32,
    first: u32,
    terms: u32,
    c_offset: u32,
    alpha: f32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> combine: Combine;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> c: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= combine.len) {
        return;
    }
    let coefficients = combine.c_offset + group.z * combine.terms;
    // Blocks, for the reason given in shared/gemm.wgsl.
    var total = 0.0;
    for (var start = 0u; start < combine.terms; start += 32u) {
        let stop = min(start + 32u, combine.terms);
        var sum = 0.0;
        for (var j = start; j < stop; j += 1u) {
            sum += c[coefficients + j] * q[(combine.first + j) * combine.len + i];
        }
        total += sum;
    }
    let at = group.z * combine.len + i;
    y[at] = y[at] + combine.alpha * total;
}
