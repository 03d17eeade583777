// out[z, j, n]: cotangents at the outputs: the sum over all outputs c of s_c times √p_c (e_c − p) (cross-entropy) or √2 e_c. kinds[z] =
// (is it of signs, output, first of `values`, is it of cross-entropy): s_c = values[c, n] of signs, and else 1 of that output, 0 of others.
// 0 in the lanes beyond the samples. p: (classes, lanes). z: cotangent.

struct Cotangent {
    samples: u32,
    classes: u32,
    lanes: u32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> cotangent: Cotangent;
@group(0) @binding(1) var<storage, read> kinds: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> values: array<f32>;
@group(0) @binding(3) var<storage, read> p: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

const ROOT_2 = 1.41421356;

fn sign_of(kind: vec4<u32>, c: u32, n: u32) -> f32 {
    if (kind.x == 1u) {
        return values[kind.z + c * cotangent.lanes + n];
    }
    return select(0.0, 1.0, c == kind.y);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    let lanes = cotangent.lanes;
    if (i >= cotangent.classes * lanes) {
        return;
    }
    let n = i % lanes;
    let j = i / lanes;
    let kind = kinds[group.z];
    var value = 0.0;
    if (n < cotangent.samples) {
        let own = sign_of(kind, j, n);
        if (kind.w == 0u) {
            value = ROOT_2 * own;
        } else {
            // 1 − p_j as a sum, which keeps its digits where p_j is near 1.
            var rest = 0.0;
            var roots = 0.0;
            for (var other = 0u; other < cotangent.classes; other += 1u) {
                if (other != j) {
                    let of_other = p[other * lanes + n];
                    rest += of_other;
                    roots += sqrt(of_other) * sign_of(kind, other, n);
                }
            }
            value = sqrt(p[i]) * own * rest - p[i] * roots;
        }
    }
    out[group.z * cotangent.classes * lanes + i] = value;
}
