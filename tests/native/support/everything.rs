//! Every pass of an executor over one problem, to be compared with another one's.

use isoflat::engine::{Cotangent, Curvature, Engine, Precision};
use pollster::block_on;
use rand::Rng;

/// All that an executor computes from data, by name.
pub fn everything(engine: &Engine, parameters: &[f64], seed: u64) -> Vec<(&'static str, Vec<f64>)> {
    let mut rng = super::rng(seed);
    let problem = engine.problem();
    let (samples, outputs) = (problem.samples(), problem.network().output_len());
    let directions = super::random_direction(&mut rng, 3 * parameters.len());
    let u = super::random_direction(&mut rng, parameters.len());
    let mut all = Vec::new();
    block_on(engine.prepare(parameters)).expect("a point");
    block_on(async {
        all.push(("outputs", engine.outputs().await.expect("outputs")));
        all.push(("loss", vec![engine.loss().await.expect("a loss")]));
        all.push(("gradient", engine.gradient().await.expect("a gradient")));
        all.push(("hessian", engine.product(Curvature::Hessian, &directions).await.expect("products")));
        all.push(("gauss_newton", engine.product(Curvature::GaussNewton, &directions).await.expect("products")));
        let there: Vec<f64> = parameters.iter().zip(&u).map(|(p, u)| p + 0.1 * u).collect();
        let found = engine.evaluate(&there).await.expect("an evaluation");
        all.push(("evaluation", vec![found.loss, found.accuracy]));

        let e = engine.vectors();
        let vector = |values: &[f64]| e.upload(values, 1).expect("a vector");
        let (n, direction) = (parameters.len(), u.clone());
        let (theta, u) = (vector(parameters), vector(&u));
        for (l, layer) in problem.network().layout().layers().iter().enumerate() {
            let only = |i: usize| if layer.weight.contains(&i) { direction[i] } else { 0.0 };
            let (v, mut product) = (vector(&(0..n).map(only).collect::<Vec<_>>()), e.zeros(n, 1).expect("a vector"));
            engine.apply_layer(Curvature::Hessian, l, &v, &mut product).await.expect("a product");
            all.push((
                "a layer's block",
                e.download(&product).await.expect("a product")[layer.weight.clone()].to_vec(),
            ));
        }
        let mut out = e.zeros(6, 1).expect("a vector");
        for v in [Some(&theta), None] {
            block_on(engine.prepare_plane(&theta, &u, v)).expect("a plane");
            block_on(engine.evaluate_plane(&[[0.0, 0.0], [0.1, 0.0], [-0.2, 0.05]], &mut out)).expect("losses");
            all.push(("plane", e.download(&out).await.expect("losses")));
        }

        let mut cotangents: Vec<_> = (0..outputs).map(Cotangent::Class).collect();
        cotangents.insert(1, Cotangent::Signs(super::random_signs(&mut rng, samples * outputs)));
        for sums in engine.sweep(&cotangents).await.expect("a sweep").concat() {
            all.push((
                "sweep",
                vec![sums.weight_trace, sums.gram_trace, sums.scaled_trace, sums.bias_trace, sums.scaled_bias_trace],
            ));
            all.push(("rho", sums.column_forms));
        }
        all.push(("squared gradients", engine.squared_gradients(&cotangents).await.expect("squares")));

        // Some rows more than once; some helpers may have none.
        for count in [1, 5, 3 * samples] {
            let rows: Vec<u32> = (0..count).map(|_| rng.random_range(0..samples as u32)).collect();
            let mut gradient = e.zeros(parameters.len(), 1).expect("a vector");
            block_on(engine.batch_gradient(&theta, &rows, &mut gradient, &mut out, 1)).expect("a batch");
            all.push(("batch gradient", e.download(&gradient).await.expect("a gradient")));
            all.push(("batch", e.download(&out).await.expect("means")[2..4].to_vec()));
        }
    });
    all
}

/// A mean over N samples is a sum of N terms, which rounding changes by N ε of the terms' sizes at most, whatever the order;
/// here it is taken twice. Where terms cancel, their sizes are more than the largest entry of their sum: by √N at random.
/// Their product is far above what happens, since rounding errors cancel too: N ε with a factor of 8 covers 1 ≤ N ≤ 8.
pub fn tolerance(precision: Precision, terms: usize) -> f64 {
    8.0 * terms.max(8) as f64 * precision.epsilon()
}
