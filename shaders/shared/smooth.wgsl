// Activations whose derivatives are kept, by their number, each with φ' and φ'': x, y and z of the result. Twin of src/engine/activation.rs.

fn smooth_jet(z: f32, function: u32) -> vec3<f32> {
    switch (function) {
        case 1u: {
            return sigmoid_jet(z);
        }
        case 2u: {
            let jet = sigmoid_jet(z);
            return vec3<f32>(max(z, 0.0) + log_one_plus(exp_accurate(-abs(z))), jet.x, jet.y);
        }
        case 3u: {
            return gated_jet(z, vec3<f32>(z, 1.0, 0.0));
        }
        case 4u: {
            let below = normal_below(z);
            let density = 0.398942280 * exp_accurate(-0.5 * z * z);
            return vec3<f32>(z * below, below + z * density, density * (2.0 - z * z));
        }
        case 5u: {
            // 2 √(2/π).
            let k = 1.595769122;
            let c = 0.044715 * z * z;
            return gated_jet(z, vec3<f32>(k * z * (1.0 + c), k * (1.0 + 3.0 * c), 6.0 * k * 0.044715 * z));
        }
        case 6u: {
            return vec3<f32>(clamp(z, 0.0, 6.0), select(0.0, 1.0, z > 0.0 && z < 6.0), 0.0);
        }
        default: {
            // tanh; 1 − a² without the difference.
            let a = tanh_accurate(z);
            let slope = 4.0 * sigmoid_jet(2.0 * z).y;
            return vec3<f32>(a, slope, -2.0 * a * slope);
        }
    }
}

// σ, σ' and σ''.
fn sigmoid_jet(w: f32) -> vec3<f32> {
    let e = exp_accurate(-abs(w));
    let slope = e / ((1.0 + e) * (1.0 + e));
    return vec3<f32>(select(1.0, e, w < 0.0) / (1.0 + e), slope, -tanh_accurate(0.5 * w) * slope);
}

// z σ(w) and its derivatives in z, for w, w' and w''.
fn gated_jet(z: f32, w: vec3<f32>) -> vec3<f32> {
    let s = sigmoid_jet(w.x);
    return vec3<f32>(z * s.x, s.x + z * w.y * s.y, 2.0 * w.y * s.y + z * (w.y * w.y * s.z + w.z * s.y));
}

// Φ(z) = erfc(−z/√2)/2 to a few units in the last place. Below 0 it is t p(t) e^(−z²/2)/2 with t = 1/(1 + |z|/√8) and p the polynomial
// that interpolates e^(x²) erfc(x)/t at the Chebyshev points of [0.02, 1], x = |z|/√2 (relative error 1.5e-8).
fn normal_below(z: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.353553391 * abs(z));
    var p = 0.0457205391;
    p = p * t - 0.247797941;
    p = p * t + 0.522610996;
    p = p * t - 0.490720243;
    p = p * t + 0.159208091;
    p = p * t - 0.0720875351;
    p = p * t + 0.0972991795;
    p = p * t + 0.174628881;
    p = p * t + 0.246952616;
    p = p * t + 0.28209058;
    p = p * t + 0.282094844;
    let half = 0.5 * t * p * exp_accurate(-0.5 * z * z);
    return select(1.0 - half, half, z < 0.0);
}
