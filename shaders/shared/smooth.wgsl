// Smooth activations by their number, each with φ' and φ'': x, y and z of the result. Twin of src/engine/activation.rs.

fn smooth_jet(z: f32, function: u32) -> vec3<f32> {
    switch (function) {
        default: {
            // tanh; 1 − a² without the difference.
            let a = tanh_accurate(z);
            let e = exp_accurate(-2.0 * abs(z));
            let slope = 4.0 * e / ((1.0 + e) * (1.0 + e));
            return vec3<f32>(a, slope, -2.0 * a * slope);
        }
    }
}
