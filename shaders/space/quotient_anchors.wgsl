// out[z, a] −= Σ_e (cotangent[z, e] θ_e + gradient[e] (θ̇_e − θ_e x[z, a]/v_a)) / v_a over the parameters e that the coordinate a
// divides: θ_e = κ_e v_n/v_a, θ̇_e = (κ_e/v_a) (x[z, n] − (v_n/v_a) x[z, a]). Without `second` only the first term. A workgroup an
// anchor. table: for each anchor its coordinate, and where its parameters' numbers begin and end in the same table.

struct QuotientAnchors {
    anchors: u32,
    len: u32,
    coordinates: u32,
    second: u32,
    zero: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> quotient_anchors: QuotientAnchors;
@group(0) @binding(1) var<storage, read> entries: array<Entry>;
@group(0) @binding(2) var<storage, read> table: array<u32>;
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
    let anchor = flat_index(group, groups, 0u, 1u);
    if (anchor >= quotient_anchors.anchors) {
        return;
    }
    let a = table[3u * anchor];
    let first = table[3u * anchor + 1u];
    let end = table[3u * anchor + 2u];
    let column = group.z * quotient_anchors.coordinates;
    let divisor = v[a];
    var sum = vec2<f32>();
    for (var m = first + lane; m < end; m += 64u) {
        let e = table[m];
        let entry = entries[e];
        let ratio = v[entry.numerator] / divisor;
        let theta = entry.scale * ratio;
        var term = cotangent[group.z * quotient_anchors.len + e] * theta;
        if (quotient_anchors.second != 0u) {
            let below = x[column + a];
            let tangent = entry.scale / divisor * (x[column + entry.numerator] - ratio * below);
            term = term + gradient[e] * (tangent - theta * below / divisor);
        }
        sum = add_to(sum, term, quotient_anchors.zero);
    }
    let total = tree_sum(lane, sum, quotient_anchors.zero);
    if (lane == 0u) {
        out[column + a] = out[column + a] - (total.x + total.y) / divisor;
    }
}
