// out = v̂ ṡ + (s/n) (x − v̂ (v̂·x)), n = ‖v‖, v̂ = v/n: the Jacobian of a normalised chart times (ṡ, x). x: (columns, groups + len);
// out: (columns, len); z: column. A workgroup a run.

struct NormalizedTangent {
    runs: u32,
    groups: u32,
    len: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> normalized_tangent: NormalizedTangent;
@group(0) @binding(1) var<storage, read> runs: array<Run>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, 0u, 1u);
    if (index >= normalized_tangent.runs) {
        return;
    }
    let run = runs[index];
    let column = group.z * (normalized_tangent.groups + normalized_tangent.len);
    let first = normalized_tangent.groups + run.first;
    let target_first = group.z * normalized_tangent.len + run.first;
    // v is scaled by 2^k, so that its squares neither overflow nor vanish.
    var exponent = 0u;
    for (var i = lane; i < run.count; i += 64u) {
        exponent = max(exponent, exponent_of(v[first + i]));
    }
    let k = scaling_exponent(tree_max(lane, exponent));
    let scale = exact_power_of_two(k);
    var squares = vec2<f32>();
    var products = vec2<f32>();
    for (var i = lane; i < run.count; i += 64u) {
        let w = scale * v[first + i];
        squares = add_to(squares, w * w, normalized_tangent.zero);
        products = add_to(products, w * x[column + first + i], normalized_tangent.zero);
    }
    let square_pair = tree_sum(lane, squares, normalized_tangent.zero);
    // The tree is used again: every lane must have read it.
    workgroupBarrier();
    let product_pair = tree_sum(lane, products, normalized_tangent.zero);
    let is_group = run.group != NONE;
    var of_w = 0.0;
    var of_x = 1.0;
    if (is_group) {
        let square = square_pair.x + square_pair.y;
        let norm = sqrt(square);
        of_x = v[run.group] / (norm * exact_power_of_two(-k));
        of_w = x[column + run.group] / norm - of_x * (product_pair.x + product_pair.y) / square;
    }
    for (var i = lane; i < run.count; i += 64u) {
        let plain = x[column + first + i];
        out[target_first + i] = select(plain, of_w * (scale * v[first + i]) + of_x * plain, is_group);
    }
}
