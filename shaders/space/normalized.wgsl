// theta = s v/‖v‖ over a group of consecutive parameters; other parameters are their own coordinates. v: all s, then a coordinate
// a parameter. A workgroup a run of parameters; runs: (first parameter, count, group or NONE).

struct Normalized {
    runs: u32,
    groups: u32,
    zero: u32,
    unused_0: u32,
}

@group(0) @binding(0) var<uniform> normalized: Normalized;
@group(0) @binding(1) var<storage, read> runs: array<Run>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read_write> theta: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, 0u, 1u);
    if (index >= normalized.runs) {
        return;
    }
    let run = runs[index];
    let first = normalized.groups + run.first;
    // v is scaled by 2^k, so that its squares neither overflow nor vanish.
    var exponent = 0u;
    for (var i = lane; i < run.count; i += 64u) {
        exponent = max(exponent, exponent_of(v[first + i]));
    }
    let k = scaling_exponent(tree_max(lane, exponent));
    let scale = exact_power_of_two(k);
    var sum = vec2<f32>();
    for (var i = lane; i < run.count; i += 64u) {
        let w = scale * v[first + i];
        sum = add_to(sum, w * w, normalized.zero);
    }
    let square = tree_sum(lane, sum, normalized.zero);
    let is_group = run.group != NONE;
    var factor = 1.0;
    if (is_group) {
        factor = v[run.group] / sqrt(square.x + square.y);
    }
    for (var i = lane; i < run.count; i += 64u) {
        let w = v[first + i];
        theta[run.first + i] = select(w, factor * (scale * w), is_group);
    }
}
