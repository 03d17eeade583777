// A step of Adam (Kingma and Ba 2015) over len values:
// mean = beta1 mean + (1 − beta1) g, square = beta2 square + (1 − beta2) g²,
// theta −= learning_rate · mean_correction mean / (√(square_correction square) + epsilon); the corrections are 1/(1 − β^t).

struct Adam {
    len: u32,
    learning_rate: f32,
    beta1: f32,
    one_minus_beta1: f32,
    beta2: f32,
    one_minus_beta2: f32,
    epsilon: f32,
    mean_correction: f32,
    square_correction: f32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> adam: Adam;
@group(0) @binding(1) var<storage, read> gradient: array<f32>;
@group(0) @binding(2) var<storage, read_write> mean: array<f32>;
@group(0) @binding(3) var<storage, read_write> square: array<f32>;
@group(0) @binding(4) var<storage, read_write> theta: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat_index(group, groups, lane, 64u);
    if (i >= adam.len) {
        return;
    }
    let g = gradient[i];
    let m = adam.beta1 * mean[i] + adam.one_minus_beta1 * g;
    let v = adam.beta2 * square[i] + adam.one_minus_beta2 * (g * g);
    mean[i] = m;
    square[i] = v;
    let step = adam.mean_correction * m / (sqrt(adam.square_correction * v) + adam.epsilon);
    theta[i] = theta[i] - adam.learning_rate * step;
}
