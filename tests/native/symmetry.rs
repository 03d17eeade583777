//! The symmetries: outputs stay, inverses undo, derivatives follow, bad factors are refused, and the invariance table
//! catches what it must.

use crate::support::*;
use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::invariance::{Verdict, invariance};
use isoflat::measure::{Measure, MeasureOptions};
use isoflat::network::Layer;
use isoflat::operator::{Connection, Metric, OperatorKind, SymmetricOperator};
use isoflat::symmetry::Transformation;
use isoflat::{Control, ErrorCode, Loss, Network, Problem};
use rand::Rng;

fn random_maps(seed: u64) -> Vec<Transformation> {
    let layerwise = Transformation::RandomLayerwise { seed, low: 0.2, high: 5.0 };
    let nodewise = Transformation::RandomNodewise { seed, low: 0.2, high: 5.0 };
    let permutation = Transformation::RandomPermutation { seed };
    let of = vec![nodewise.clone(), permutation.clone(), layerwise.clone()];
    vec![layerwise, nodewise, permutation, Transformation::Composition { of }]
}

fn cpu(problem: &Problem) -> Engine {
    Engine::new(&Device::cpu(Precision::F64), problem).expect("an engine")
}

#[test]
fn outputs_stay_inverses_undo_and_derivatives_follow() {
    for seed in 0..40 {
        let mut rng = rng(seed);
        let network = random_network(&mut rng, &HOMOGENEOUS);
        let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
        let parameters = random_parameters(&mut rng, &network);
        let v = random_direction(&mut rng, parameters.len());
        let engine = cpu(&problem);
        let at = |p: &[f64]| {
            pollster::block_on(engine.prepare(p)).expect("a point");
            let outputs = pollster::block_on(engine.outputs()).expect("outputs");
            (outputs, pollster::block_on(engine.gradient()).expect("a gradient"))
        };
        for map in random_maps(seed) {
            let moved = map.apply(&network, &parameters).expect("a valid map");
            let inverse = map.inverse(&network).expect("an inverse");
            let back = inverse.apply(&network, &moved).expect("a valid map");
            assert!(error(&back, &parameters) < 1e-14, "seed {seed} {map:?}: the inverse does not undo it");

            let (outputs, gradient) = at(&parameters);
            let (outputs_after, gradient_after) = at(&moved);
            assert!(error(&outputs_after, &outputs) < 1e-12, "seed {seed} {map:?}: outputs change");

            // ∇L(Tθ) = T⁻ᵀ ∇L(θ), tested as ⟨∇L(Tθ), T v⟩ = ⟨∇L(θ), v⟩; T is linear, so it maps directions too.
            let tv = map.apply(&network, &v).expect("a valid map");
            let (after, before) = (dot(&gradient_after, &tv), dot(&gradient, &v));
            assert!(
                (after - before).abs() < 1e-11 * (1.0 + before.abs()),
                "seed {seed} {map:?}: {after}, expected {before}"
            );

            // H(Tθ) = T⁻ᵀ H(θ) T⁻¹, tested as (Tv)ᵀ H(Tθ) (Tv) = vᵀ H(θ) v.
            let product = |v: &[f64]| pollster::block_on(engine.product(Curvature::Hessian, v)).expect("a product");
            let after = dot(&product(&tv), &tv);
            pollster::block_on(engine.prepare(&parameters)).expect("a point");
            let before = dot(&product(&v), &v);
            assert!(
                (after - before).abs() < 1e-10 * (1.0 + before.abs()),
                "seed {seed} {map:?}: {after}, expected {before}"
            );
        }
    }
}

#[test]
fn powers_of_two_leave_the_outputs_to_the_last_bit() {
    let network = Network::dense(&[5, 7, 4, 3], true).expect("a network");
    let mut rng = rng(5);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    let map = Transformation::Layerwise { lambda: vec![8.0, 0.25, 0.5] };
    let moved = map.apply(&network, &parameters).expect("a valid map");
    let engine = cpu(&problem);
    let outputs = |p: &[f64]| {
        pollster::block_on(engine.prepare(p)).expect("a point");
        pollster::block_on(engine.outputs()).expect("outputs")
    };
    assert_eq!(outputs(&parameters), outputs(&moved));
}

/// The Levi-Civita Hessian has every vertical direction (β_l W_l, γ_l b_l), γ_l = Σ_{k≤l} β_k, Σ β = 0 in its kernel at
/// any point; in the node-wise metric, the tangents of node-wise rescalings too.
#[test]
fn vertical_directions_lie_in_the_kernel_of_the_levi_civita_hessian() {
    for seed in 0..40 {
        let mut rng = rng(3000 + seed);
        let network = random_network(&mut rng, &HOMOGENEOUS);
        let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
        let parameters = random_parameters(&mut rng, &network);
        let engine = cpu(&problem);
        pollster::block_on(engine.prepare(&parameters)).expect("a point");
        let layers = network.layout().layers();

        let mut beta: Vec<f64> = layers.iter().map(|_| rng.random_range(-1.0..1.0)).collect();
        let mean = beta.iter().sum::<f64>() / beta.len() as f64;
        beta.iter_mut().for_each(|b| *b -= mean);
        let mut layerwise = vec![0.0; parameters.len()];
        let mut gamma = 0.0;
        for (layer, beta) in layers.iter().zip(&beta) {
            gamma += beta;
            layer.weight.clone().for_each(|i| layerwise[i] = beta * parameters[i]);
            layer.bias.clone().into_iter().flatten().for_each(|i| layerwise[i] = gamma * parameters[i]);
        }
        // The derivative of a node-wise map at Λ = exp(ε b): rows get + b_i, columns − b_j of the layer before.
        let mut nodewise = vec![0.0; parameters.len()];
        let mut incoming = vec![0.0; network.input_len()];
        for (l, layer) in layers.iter().enumerate() {
            let last = l + 1 == layers.len();
            let outgoing: Vec<f64> =
                (0..layer.outputs).map(|_| if last { 0.0 } else { rng.random_range(-1.0..1.0) }).collect();
            for (k, i) in layer.weight.clone().enumerate() {
                let (row, column) = (k / layer.inputs, k % layer.inputs);
                nodewise[i] = (outgoing[row] - incoming[column]) * parameters[i];
            }
            for (k, i) in layer.bias.clone().into_iter().flatten().enumerate() {
                nodewise[i] = outgoing[k] * parameters[i];
            }
            incoming = outgoing;
        }
        for (metric, vertical) in
            [(Metric::Layerwise, &layerwise), (Metric::Nodewise, &layerwise), (Metric::Nodewise, &nodewise)]
        {
            // In the coordinates of D H D, the direction ξ is u = D⁻¹ ξ.
            let scale = metric.scale(&engine, &parameters).expect("a diagonal");
            let u: Vec<f64> = vertical.iter().zip(&scale).map(|(v, d)| if *d > 0.0 { v / d } else { 0.0 }).collect();
            let size = dot(&u, &u).sqrt();
            if size < 1e-6 {
                continue; // One layer has no vertical direction.
            }
            let found = pollster::block_on(async {
                let operator = OperatorKind::riemannian(metric, Connection::LeviCivita)
                    .operator(&engine)
                    .await
                    .expect("an operator");
                let executor = engine.vectors();
                let x = executor.upload(&u, 1).expect("a vector");
                let mut y = executor.zeros(u.len(), 1).expect("a vector");
                pollster::block_on(operator.apply(&x, &mut y)).expect("a product");
                executor.download(&y).await.expect("a vector")
            });
            let norm = dot(&found, &found).sqrt() / size;
            assert!(norm < 1e-10, "seed {seed} {metric:?}: ‖A u‖ / ‖u‖ = {norm:.1e}");
        }
    }
}

/// The table can fail: a function that a network does not have is no symmetry. Rescaling by hand, past the check that
/// refuses it, must be caught as changed outputs and a changed "invariant" measure.
#[test]
fn the_table_catches_a_measure_that_is_not_invariant() {
    let mut rng = rng(9);
    let network = Network::dense(&[4, 6, 3], true).expect("a network");
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    let engine = cpu(&problem);
    // The layer-wise metric is not invariant under node-wise maps; told that it is, the table must object.
    let mut broken = *Measure::from_key("riemannian.layerwise_flat.spectral_norm").expect("a measure");
    broken.invariant.nodewise = true;
    let broken: &'static Measure = Box::leak(Box::new(broken));
    let maps = [Transformation::RandomNodewise { seed: 1, low: 0.2, high: 5.0 }];
    let (options, control) = (MeasureOptions::default(), Control::default());
    let table = pollster::block_on(invariance(&engine, &parameters, &[broken], &maps, &options, &control));
    let table = table.expect("a table");
    assert!(!table.agrees());
    assert_eq!(table.cells[1].verdict, Verdict::Changed);
    assert!(table.cells[0].agrees, "the outputs themselves stand still");
}

#[test]
fn what_would_change_the_function_is_refused() {
    let network = Network::dense(&[4, 3, 2], true).expect("a network");
    let parameters = random_parameters(&mut rng(1), &network);
    let refused = |map: Transformation, code: ErrorCode, says: &str| {
        for found in [map.apply(&network, &parameters).err(), map.inverse(&network).err()] {
            let found = found.unwrap_or_else(|| panic!("{map:?} was not refused"));
            assert_eq!(found.code, code, "{found}");
            assert!(found.message.contains(says), "{found}");
        }
    };
    use ErrorCode::InvalidTransformation as Invalid;
    refused(Transformation::Layerwise { lambda: vec![2.0, 0.4] }, Invalid, "multiply to 0.8");
    refused(Transformation::Layerwise { lambda: vec![2.0] }, Invalid, "2 parametric layers");
    refused(Transformation::Layerwise { lambda: vec![-1.0, -1.0] }, Invalid, "lambda[0]");
    refused(Transformation::Layerwise { lambda: vec![f64::NAN, 1.0] }, Invalid, "lambda[0]");
    refused(Transformation::AlphaScale { alpha: 0.0 }, Invalid, "alpha is 0");
    refused(Transformation::Nodewise { factors: vec![] }, Invalid, "1 hidden layers");
    refused(Transformation::Nodewise { factors: vec![vec![1.0, 2.0]] }, Invalid, "3 units");
    refused(Transformation::Nodewise { factors: vec![vec![1.0, 0.0, 2.0]] }, Invalid, "factors[0][1]");
    refused(Transformation::Permutation { permutations: vec![vec![0, 1, 1]] }, Invalid, "each of 0 to 2 once");
    refused(Transformation::RandomNodewise { seed: 0, low: 2.0, high: 1.0 }, Invalid, "range");

    let tanh = Network::new(
        vec![4],
        vec![Layer::Dense { units: 3, bias: true }, Layer::Tanh, Layer::Dense { units: 2, bias: true }],
    );
    let tanh = tanh.expect("a network");
    let maps = [
        Transformation::Layerwise { lambda: vec![2.0, 0.5] },
        Transformation::AlphaScale { alpha: 2.0 },
        Transformation::Nodewise { factors: vec![vec![1.0, 2.0, 3.0]] },
    ];
    for map in maps {
        let refused = map.apply(&tanh, &parameters).expect_err("tanh is not homogeneous");
        assert_eq!(refused.code, ErrorCode::NotHomogeneous);
        assert!(refused.message.contains("tanh"), "{refused}");
    }
    Transformation::RandomPermutation { seed: 0 }
        .apply(&tanh, &parameters)
        .expect("units may be permuted all the same");
}
