//! Cross-entropy where the network is sure of itself: 1 − p keeps its digits in losses, gradients, products and traces.

use crate::support::*;
use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::linalg::dense_matrix;
use isoflat::measure::{exact_diagonal, exact_trace};
use isoflat::operator::OperatorKind;
use isoflat::{Control, Loss, Network, Problem, Targets};
use pollster::block_on;

/// Biases alone act, since the inputs are 0: the outputs are z, in every sample.
fn at(device: &Device, z: &[f64], label: u32, samples: usize) -> Engine {
    let network = Network::dense(&[2, z.len()], true).expect("a network");
    let parameters = [vec![0.5; 2 * z.len()], z.to_vec()].concat();
    let problem =
        Problem::new(network, Loss::CrossEntropy, vec![0.0; 2 * samples], Targets::Classes(vec![label; samples]));
    let engine = Engine::new(device, &problem.expect("a problem")).expect("an engine");
    block_on(engine.prepare(&parameters)).expect("a point");
    engine
}

/// p, and 1 − p, from the classes beside the likeliest: no difference of numbers near 1 is taken.
fn softmax(z: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let best = (0..z.len()).max_by(|&a, &b| z[a].total_cmp(&z[b])).expect("a class");
    let e: Vec<f64> = z.iter().map(|x| (x - z[best]).exp()).collect();
    let sum_but = |left_out: usize| e.iter().enumerate().filter(|(c, _)| *c != left_out).map(|(_, e)| e).sum::<f64>();
    let total = 1.0 + sum_but(best);
    (e.iter().map(|e| e / total).collect(), (0..z.len()).map(|c| sum_but(c) / total).collect())
}

#[track_caller]
fn near(what: &str, found: &[f64], expected: &[f64], limit: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= limit * expected.abs(), "{what}[{i}]: {found:e}, expected {expected:e}");
    }
}

#[test]
fn confidence_costs_no_digits() {
    let control = Control::default();
    for (device, margins, limit) in [
        (Device::cpu(Precision::F64), vec![0.0, 3.0, 20.0, 36.0, 45.0, 200.0, 600.0], 1e-13),
        (Device::cpu(Precision::F32), vec![0.0, 3.0, 16.0, 30.0, 70.0], 1e-5),
        (gpu(), vec![0.0, 3.0, 16.0, 30.0, 70.0], 1e-5),
    ] {
        for margin in margins {
            // Whole and half numbers, so that single precision has the same outputs.
            let z = [-1.0, 0.5 + margin, 0.0, -2.5];
            let (p, q) = softmax(&z);
            for label in [1, 0] {
                let what = format!("margin {margin}, label {label} on {:?}", device.info());
                let engine = at(&device, &z, label as u32, 19);
                let loss = block_on(engine.loss()).expect("a loss");
                let expected = (q[1] / p[1]).ln_1p() + (z[1] - z[label]);
                near(&format!("{what}: loss"), &[loss], &[expected], limit);
                let evaluated = block_on(engine.evaluate(&engine.parameters().expect("a point"))).expect("a loss").loss;
                near(&format!("{what}: evaluated loss"), &[evaluated], &[expected], limit);
                let gradient = block_on(engine.gradient()).expect("a gradient");
                let expected: Vec<f64> = (0..4).map(|c| if c == label { -q[c] } else { p[c] }).collect();
                near(&format!("{what}: gradient"), &gradient[8..], &expected, limit);
                let kind = OperatorKind::HESSIAN;
                let operator = block_on(kind.operator(&engine)).expect("an operator");
                let matrix = block_on(dense_matrix(&operator, &control)).expect("a matrix");
                for i in 0..4 {
                    let expected: Vec<f64> = (0..4).map(|j| if i == j { p[i] * q[i] } else { -p[i] * p[j] }).collect();
                    let row = &matrix[12 * (8 + i) + 8..][..4];
                    // Of two unlikely classes the entry is the square of what is small, beside which rounding is not.
                    let scale = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
                    for (found, expected) in row.iter().zip(&expected) {
                        assert!(
                            (found - expected).abs() <= limit * scale,
                            "{what}: row {i} is {row:?}, not {expected}"
                        );
                    }
                }
                let diagonal: Vec<f64> = (0..4).map(|c| p[c] * q[c]).collect();
                let trace = block_on(exact_trace(&engine, kind, &control)).expect("a trace").expect("an exact one");
                near(&format!("{what}: trace"), &[trace], &[diagonal.iter().sum()], limit);
                let found = block_on(exact_diagonal(&engine, kind, &control)).expect("entries").expect("exact ones");
                near(&format!("{what}: diagonal"), &found.values[8..], &diagonal, limit);
            }
        }
    }
}

/// Processors take ten times as long at them, and networks that are trained for long leave nearly nothing else: classes that are as good
/// as excluded are excluded, in single precision, and what is above keeps its digits.
#[test]
fn what_is_next_to_nothing_leaves_no_subnormal_numbers() {
    let control = Control::default();
    let z = [0.0, -60.0, -70.0, -80.0, -90.0, -100.0];
    let engine = at(&Device::cpu(Precision::F32), &z, 0, 19);
    let (p, q) = softmax(&z);
    let gradient = block_on(engine.gradient()).expect("a gradient");
    near("the gradient", &gradient[12..15], &[-q[0], p[1], p[2]], 1e-5);
    assert_eq!(gradient[15..], [0.0; 3], "e^-80 and less of 19 samples");
    let operator = block_on(OperatorKind::HESSIAN.operator(&engine)).expect("an operator");
    let matrix = block_on(dense_matrix(&operator, &control)).expect("a matrix");
    near("the Hessian's diagonal", &[14].map(|i| matrix[18 * i + i]), &[p[2]], 1e-5);
    assert_eq!([15, 16, 17].map(|i| matrix[18 * i + i]), [0.0; 3]);
}

#[test]
fn a_common_shift_of_a_direction_changes_nothing() {
    // (diag p − p pᵀ) 1 = 0: what all outputs have in common, however large, leaves what they differ in.
    let z = [0.0, 30.0, 1.0, -2.0];
    let engine = at(&Device::cpu(Precision::F64), &z, 1, 5);
    let product = |shift: f64| {
        let v = [vec![0.0; 8], vec![1.0 + shift, shift, 2.0 + shift, -1.0 + shift]].concat();
        block_on(engine.product(Curvature::GaussNewton, &v)).expect("a product")
    };
    near("product", &product(1024.0)[8..], &product(0.0)[8..], 1e-12);
}
