// out[z, e] = (κ_e/v_a) (x[z, n] − (v_n/v_a) x[z, a]): the Jacobian of a quotient chart times x. x: (columns, coordinates);
// out: (columns, len); z: column.

struct QuotientTangent {
    len: u32,
    coordinates: u32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> quotient_tangent: QuotientTangent;
@group(0) @binding(1) var<storage, read> entries: array<Entry>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let e = flat_index(group, groups, lane, 64u);
    if (e >= quotient_tangent.len) {
        return;
    }
    let entry = entries[e];
    let column = group.z * quotient_tangent.coordinates;
    var value = 0.0;
    if (entry.numerator != NONE) {
        value = x[column + entry.numerator];
        var factor = entry.scale;
        if (entry.denominator != NONE) {
            let divisor = v[entry.denominator];
            value = value - v[entry.numerator] / divisor * x[column + entry.denominator];
            factor = factor / divisor;
        }
        value = factor * value;
    }
    out[group.z * quotient_tangent.len + e] = value;
}
