// out[z, i] = (κ_e/v_a) (cotangent[z, e] − gradient[e] x[z, a]/v_a), e the parameter whose numerator i is: what reaches a
// coordinate through its own parameter. Without `second` only the first term. cotangent: (columns, len); x, out: (columns, coordinates).

struct QuotientCotangent {
    len: u32,
    coordinates: u32,
    second: u32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> quotient_cotangent: QuotientCotangent;
@group(0) @binding(1) var<storage, read> entries: array<Entry>;
@group(0) @binding(2) var<storage, read> parameter: array<u32>;
@group(0) @binding(3) var<storage, read> v: array<f32>;
@group(0) @binding(4) var<storage, read> cotangent: array<f32>;
@group(0) @binding(5) var<storage, read> gradient: array<f32>;
@group(0) @binding(6) var<storage, read> x: array<f32>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= quotient_cotangent.coordinates) {
        return;
    }
    let e = parameter[i];
    let entry = entries[e];
    var value = cotangent[group.z * quotient_cotangent.len + e];
    var factor = entry.scale;
    if (entry.denominator != NONE) {
        let divisor = v[entry.denominator];
        factor = factor / divisor;
        if (quotient_cotangent.second != 0u) {
            value = value - gradient[e] * x[group.z * quotient_cotangent.coordinates + entry.denominator] / divisor;
        }
    }
    out[group.z * quotient_cotangent.coordinates + i] = factor * value;
}
