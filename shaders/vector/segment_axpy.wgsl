// y[z, i] += coefficients[s(i) + z · segments] a[i], s(i) the segment of i; ends[s] is the end of segment s.
// a: (len); y: (columns, len); z: column.

struct SegmentAxpy {
    len: u32,
    segments: u32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> segment_axpy: SegmentAxpy;
@group(0) @binding(1) var<storage, read> ends: array<u32>;
@group(0) @binding(2) var<storage, read> coefficients: array<f32>;
@group(0) @binding(3) var<storage, read> a: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= segment_axpy.len) {
        return;
    }
    // The first segment that ends beyond i.
    var low = 0u;
    var high = segment_axpy.segments - 1u;
    while (low < high) {
        let middle = (low + high) / 2u;
        if (ends[middle] > i) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    let at = group.z * segment_axpy.len + i;
    y[at] = y[at] + coefficients[low + group.z * segment_axpy.segments] * a[i];
}
