// out[z, j, n]: cotangents at the outputs. kinds[z] = (kind, output c, first of `values`): 0 √p_c (e_c − p); 1 e_c − p with
// c = values[n]; 2 √2 e_c; 3 √2 values[j, n]. 0 in the lanes beyond the samples. p: (classes, lanes). z: cotangent.

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
        if (kind.x == 3u) {
            value = ROOT_2 * values[kind.z + i];
        } else if (kind.x == 2u) {
            value = select(0.0, ROOT_2, j == kind.y);
        } else {
            var c = kind.y;
            var factor = 1.0;
            if (kind.x == 1u) {
                c = u32(values[kind.z + n]);
            } else {
                factor = sqrt(p[c * lanes + n]);
            }
            value = -p[i];
            if (j == c) {
                // 1 − p_c as a sum, which keeps its digits where p_c is near 1.
                value = 0.0;
                for (var other = 0u; other < cotangent.classes; other += 1u) {
                    value += select(p[other * lanes + n], 0.0, other == c);
                }
            }
            value *= factor;
        }
    }
    out[group.z * cotangent.classes * lanes + i] = value;
}
