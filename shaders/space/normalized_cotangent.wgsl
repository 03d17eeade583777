// The transposed Jacobian of a normalised chart times c = `cotangent`, plus its second derivative: with n = ‖v‖, v̂ = v/n,
// p = g − v̂ (v̂·g), g = `gradient`, (ṡ, u) = x:
// to s: v̂·c + p·u/n; to v: (s/n) (c − v̂ (v̂·c)) + ṡ p/n − (s/n²) (p (v̂·u) + v̂ (p·u) + (v̂·g) (u − v̂ (v̂·u))).
// Without `second` only the terms in c. cotangent: (columns, len); x, out: (columns, groups + len); z: column. A workgroup a run.

struct NormalizedCotangent {
    runs: u32,
    groups: u32,
    len: u32,
    second: u32,
    zero: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> normalized_cotangent: NormalizedCotangent;
@group(0) @binding(1) var<storage, read> runs: array<Run>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> cotangent: array<f32>;
@group(0) @binding(4) var<storage, read> gradient: array<f32>;
@group(0) @binding(5) var<storage, read> x: array<f32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

fn total(lane: u32, sum: vec2<f32>) -> f32 {
    // The tree is used again and again: every lane must have read it.
    workgroupBarrier();
    let pair = tree_sum(lane, sum, normalized_cotangent.zero);
    return pair.x + pair.y;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, 0u, 1u);
    if (index >= normalized_cotangent.runs) {
        return;
    }
    let zero = normalized_cotangent.zero;
    let run = runs[index];
    let column = group.z * (normalized_cotangent.groups + normalized_cotangent.len);
    let first = normalized_cotangent.groups + run.first;
    let source = group.z * normalized_cotangent.len + run.first;
    let is_second = normalized_cotangent.second != 0u;
    // v is scaled by 2^k, so that its squares neither overflow nor vanish.
    var exponent = 0u;
    for (var i = lane; i < run.count; i += 64u) {
        exponent = max(exponent, exponent_of(v[first + i]));
    }
    let k = scaling_exponent(tree_max(lane, exponent));
    let scale = exact_power_of_two(k);
    var ww = vec2<f32>();
    var wc = vec2<f32>();
    var wg = vec2<f32>();
    var wu = vec2<f32>();
    var gu = vec2<f32>();
    for (var i = lane; i < run.count; i += 64u) {
        let w = scale * v[first + i];
        ww = add_to(ww, w * w, zero);
        wc = add_to(wc, w * cotangent[source + i], zero);
        if (is_second) {
            let g = gradient[run.first + i];
            let u = x[column + first + i];
            wg = add_to(wg, w * g, zero);
            wu = add_to(wu, w * u, zero);
            gu = add_to(gu, g * u, zero);
        }
    }
    let square = total(lane, ww);
    let product_wc = total(lane, wc);
    let product_wg = total(lane, wg);
    let product_wu = total(lane, wu);
    let product_gu = total(lane, gu);
    let is_group = run.group != NONE;
    var of_c = 1.0;
    var of_w = 0.0;
    var of_g = 0.0;
    var of_u = 0.0;
    if (is_group) {
        // Of 2^k v; norm is v's own.
        let scaled_norm = sqrt(square);
        let norm = scaled_norm * exact_power_of_two(-k);
        let s = v[run.group];
        var to_s = product_wc / scaled_norm;
        of_c = s / norm;
        of_w = -of_c * product_wc / square;
        if (is_second) {
            let pu = product_gu - product_wg * product_wu / square;
            let of_c_scaled = of_c * scale;
            to_s = to_s + pu / norm;
            of_g = x[column + run.group] / norm - of_c_scaled * product_wu / square;
            of_u = -of_c_scaled * product_wg / square;
            of_w = of_w - of_c_scaled * pu / square - of_u * product_wu / square - of_g * product_wg / square;
        }
        if (lane == 0u) {
            out[column + run.group] = to_s;
        }
    }
    for (var i = lane; i < run.count; i += 64u) {
        var value = of_c * cotangent[source + i];
        if (is_group) {
            value = value + of_w * (scale * v[first + i]);
            if (is_second) {
                value = value + of_g * gradient[run.first + i] + of_u * x[column + first + i];
            }
        }
        out[column + first + i] = value;
    }
}
