//! Spectra of networks' operators: parts, exact traces, norms, diagonals, densities, and what theory says of them.

use crate::support::reflected::{Reflected, Rotated, any_engine};
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::{
    Lanczos, PowerIteration, SpectralDensity, StochasticLanczos, dense_matrix, dense_spectrum, diagonal,
    hutch_plus_plus, hutchinson, trace_and_norm,
};
use isoflat::measure::{
    DENSE_LIMIT, Measure, MeasureOptions, TraceMethod, diagonal_by, exact_trace, measure, petzka, trace_by,
};
use isoflat::operator::{Connection, Metric, OperatorKind, Part, Whole};
use isoflat::{Control, ErrorCode, Loss, Network, Problem};

fn whole_kinds() -> Vec<OperatorKind> {
    let gauss_newton = [Metric::Layerwise, Metric::Nodewise].map(OperatorKind::riemannian_gauss_newton);
    OperatorKind::ALL.into_iter().chain(gauss_newton).collect()
}

fn prepared(device: &Device, problem: &Problem, parameters: &[f64]) -> Engine {
    let engine = Engine::new(device, problem).expect("an engine");
    pollster::block_on(engine.prepare(parameters)).expect("a point");
    engine
}

/// Networks of piecewise linear activations, dense and of images, with both losses, at random points.
fn for_random_networks(count: u64, work: impl Fn(u64, &Problem, &[f64])) {
    for seed in 0..count {
        let mut rng = rng(900 + seed);
        let network = any_network(&mut rng, seed, &HOMOGENEOUS);
        let loss = if seed % 4 < 2 { Loss::CrossEntropy } else { Loss::SquaredError };
        let problem = random_problem(&mut rng, network.clone(), loss);
        let parameters = random_parameters(&mut rng, &network);
        work(seed, &problem, &parameters);
    }
}

fn matrix(engine: &Engine, kind: OperatorKind) -> Vec<f64> {
    pollster::block_on(async {
        let operator = kind.operator(engine).await.expect("an operator");
        dense_matrix(&operator, &Control::default()).await.expect("a matrix")
    })
}

fn trace(matrix: &[f64], n: usize) -> f64 {
    matrix.iter().step_by(n + 1).sum()
}

/// The Gauss–Newton matrix is S Sᵀ: it has no more eigenvalues other than 0 than S has columns, and often as many.
#[test]
fn gauss_newton_matrices_have_no_more_eigenvalues_than_the_data_give_them() {
    for_random_networks(40, |seed, problem, parameters| {
        let engine = prepared(&Device::cpu(Precision::F64), problem, parameters);
        for kind in [OperatorKind::GAUSS_NEWTON, OperatorKind::riemannian_gauss_newton(Metric::Layerwise)] {
            let most = kind.most_nonzero(problem).expect("a bound");
            let operator = pollster::block_on(kind.operator(&engine)).expect("an operator");
            let values =
                pollster::block_on(dense_spectrum(&operator, 1e-9, &Control::default())).expect("values").values;
            let largest = values.last().copied().unwrap_or(0.0);
            let found = values.iter().filter(|value| **value > 1e-10 * largest).count();
            assert!(found <= most, "seed {seed}, {kind}: {found} of at most {most}");
        }
        assert_eq!(OperatorKind::HESSIAN.most_nonzero(problem), None);
    });
    // One layer of enough inputs: every sample and output has a direction of its own.
    for (loss, columns) in [(Loss::CrossEntropy, 2), (Loss::SquaredError, 3)] {
        let network = Network::dense(&[30, 3], false).expect("a network");
        let mut rng = rng(8);
        let problem = random_problem(&mut rng, network.clone(), loss);
        let engine = prepared(&Device::cpu(Precision::F64), &problem, &random_parameters(&mut rng, &network));
        let operator = pollster::block_on(OperatorKind::GAUSS_NEWTON.operator(&engine)).expect("an operator");
        let values = pollster::block_on(dense_spectrum(&operator, 1e-9, &Control::default())).expect("values").values;
        let found = values.iter().filter(|value| **value > 1e-10 * values[values.len() - 1]).count();
        assert_eq!(Some(found), OperatorKind::GAUSS_NEWTON.most_nonzero(&problem));
        assert_eq!(found, columns * problem.samples());
    }
}

#[test]
fn names_and_kinds_belong_together() {
    for kind in whole_kinds() {
        for kind in [kind, kind.over(Part::Weights), kind.over(Part::Layer(2))] {
            assert_eq!(OperatorKind::from_name(&kind.name()).expect("a kind"), kind);
        }
    }
    assert_eq!(OperatorKind::HESSIAN.over(Part::Layer(2)).name(), "hessian.layer_3");
    for strange in
        ["hesian", "hessian.layer_0", "hessian.layer_", "hessian.biases", "layer_1", "hessian.weights.weights"]
    {
        assert_eq!(OperatorKind::from_name(strange).expect_err(strange).code, ErrorCode::InvalidOption);
    }
    let network = Network::dense(&[2, 3, 2], true).expect("a network");
    let problem = random_problem(&mut rng(0), network.clone(), Loss::CrossEntropy);
    let engine = prepared(&Device::cpu(Precision::F64), &problem, &random_parameters(&mut rng(1), &network));
    let beyond = OperatorKind::HESSIAN.over(Part::Layer(2));
    let error = pollster::block_on(beyond.operator(&engine)).expect_err("a fault");
    assert!(error.message.contains("layer_3") && error.message.contains("layer_2"), "{error}");
    assert!(pollster::block_on(exact_trace(&engine, beyond, &Control::default())).is_err());
}

#[test]
fn parts_are_principal_submatrices_of_their_own_length() {
    for device in [Device::cpu(Precision::F64), gpu()] {
        for_random_networks(6, |seed, problem, parameters| {
            let engine = prepared(&device, problem, parameters);
            let layout = problem.network().layout();
            let n = parameters.len();
            for kind in whole_kinds() {
                let whole = matrix(&engine, kind);
                let layers = (0..layout.layers().len()).map(Part::Layer);
                for part in layers.chain([Part::Weights]) {
                    let places: Vec<usize> = part.ranges(layout).expect("ranges").into_iter().flatten().collect();
                    let found = matrix(&engine, kind.over(part));
                    let expected: Vec<f64> = places
                        .iter()
                        .flat_map(|&j| places.iter().map(move |&i| (i, j)))
                        .map(|(i, j)| whole[j * n + i])
                        .collect();
                    // The same products of the same columns.
                    assert_eq!(found, expected, "{seed}: {kind} over {part}");
                }
            }
        });
    }
}

#[test]
fn within_a_layer_the_hessian_is_the_gauss_newton_matrix_weights_and_biases_together() {
    for_random_networks(12, |seed, problem, parameters| {
        let engine = prepared(&Device::cpu(Precision::F64), problem, parameters);
        let n = parameters.len();
        let (h, g) = (matrix(&engine, OperatorKind::HESSIAN), matrix(&engine, OperatorKind::GAUSS_NEWTON));
        let scale = h.iter().chain(&g).fold(0.0, |m: f64, v| m.max(v.abs()));
        for layer in problem.network().layout().layers() {
            let range = layer.weight.start..layer.bias.as_ref().map_or(layer.weight.end, |bias| bias.end);
            for i in range.clone() {
                for j in range.clone() {
                    assert!((h[j * n + i] - g[j * n + i]).abs() < 1e-12 * scale, "{seed}: {i}, {j}");
                }
            }
        }
    });
}

/// Every trace by the sweep is the sum of the matrix's diagonal: of all operators, whole and in parts.
#[test]
fn swept_traces_are_dense_traces() {
    for device in [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()] {
        for_random_networks(8, |seed, problem, parameters| {
            let engine = prepared(&device, problem, parameters);
            let layers = problem.network().layout().layers().len();
            for kind in whole_kinds() {
                for kind in [kind, kind.over(Part::Weights), kind.over(Part::Layer(layers - 1))] {
                    let found = pollster::block_on(exact_trace(&engine, kind, &Control::default()));
                    let found = found.expect("a trace").expect("an exact one");
                    let matrix = matrix(&engine, kind);
                    let n = matrix.len().isqrt();
                    let scale: f64 = matrix.iter().step_by(n + 1).map(|v| v.abs()).sum();
                    // Terms of the Levi-Civita connection cancel within a block: n times their size is lost to rounding.
                    let scale = scale + kind_scale(&engine, kind, parameters, n);
                    // As in support/golden.rs: three passes through L layers, sums over the samples, and 8 for
                    // the condition.
                    let rounding =
                        24.0 * layers as f64 * device.info().precision.epsilon() * (problem.samples() as f64).sqrt();
                    let expected = trace(&matrix, n);
                    assert!(
                        (found - expected).abs() <= rounding * scale,
                        "{seed}: {kind} on {:?}: {found}, expected {expected}",
                        device.info()
                    );
                }
            }
        });
    }
}

/// n Σ |w_i g_i| for the Levi-Civita connection, otherwise 0.
fn kind_scale(engine: &Engine, kind: OperatorKind, parameters: &[f64], n: usize) -> f64 {
    let Whole::Riemannian(_, Connection::LeviCivita) = kind.whole else { return 0.0 };
    let gradient = pollster::block_on(engine.gradient()).expect("a gradient");
    n as f64 * gradient.iter().zip(parameters).map(|(g, w)| (g * w).abs()).sum::<f64>()
}

#[test]
fn of_a_smooth_network_the_gauss_newton_trace_alone_is_exact() {
    // Each one once: a new GPU compiles its kernels again.
    let devices = [Device::cpu(Precision::F64), gpu()];
    for seed in 0..6 {
        let mut rng = rng(40 + seed);
        let network = any_network(&mut rng, seed, SMOOTH);
        if network.is_piecewise_linear() {
            continue;
        }
        let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
        for device in &devices {
            let engine = prepared(device, &problem, &random_parameters(&mut rng, &network));
            for kind in whole_kinds() {
                let found = pollster::block_on(exact_trace(&engine, kind, &Control::default())).expect("no fault");
                let is_gauss_newton =
                    kind == OperatorKind::GAUSS_NEWTON || matches!(kind.whole, Whole::RiemannianGaussNewton(_));
                assert_eq!(found.is_some(), is_gauss_newton, "{kind}");
                if let Some(found) = found {
                    let n = network.parameter_count();
                    let expected = trace(&matrix(&engine, kind), n);
                    let layers = network.layout().layers().len() as f64;
                    let rounding = 24.0 * layers * device.info().precision.epsilon() * 5.0;
                    assert!((found - expected).abs() <= rounding * expected, "{seed}: {kind}: {found}, {expected}");
                }
            }
        }
    }
}

/// What ties the papers together: Petzka's κ are about the diagonal blocks of Rangamani's operator over the weights.
#[test]
fn petzkas_measures_bound_the_layerwise_riemannian_operator_over_weights() {
    for_random_networks(16, |seed, problem, parameters| {
        let engine = prepared(&Device::cpu(Precision::F64), problem, parameters);
        pollster::block_on(async {
            let control = Control::default();
            let traces = petzka::traces(&engine, &control).await.expect("traces");
            let kappa = petzka::kappa(&engine, &MeasureOptions::default(), &control).await.expect("κ");
            let kappa: Vec<f64> = kappa.iter().map(|pair| pair.value).collect();
            let (max, sum) = (kappa.iter().copied().fold(0.0, f64::max), kappa.iter().sum::<f64>());
            let trace_sum: f64 = traces.kappa_trace.iter().sum();
            for kind in [
                OperatorKind::riemannian(Metric::Layerwise, Connection::Flat),
                OperatorKind::riemannian_gauss_newton(Metric::Layerwise),
            ] {
                let weights = kind.over(Part::Weights);
                let operator = weights.operator(&engine).await.expect("an operator");
                let spectrum = dense_spectrum(&operator, 1e-9, &control).await.expect("a spectrum");
                assert!((spectrum.trace - trace_sum).abs() <= 1e-11 * trace_sum, "{seed}: {weights}");
                if kind == OperatorKind::riemannian_gauss_newton(Metric::Layerwise) {
                    // κ converges within 1e-9 of the norm.
                    let slack = 1e-9 * sum;
                    let largest = spectrum.values[spectrum.values.len() - 1];
                    assert!(max <= largest + slack && largest <= sum + slack, "{seed}: {max}, {largest}, {sum}");
                }
            }
        });
    });
}

#[test]
fn hutch_plus_plus_beats_hutchinson_at_equal_products_on_a_decaying_spectrum() {
    let d: Vec<f64> = (1..=200).map(|i| f64::from(i).powi(-2)).collect();
    let (exact, products, seeds) = (d.iter().sum::<f64>(), 60, 20);
    for device in [Device::cpu(Precision::F64), gpu()] {
        let engine = any_engine(&device);
        let operator = Rotated::new(&engine, &d);
        let control = Control::default();
        let (mut plain, mut better, mut standardised) = (0.0, 0.0, 0.0);
        for seed in 0..seeds {
            let hutchinson = pollster::block_on(hutchinson(&operator, products, seed, &control)).expect("a trace");
            let found = pollster::block_on(trace_and_norm(&operator, products, seed, &control)).expect("a trace");
            assert_eq!(found.products, products);
            assert!(found.trace.standard_error > 0.0);
            plain += (hutchinson.value - exact).powi(2);
            better += (found.trace.value - exact).powi(2);
            standardised += ((found.trace.value - exact) / found.trace.standard_error).powi(2);
        }
        // Variances are 2 ‖A‖_F² / 60, and 2 ‖A_rest‖_F² / 20 with 20 random combinations deflated. Those leave about twice what
        // the best 10 directions do: 2 Σ_{i>10} i⁻⁴ / Σ i⁻⁴ ≈ 6e-4. Times 3, and 10 for the chance of 20 runs each.
        assert!(better < 0.02 * plain, "{better:e}, {plain:e}");
        // Errors over error bars have mean square 19/17 (Student, 19 degrees of freedom), over 20 runs ± 4 √(2/20).
        assert!(standardised / (seeds as f64) < 2.5, "{standardised}");
    }
}

#[test]
fn norms_and_traces_lie_within_their_error_bars() {
    let mut spectra = vec![vec![0.0; 30], [vec![2.0], vec![0.0; 60]].concat(), vec![1.5; 40]];
    spectra.push((0..200).map(|i| (f64::from(i) * 0.9).sin()).collect());
    for device in [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()] {
        let engine = any_engine(&device);
        for d in &spectra {
            let operator = Reflected::new(&engine, d);
            let (trace, norm) = (d.iter().sum::<f64>(), d.iter().map(|v| v * v).sum::<f64>().sqrt());
            // Rounding of sums over n terms of the norm's size.
            let rounding = 16.0 * device.info().precision.epsilon() * norm * (d.len() as f64).sqrt();
            for products in [4, 30, 3 * d.len() + 7] {
                let found =
                    pollster::block_on(trace_and_norm(&operator, products, 3, &Control::default())).expect("both");
                let is_whole = products >= d.len();
                assert_eq!(found.products, products.min(d.len()));
                // Two probes alone know little of their spread: their error bars are Student's with one degree of freedom.
                let bars = if found.trace.probes == 2 { 60.0 } else { 4.5 };
                let limit = |error: f64| bars * error + rounding;
                assert!((found.trace.value - trace).abs() <= limit(found.trace.standard_error), "{found:?}, {trace}");
                assert!((found.norm.value - norm).abs() <= limit(found.norm.standard_error), "{found:?}, {norm}");
                if is_whole {
                    assert_eq!((found.trace.standard_error, found.norm.standard_error), (0.0, 0.0));
                }
            }
        }
    }
}

#[test]
fn too_few_products_are_refused() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    let operator = Reflected::new(&engine, &[1.0; 9]);
    let control = Control::default();
    let (lanczos, power) = (Lanczos::default(), PowerIteration::default());
    for error in [
        pollster::block_on(hutch_plus_plus(&operator, 3, 0, &control)).expect_err("too few"),
        pollster::block_on(diagonal(&operator, 1, 0, &control)).expect_err("too few"),
        pollster::block_on(Lanczos { max_products: 0, ..lanczos }.run(&operator, &control)).expect_err("none"),
        pollster::block_on(PowerIteration { max_products: 0, ..power }.run(&operator, &control)).expect_err("none"),
    ] {
        assert_eq!(error.code, ErrorCode::InvalidOption);
    }
    // Where a sweep needs none of them, too.
    for_random_networks(1, |_, problem, parameters| {
        let engine = prepared(&Device::cpu(Precision::F64), problem, parameters);
        let hessian = OperatorKind::HESSIAN;
        let trace = trace_by(&engine, hessian, TraceMethod::Auto, 3, 0, &control);
        assert_eq!(pollster::block_on(trace).expect_err("too few").code, ErrorCode::InvalidOption);
        let diagonal = diagonal_by(&engine, hessian, 1, 0, &control);
        assert_eq!(pollster::block_on(diagonal).expect_err("too few").code, ErrorCode::InvalidOption);
    });
    for options in [
        StochasticLanczos { probes: 1, ..StochasticLanczos::default() },
        StochasticLanczos { steps: 1, ..StochasticLanczos::default() },
        StochasticLanczos { points: 1, ..StochasticLanczos::default() },
        StochasticLanczos { width: Some(0.0), ..StochasticLanczos::default() },
        StochasticLanczos { width: Some(1e-6), ..StochasticLanczos::default() },
    ] {
        let operator = Reflected::new(&engine, &[1.0, 2.0, 3.0]);
        let error = pollster::block_on(options.run(&operator, &control)).expect_err("out of range");
        assert_eq!(error.code, ErrorCode::InvalidOption, "{options:?}");
    }
}

#[test]
fn diagonals_are_exact_or_within_their_error_bars() {
    for_random_networks(4, |seed, problem, parameters| {
        let engine = prepared(&Device::cpu(Precision::F64), problem, parameters);
        let n = parameters.len();
        let matrix = matrix(&engine, OperatorKind::HESSIAN);
        let expected: Vec<f64> = matrix.iter().step_by(n + 1).copied().collect();
        pollster::block_on(async {
            let (operator, control) =
                (OperatorKind::HESSIAN.operator(&engine).await.expect("an operator"), Control::default());
            let exact = diagonal(&operator, n, 1, &control).await.expect("a diagonal");
            assert_eq!((exact.values, exact.probes), (expected.clone(), 0), "{seed}");
            let probes = n / 2;
            if probes < 20 {
                return;
            }
            let found = diagonal(&operator, probes, 1, &control).await.expect("a diagonal");
            assert_eq!((found.probes, found.products), (probes, probes));
            for i in 0..n {
                let row: f64 = (0..n).filter(|&j| j != i).map(|j| matrix[j * n + i].powi(2)).sum();
                // The spread that theory gives an entry: the row without its diagonal, over √probes.
                let spread = (row / probes as f64).sqrt();
                let error = (found.values[i] - expected[i]).abs();
                assert!(error <= 5.0 * spread + 1e-15, "{seed}: entry {i} is off by {error}, spread {spread}");
                assert!(found.standard_errors[i] <= 2.0 * spread + 1e-15, "{seed}: entry {i}");
            }
        });
    });
}

fn integral(density: &SpectralDensity) -> f64 {
    density.density.iter().sum::<f64>() * (density.grid[1] - density.grid[0])
}

/// A density's own promises, and its moments against the matrix.
fn check_density(what: &str, found: &SpectralDensity, values: &[f64], epsilon: f64) {
    let n = values.len() as f64;
    // The margins leave out 2e-9; Ritz weights sum to 1 within rounding.
    let rounding = 64.0 * epsilon * (found.steps as f64).max(1.0);
    assert!((integral(found) - 1.0).abs() < 1e-8 + rounding, "{what}: {}", integral(found));
    assert!((found.cumulative[found.cumulative.len() - 1] - 1.0).abs() < 1e-8 + rounding, "{what}");
    assert!(found.cumulative.is_sorted() && found.grid.is_sorted(), "{what}");
    assert_eq!(found.dimension, values.len());
    let scale = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    for moment in &found.moments {
        let expected = values.iter().map(|v| v.powi(moment.order)).sum::<f64>() / n;
        let limit = 4.5 * moment.standard_error + rounding * scale.powi(moment.order);
        assert!((moment.value - expected).abs() <= limit, "{what}: {moment:?}, expected {expected}");
    }
}

#[test]
fn densities_integrate_to_one_and_have_the_spectrums_moments() {
    // A thousand products each, one after the other: of a dense network and one over images on a software GPU, which takes ten times as long.
    for (device, count) in [(Device::cpu(Precision::F64), 6), (gpu(), 2)] {
        let epsilon = device.info().precision.epsilon();
        for_random_networks(count, |seed, problem, parameters| {
            let engine = prepared(&device, problem, parameters);
            for kind in [
                OperatorKind::HESSIAN,
                OperatorKind::GAUSS_NEWTON,
                OperatorKind::ALL[2].over(Part::Weights),
                OperatorKind::HESSIAN.over(Part::Layer(0)),
            ] {
                pollster::block_on(async {
                    let (operator, control) = (kind.operator(&engine).await.expect("an operator"), Control::default());
                    let spectrum = dense_spectrum(&operator, 1e-4, &control).await.expect("a spectrum");
                    let options = StochasticLanczos { probes: 30, steps: 40, seed, ..StochasticLanczos::default() };
                    let found = options.run(&operator, &control).await.expect("a density");
                    assert_eq!((found.probes, found.seed), (30, seed));
                    check_density(&format!("{seed}: {kind}"), &found, &spectrum.values, epsilon);
                    let exact = options.exact(&spectrum.values, &control).await.expect("a density");
                    check_density(&format!("{seed}: {kind}, exact"), &exact, &spectrum.values, epsilon);
                });
            }
        });
    }
}

/// Point by point, against the broadened exact spectrum.
#[test]
fn a_density_lies_within_its_error_bands() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    let d: Vec<f64> =
        (0..500).map(|i| if i < 10 { 2.0 + f64::from(i) * 0.2 } else { (f64::from(i) * 0.37).sin() }).collect();
    let operator = Reflected::new(&engine, &d);
    let options =
        StochasticLanczos { probes: 20, steps: 100, width: Some(0.05), points: 300, ..StochasticLanczos::default() };
    let found = pollster::block_on(options.run(&operator, &Control::default())).expect("a density");
    let options_exact = StochasticLanczos { points: 4000, ..options.clone() };
    let exact = pollster::block_on(options_exact.exact(&d, &Control::default())).expect("a density");
    let at = |t: f64| {
        let spacing = exact.grid[1] - exact.grid[0];
        exact.density[(((t - exact.grid[0]) / spacing).round().max(0.0) as usize).min(exact.grid.len() - 1)]
    };
    // Half a spacing of the fine grid moves the density by at most its slope, below height / (σ √e).
    let largest = exact.density.iter().copied().fold(0.0, f64::max);
    let slack = 0.5 * (exact.grid[1] - exact.grid[0]) * largest / 0.05;
    for ((&t, density), error) in found.grid.iter().zip(&found.density).zip(&found.density_error) {
        let off = (density - at(t)).abs();
        assert!(off <= 4.5 * error + found.quadrature_error + slack, "at {t}: {density}, expected {}, {error}", at(t));
    }
    assert!(found.quadrature_error < 0.01 * largest, "{}", found.quadrature_error);
    assert_eq!(found.products, 20 * 100);
    // The same seed, the same bits.
    assert_eq!(pollster::block_on(options.run(&operator, &Control::default())).expect("a density"), found);
}

#[test]
fn densities_of_degenerate_operators_are_spikes() {
    for device in [Device::cpu(Precision::F64), gpu()] {
        let engine = any_engine(&device);
        for d in [vec![0.0; 40], vec![-3.0; 40], [vec![5.0], vec![0.0; 79]].concat()] {
            let operator = Reflected::new(&engine, &d);
            let options = StochasticLanczos { probes: 40, ..StochasticLanczos::default() };
            let found = pollster::block_on(options.run(&operator, &Control::default())).expect("a density");
            check_density("a spike", &found, &d, device.info().precision.epsilon());
        }
    }
}

/// Above the limit of whole spectra traces are exact without a standard error, and norms are estimated with one.
#[test]
fn measures_of_larger_networks_agree_with_dense_spectra() {
    let network = Network::dense(&[12, 26, 24, 4], true).expect("a network");
    assert!(network.parameter_count() > DENSE_LIMIT);
    let mut rng = rng(8);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    let engine = prepared(&Device::cpu(Precision::F64), &problem, &parameters);
    let keys = [
        "hessian.trace",
        "hessian.frobenius_norm",
        "gauss_newton.trace",
        "gauss_newton.frobenius_norm",
        "riemannian.layerwise_flat.trace",
        "riemannian.layerwise_levi_civita.trace",
        "riemannian.nodewise_flat.trace",
        "riemannian.nodewise_levi_civita.trace",
    ];
    let measures: Vec<_> = keys.iter().map(|key| Measure::from_key(key).expect("a measure")).collect();
    let with_ends: Vec<_> = ["hessian.max_eigenvalue", "gauss_newton.max_eigenvalue"]
        .into_iter()
        .map(|key| Measure::from_key(key).expect("a measure"))
        .chain(measures.iter().copied().filter(|measure| measure.key.ends_with("norm")))
        .collect();
    let (options, control) = (MeasureOptions::default(), Control::default());
    let of = |measures: &[_]| {
        pollster::block_on(measure(&engine, &parameters, measures, &options, &control)).expect("values")
    };
    let (alone, with_ends) = (of(&measures), of(&with_ends).split_off(2));
    // A search for the ends leaves a sixth of the products to do, one that is soon at its end too: it goes on for a few.
    let products: Vec<_> = with_ends.iter().map(|value| value.iterations).collect();
    assert_eq!(products, [Some(options.probes.div_ceil(6)); 2], "{with_ends:?}");
    for value in alone.into_iter().chain(with_ends) {
        let (kind, what) = value.key.rsplit_once('.').expect("an operator and a quantity");
        let kind = OperatorKind::from_name(kind).expect("an operator");
        let matrix = matrix(&engine, kind);
        let norm = matrix.iter().map(|v| v * v).sum::<f64>().sqrt();
        if what == "trace" {
            let expected = trace(&matrix, network.parameter_count());
            assert_eq!(value.standard_error, None);
            assert!((value.value - expected).abs() < 1e-12 * norm, "{value:?}, expected {expected}");
        } else {
            let error = value.standard_error.expect("a standard error");
            // The Gauss–Newton matrix has so low a rank here that nothing is left to estimate: rounding remains.
            assert!((value.value - norm).abs() < 4.5 * error + 1e-13 * norm, "{value:?}, expected {norm}");
            assert!(error < 0.1 * norm, "{value:?}");
        }
    }
}

/// κ and κ_τ need no homogeneity: of smooth networks they are read off the Hessian's own blocks.
#[test]
fn petzkas_kappas_of_smooth_networks_are_their_hessians() {
    let device = Device::cpu(Precision::F64);
    for seed in 0..12 {
        let mut rng = rng(1900 + seed);
        let network = any_network(&mut rng, seed, SMOOTH);
        let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
        let parameters = random_parameters(&mut rng, &network);
        let engine = prepared(&device, &problem, &parameters);
        let (mut kappas, mut traces) = (Vec::new(), Vec::new());
        for (l, layer) in network.layout().layers().iter().enumerate() {
            let operator =
                pollster::block_on(OperatorKind::HESSIAN.over(Part::Layer(l)).operator(&engine)).expect("one");
            let found = pollster::block_on(dense_spectrum(&operator, 1e-9, &Control::default())).expect("values");
            let square: f64 = parameters[layer.weight.clone()].iter().map(|w| w * w).sum();
            kappas.push(square * found.max.value);
            traces.push(square * found.trace);
        }
        let largest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scale = kappas.iter().chain(&traces).fold(0.0, |m, v| f64::max(m, v.abs()));
        for (key, expected) in [
            ("petzka.kappa_max", largest(&kappas)),
            ("petzka.kappa_sum", kappas.iter().sum()),
            ("petzka.kappa_trace_max", largest(&traces)),
            ("petzka.kappa_trace_sum", traces.iter().sum()),
        ] {
            let one = Measure::from_key(key).expect("a measure");
            let (options, control) = (MeasureOptions::default(), Control::default());
            let found = pollster::block_on(measure(&engine, &parameters, &[one], &options, &control));
            let found = found.expect("a value")[0].value;
            assert!((found - expected).abs() <= 1e-6 * scale, "seed {seed} {key}: {found}, {expected}");
        }
    }
}
