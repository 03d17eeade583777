// theta[e] = κ_e v[n(e)] / v[a(e)]; without n(e) the constant κ_e, without a(e) undivided. theta: (len).

struct Quotient {
    len: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> quotient: Quotient;
@group(0) @binding(1) var<storage, read> entries: array<Entry>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read_write> theta: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let e = flat_index(group, groups, lane, 64u);
    if (e >= quotient.len) {
        return;
    }
    let entry = entries[e];
    // A constant is written as it is, bit for bit.
    var value = entry.scale;
    if (entry.numerator != NONE) {
        value = value * v[entry.numerator];
        if (entry.denominator != NONE) {
            value = value / v[entry.denominator];
        }
    }
    theta[e] = value;
}
