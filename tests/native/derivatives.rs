//! Gradients and products against finite differences, symmetry, linearity, and K directions against single ones.

use crate::support::*;
use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::network::{Layer, Network};
use isoflat::{Loss, Problem};

const LOSSES: [Loss; 2] = [Loss::CrossEntropy, Loss::SquaredError];

fn engine(problem: &Problem) -> Engine {
    Engine::new(&Device::cpu(Precision::F64), problem).expect("an engine")
}

fn moved(parameters: &[f64], direction: &[f64], step: f64) -> Vec<f64> {
    parameters.iter().zip(direction).map(|(p, d)| p + step * d).collect()
}

fn gradient_at(engine: &Engine, parameters: &[f64]) -> Vec<f64> {
    pollster::block_on(engine.prepare(parameters)).expect("a point");
    pollster::block_on(engine.gradient()).expect("a gradient")
}

/// Do the two points lie on the same side of every kink? Then no pre-activation changes sign between them, and
/// differences are smooth. Seen from outside: the gradient's difference halves with the step.
fn is_smooth(engine: &Engine, parameters: &[f64], v: &[f64], step: f64) -> bool {
    let difference = |step: f64| -> Vec<f64> {
        let (plus, minus) = (moved(parameters, v, step), moved(parameters, v, -step));
        let (plus, minus) = (gradient_at(engine, &plus), gradient_at(engine, &minus));
        plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * step)).collect()
    };
    error(&difference(step), &difference(step / 16.0)) < 1e-5
}

#[test]
fn gradient_and_hessian_product_agree_with_finite_differences() {
    let mut checked = 0;
    for seed in 0..60 {
        let mut rng = rng(seed);
        let network = any_network(&mut rng, seed, &ALL);
        for loss in LOSSES {
            let problem = random_problem(&mut rng, network.clone(), loss);
            let parameters = random_parameters(&mut rng, &network);
            let v = random_direction(&mut rng, parameters.len());
            let engine = engine(&problem);
            let step = 1e-5;
            if !is_smooth(&engine, &parameters, &v, step) {
                continue;
            }
            checked += 1;
            let (plus, minus) = (moved(&parameters, &v, step), moved(&parameters, &v, -step));
            let loss_at = |p: &[f64]| pollster::block_on(engine.evaluate(p)).expect("a loss").loss;
            let slope = (loss_at(&plus) - loss_at(&minus)) / (2.0 * step);
            let difference: Vec<f64> = gradient_at(&engine, &plus)
                .iter()
                .zip(gradient_at(&engine, &minus))
                .map(|(a, b)| (a - b) / (2.0 * step))
                .collect();

            let gradient = gradient_at(&engine, &parameters);
            let exact = dot(&gradient, &v);
            assert!(
                (slope - exact).abs() <= 1e-6 * (1.0 + exact.abs()),
                "seed {seed}: slope {slope}, expected {exact}"
            );
            let product = pollster::block_on(engine.product(Curvature::Hessian, &v)).expect("a product");
            let found = error(&product, &difference);
            assert!(found < 1e-5, "seed {seed} {loss:?} {}: {found:.1e}", network.summary());
        }
    }
    assert!(checked >= 80, "only {checked} of 120 points lay away from kinks");
}

/// GGN = (1/N) Σ Jᵀ (∂²ℓ/∂z²) J, with J from finite differences of the outputs.
#[test]
fn gauss_newton_product_agrees_with_its_definition() {
    for seed in 0..30 {
        let mut rng = rng(1000 + seed);
        let network = any_network(&mut rng, seed, SMOOTH);
        for loss in LOSSES {
            let problem = random_problem(&mut rng, network.clone(), loss);
            let parameters = random_parameters(&mut rng, &network);
            let (v, w) = (random_direction(&mut rng, parameters.len()), random_direction(&mut rng, parameters.len()));
            let engine = engine(&problem);
            let outputs = |p: &[f64]| {
                pollster::block_on(engine.prepare(p)).expect("a point");
                pollster::block_on(engine.outputs()).expect("outputs")
            };
            let tangent = |v: &[f64]| -> Vec<f64> {
                let (plus, minus) = (outputs(&moved(&parameters, v, 1e-6)), outputs(&moved(&parameters, v, -1e-6)));
                plus.iter().zip(minus).map(|(a, b)| (a - b) / 2e-6).collect()
            };
            let (jv, jw) = (tangent(&v), tangent(&w));
            let z = outputs(&parameters);
            let classes = network.output_len();
            let mut expected = 0.0;
            for ((z, a), b) in z.chunks(classes).zip(jv.chunks(classes)).zip(jw.chunks(classes)) {
                expected += match loss {
                    Loss::SquaredError => 2.0 * dot(a, b),
                    Loss::CrossEntropy => {
                        let sum: f64 = z.iter().map(|z| z.exp()).sum();
                        let p: Vec<f64> = z.iter().map(|z| z.exp() / sum).collect();
                        let mean = |x: &[f64]| dot(&p, x);
                        let both: Vec<f64> = a.iter().zip(b).map(|(a, b)| a * b).collect();
                        mean(&both) - mean(a) * mean(b)
                    }
                };
            }
            expected /= problem.samples() as f64;
            pollster::block_on(engine.prepare(&parameters)).expect("a point");
            let product = pollster::block_on(engine.product(Curvature::GaussNewton, &v)).expect("a product");
            let found = dot(&product, &w);
            assert!(
                (found - expected).abs() <= 1e-6 * (1.0 + expected.abs()),
                "seed {seed} {loss:?}: {found}, expected {expected}"
            );
        }
    }
}

#[test]
fn curvature_is_symmetric_linear_and_the_same_for_many_directions() {
    for seed in 0..30 {
        let mut rng = rng(2000 + seed);
        let network = any_network(&mut rng, seed, &ALL);
        let problem = random_problem(&mut rng, network.clone(), LOSSES[seed as usize % 2]);
        let parameters = random_parameters(&mut rng, &network);
        let n = parameters.len();
        let engine = engine(&problem);
        pollster::block_on(engine.prepare(&parameters)).expect("a point");
        for curvature in [Curvature::Hessian, Curvature::GaussNewton] {
            let product = |v: &[f64]| pollster::block_on(engine.product(curvature, v)).expect("a product");
            let columns: Vec<Vec<f64>> = (0..5).map(|_| random_direction(&mut rng, n)).collect();
            let single: Vec<Vec<f64>> = columns.iter().map(|v| product(v)).collect();

            let together = product(&columns.concat());
            assert!(error(&together, &single.concat()) < 1e-13, "seed {seed}: K directions differ from single ones");

            let (vhw, whv) = (dot(&columns[0], &single[1]), dot(&columns[1], &single[0]));
            assert!((vhw - whv).abs() <= 1e-12 * (1.0 + vhw.abs()), "seed {seed}: not symmetric, {vhw} and {whv}");

            let sum = moved(&columns[0], &columns[1], -3.0);
            let expected: Vec<f64> = single[0].iter().zip(&single[1]).map(|(a, b)| a - 3.0 * b).collect();
            assert!(error(&product(&sum), &expected) < 1e-12, "seed {seed}: not linear");
        }
    }
}

/// An input activation, an activation run and a trailing identity are part of the theory too.
#[test]
fn activations_before_the_first_layer_and_in_runs_are_those_of_the_layers() {
    use isoflat::network::Layer::{Dense, Identity, LeakyRelu, Relu};
    use isoflat::{Network, Targets};
    let dense = |units| Dense { units, bias: true };
    let layers = vec![
        LeakyRelu { slope: 0.5 },
        dense(3),
        LeakyRelu { slope: 0.5 },
        LeakyRelu { slope: 0.2 },
        dense(2),
        Identity,
    ];
    let network = Network::new(vec![2], layers).expect("a network");
    let plain = Network::new(vec![2], vec![dense(3), LeakyRelu { slope: 0.1 }, dense(2)]).expect("a network");
    let relu = Network::new(vec![2], vec![dense(3), LeakyRelu { slope: 0.1 }, Relu, dense(2)]).expect("a network");
    let parameters = random_parameters(&mut rng(1), &plain);
    let targets = Targets::Classes(vec![0, 1]);
    let outputs = |network: Network, inputs: Vec<f64>| {
        let problem = Problem::new(network, Loss::CrossEntropy, inputs, targets.clone()).expect("a problem");
        let engine = engine(&problem);
        pollster::block_on(engine.prepare(&parameters)).expect("a point");
        pollster::block_on(engine.outputs()).expect("outputs")
    };
    let expected = outputs(plain, vec![1.0, -1.0, -2.0, 0.5]);
    assert_eq!(outputs(network, vec![1.0, -2.0, -4.0, 0.5]), expected);
    assert_ne!(outputs(relu, vec![1.0, -1.0, -2.0, 0.5]), expected);
}

/// Where 1 − a² would have few digits left of single precision's.
#[test]
fn a_saturated_tanh_keeps_its_digits_in_single_precision() {
    let layers = vec![Layer::Dense { units: 4, bias: true }, Layer::Tanh, Layer::Dense { units: 2, bias: true }];
    let network = Network::new(vec![3], layers).expect("a network");
    let mut rng = rng(5);
    let mut parameters = random_parameters(&mut rng, &network);
    // Slopes from 1e-5 to 1e-3.
    parameters[12..16].copy_from_slice(&[6.5, -5.0, 5.5, -4.0]);
    let problem = random_problem(&mut rng, network, Loss::SquaredError);
    // All of layer 1: what comes out there is proportional to a slope.
    let v: Vec<f64> = (0..parameters.len()).map(|i| if i < 16 { 1.0 } else { 0.0 }).collect();
    let product = |device: &Device| {
        let engine = Engine::new(device, &problem).expect("an engine");
        pollster::block_on(engine.prepare(&parameters)).expect("a point");
        pollster::block_on(engine.product(Curvature::Hessian, &v)).expect("a product")
    };
    let exact = product(&Device::cpu(Precision::F64));
    for device in [Device::cpu(Precision::F32), gpu()] {
        let found = product(&device);
        // A row of layer 1 at a time: its own slope's size.
        for (row, (found, exact)) in found[..12].chunks(3).zip(exact[..12].chunks(3)).enumerate() {
            let size = exact.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            for (found, exact) in found.iter().zip(exact) {
                assert!((found - exact).abs() < 2e-5 * size, "row {row} on {:?}: {found}, {exact}", device.info());
            }
        }
    }
}

/// With weights so large that as many units lie above 6 as below 0: every pass against plain loops and differences, on every device.
#[test]
fn relu6_is_cut_off_on_both_sides() {
    let mut capped = 0;
    for seed in 0..24 {
        let mut rng = rng(7100 + seed);
        let network = any_network(&mut rng, seed, &[Layer::Relu6]);
        let problem = random_problem(&mut rng, network.clone(), LOSSES[seed as usize % 2]);
        let parameters: Vec<f64> = random_parameters(&mut rng, &network).iter().map(|w| 4.0 * w).collect();
        let v = random_direction(&mut rng, parameters.len());
        let of = |device: &Device, parameters: &[f64]| {
            let engine = Engine::new(device, &problem).expect("an engine");
            pollster::block_on(async {
                engine.prepare(parameters).await.expect("a point");
                let outputs = engine.outputs().await.expect("outputs");
                let gradient = engine.gradient().await.expect("a gradient");
                let product = engine.product(Curvature::Hessian, &v).await.expect("a product");
                [outputs, gradient, product]
            })
        };
        let cpu = Device::cpu(Precision::F64);
        let exact = of(&cpu, &parameters);
        let inputs = problem.inputs().to_f64();
        let expected = naive::outputs(&network, &parameters, &inputs);
        assert!(error(&exact[0], &expected) < 1e-12, "seed {seed}: outputs");
        let uncapped = naive::outputs(&relu_in_place(&network), &parameters, &inputs);
        capped += usize::from(error(&uncapped, &expected) > 1e-3);

        let h = 1e-7;
        let (plus, minus) = (of(&cpu, &moved(&parameters, &v, h)), of(&cpu, &moved(&parameters, &v, -h)));
        let difference: Vec<f64> = plus[1].iter().zip(&minus[1]).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        let slope = (naive::loss(&problem, &moved(&parameters, &v, h))
            - naive::loss(&problem, &moved(&parameters, &v, -h)))
            / (2.0 * h);
        let along = dot(&exact[1], &v);
        assert!((slope - along).abs() <= 1e-5 * (1.0 + along.abs()), "seed {seed}: slope {slope}, expected {along}");
        // A saturated softmax leaves gradients whose differences are rounding.
        let norm = |x: &[f64]| dot(x, x).sqrt();
        let apart: Vec<f64> = exact[2].iter().zip(&difference).map(|(a, b)| a - b).collect();
        let allowed = 1e-6 * norm(&exact[2]) + 1e-7 * norm(&exact[1]);
        assert!(norm(&apart) < allowed, "seed {seed}: {} of {} {}", norm(&apart), norm(&exact[2]), norm(&exact[1]));
        for device in [Device::cpu(Precision::F32), gpu()] {
            for (what, (found, exact)) in
                ["outputs", "gradient", "product"].iter().zip(of(&device, &parameters).iter().zip(&exact))
            {
                let found = error(found, exact);
                assert!(found < 1e-4, "seed {seed}, {what} on {:?}: {found:.1e}", device.info());
            }
        }
    }
    assert!(capped > 12, "only {capped} of 24 networks had a unit above 6");
}

/// The network with ReLUs in place of those that are cut off.
fn relu_in_place(network: &Network) -> Network {
    let text = serde_json::to_string(network).expect("a JSON").replace("relu6", "relu");
    Network::from_json(&text).expect("a network")
}
