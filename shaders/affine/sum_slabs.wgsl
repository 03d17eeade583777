// out[out_offset + b · out_batch + i] = Σ_s parts[(b · slabs + s) · size + i], i < size, added to what is there if
// accumulate = 1: second stage of a sum over samples.

struct SumSlabs {
    size: u32,
    slabs: u32,
    out_offset: u32,
    out_batch: u32,
    accumulate: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> sum_slabs: SumSlabs;
@group(0) @binding(1) var<storage, read> parts: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= sum_slabs.size) {
        return;
    }
    let first = group.z * sum_slabs.slabs;
    var total = 0.0;
    for (var s = 0u; s < sum_slabs.slabs; s += 1u) {
        total += parts[(first + s) * sum_slabs.size + i];
    }
    let at = sum_slabs.out_offset + group.z * sum_slabs.out_batch + i;
    if (sum_slabs.accumulate == 1u) {
        total += out[at];
    }
    out[at] = total;
}
