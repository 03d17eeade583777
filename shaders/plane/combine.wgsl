// out[z, i] = φ(x[0, i] + s x[1, i] + t x[2, i]) for first ≤ i < first + len, (s, t) = points[z]; with terms = 2 there is no
// x[2]. x: (terms, stride), out: (points, stride), by four numbers. z: point.

struct PlaneCombine {
    first: u32,
    len: u32,
    stride: u32,
    terms: u32,
    epilogue: u32,
    slope: f32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> plane_combine: PlaneCombine;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> points: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    if (index >= plane_combine.len) {
        return;
    }
    let i = plane_combine.first + index;
    let point = points[group.z];
    var value = x[i] + point.x * x[plane_combine.stride + i];
    if (plane_combine.terms == 3u) {
        value += point.y * x[2u * plane_combine.stride + i];
    }
    let at = group.z * plane_combine.stride + i;
    out[at] = finish(value, vec4<f32>(), plane_combine.epilogue, plane_combine.slope);
}
