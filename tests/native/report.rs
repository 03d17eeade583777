//! The report of a point: what was asked for is there, what is not defined is absent, and a stop loses nothing that is finished.

use std::cell::{Cell, RefCell};

use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::dense_spectrum;
use isoflat::measure::{Measure, MeasureOptions, measure};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::operator::OperatorKind;
use isoflat::{Control, ErrorCode, Network, ProblemFile, Report, ReportOptions, Section, report_at};
use pollster::block_on;

fn golden(name: &str) -> (Engine, Vec<f64>) {
    let text = std::fs::read_to_string(format!("tests/golden/{name}.json")).expect("a golden case");
    let file = ProblemFile::from_json(&text).expect("a problem");
    (Engine::new(&Device::cpu(Precision::F64), &file.problem).expect("an engine"), file.parameters)
}

fn run(name: &str, sections: Option<&[Section]>, control: &Control<'_>) -> isoflat::Result<Report> {
    let (engine, theta) = golden(name);
    let mut options = ReportOptions { sections: sections.map(<[_]>::to_vec), ..ReportOptions::default() };
    options.measure.sharpness.pairs = Some(10);
    block_on(report_at(&engine, &theta, &options, control))
}

fn number(report: &Report, path: &[&str]) -> f64 {
    let mut value = &report.values[path[0]];
    for key in &path[1..] {
        value = &value[key];
    }
    value.as_f64().unwrap_or_else(|| panic!("{path:?} is {value}"))
}

#[test]
fn all_sections_agree_with_the_measures() {
    let report = run("mlp_bias", None, &Control::default()).expect("a report");
    assert!(!report.stopped);
    let named: Vec<_> = report.sections.iter().map(|run| run.section).collect();
    assert_eq!(named, Section::ALL);
    assert!(report.sections.iter().all(|run| run.finished));
    let (engine, theta) = golden("mlp_bias");
    let mut options = MeasureOptions::default();
    options.sharpness.pairs = Some(10);
    for (key, path) in [
        ("loss", &["loss"][..]),
        ("gradient_norm", &["gradient_norm"]),
        ("hessian.trace", &["hessian", "trace"]),
        ("riemannian.layerwise_flat.spectral_norm", &["riemannian", "layerwise_flat", "spectral_norm"]),
        ("petzka.kappa_sum", &["petzka", "kappa_sum"]),
        ("least_trace.layerwise", &["least_trace", "layerwise"]),
        ("least_trace.nodewise", &["least_trace", "nodewise"]),
        ("normalized_sharpness", &["normalized_sharpness"]),
        ("fisher_rao_norm", &["fisher_rao_norm"]),
        ("path_norm_squared", &["path_norm_squared"]),
        ("epsilon_sharpness", &["sharpness", "epsilon_sharpness", "value"]),
        ("average_sharpness_scaled", &["sharpness", "average_sharpness_scaled", "value"]),
    ] {
        let list = [Measure::from_key(key).expect("a measure")];
        let found = block_on(measure(&engine, &theta, &list, &options, &Control::default())).expect("its value");
        let (expected, found) = (found[0].value, number(&report, path));
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{key}: {found}, and alone {expected}");
    }
    // Of a spectrum that is known whole the first moment is the trace, over the number of eigenvalues.
    let moment = report.values["density"]["hessian"]["moments"][0]["value"].as_f64().expect("a number");
    let trace = number(&report, &["hessian", "trace"]) / theta.len() as f64;
    assert!((moment - trace).abs() <= 1e-9 * trace.abs());
}

/// More parameters than samples and outputs: the Gauss–Newton matrix has the eigenvalue 0, which nobody needs to look for.
#[test]
fn an_eigenvalue_that_is_zero_by_rank_takes_no_products() {
    let network = Network::dense(&[40, 30, 10], true).expect("a network");
    let problem = isoflat::data::synthetic(network.clone(), 20, 3).expect("a problem");
    let theta = network.initialize(Initialization::KaimingNormal, BiasInitialization::Uniform, 1).expect("parameters");
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let options = ReportOptions { sections: Some(vec![Section::GaussNewton]), ..ReportOptions::default() };
    let report = block_on(report_at(&engine, &theta, &options, &Control::default())).expect("a report");
    assert_eq!(number(&report, &["gauss_newton", "min_eigenvalue"]), 0.0);
    assert_eq!(report.values["gauss_newton"]["converged"], true);
    assert!(number(&report, &["gauss_newton", "products"]) < 150.0, "{}", report.values["gauss_newton"]);
    let operator = block_on(OperatorKind::GAUSS_NEWTON.operator(&engine)).expect("an operator");
    let values = block_on(dense_spectrum(&operator, 1e-9, &Control::default())).expect("a spectrum").values;
    assert!(values[0].abs() < 1e-10 * values[values.len() - 1]);
    let largest = number(&report, &["gauss_newton", "max_eigenvalue"]);
    assert!((largest - values[values.len() - 1]).abs() <= 1e-9 * largest);
}

#[test]
fn a_wish_to_finish_hands_over_what_is_finished() {
    let stop = Cell::new(false);
    let control = Control::default()
        .on_progress(|progress| {
            if progress.phase.starts_with("hessian: ") {
                stop.set(true);
            }
        })
        .finish_when(|| stop.get());
    let report = run("conv_lenet_tiny", None, &control).expect("a report");
    assert!(report.stopped);
    let finished: Vec<_> = report.sections.iter().filter(|run| run.finished).map(|run| run.section).collect();
    assert_eq!(finished, [Section::Point, Section::Norms, Section::Petzka, Section::Orbit, Section::GaussNewton]);
    assert!(report.values.contains_key("petzka") && !report.values.contains_key("hessian"));
}

#[test]
fn a_stop_hands_over_nothing() {
    let stop = Cell::new(false);
    let control = Control::default().on_progress(|_| stop.set(true)).stop_when(|| stop.get());
    let error = run("conv_lenet_tiny", None, &control).expect_err("a stop");
    assert_eq!(error.code, ErrorCode::Aborted);
}

#[test]
fn progress_names_the_section_and_what_remains() {
    let seen = RefCell::new(Vec::new());
    let control = Control::default().on_progress(|progress| seen.borrow_mut().push(progress.clone()));
    let sections = [Section::Riemannian, Section::Hessian];
    run("mlp_one_hidden", Some(&sections), &control).expect("a report");
    let seen = seen.borrow();
    assert!(seen[0].phase.starts_with("hessian: "), "the cheaper section comes first: {}", seen[0].phase);
    assert!(seen[seen.len() - 1].phase.starts_with("riemannian: "));
    for progress in seen.iter() {
        assert_eq!(progress.numbers["sections"], 2.0);
        let remaining = progress.numbers["remainingSeconds"];
        assert!(remaining.is_finite() && remaining >= 0.0);
    }
    let remaining = |i: usize| seen[i].numbers["remainingSeconds"];
    assert!(remaining(0) > 0.0, "something remains at the beginning");
}

#[test]
fn options_that_nothing_could_be_computed_by_are_refused() {
    for measure in [
        MeasureOptions { max_products: 0, ..MeasureOptions::default() },
        MeasureOptions { probes: 3, ..MeasureOptions::default() },
        MeasureOptions { epsilon: 0.0, ..MeasureOptions::default() },
    ] {
        let (engine, theta) = golden("mlp_bias");
        let options = ReportOptions {
            sections: Some(vec![Section::Point]),
            measure: measure.clone(),
            ..ReportOptions::default()
        };
        let error = block_on(report_at(&engine, &theta, &options, &Control::default())).expect_err("a refusal");
        assert_eq!(error.code, ErrorCode::InvalidOption, "{measure:?}");
    }
}

#[test]
fn what_is_not_defined_is_absent_or_refused() {
    use isoflat::network::Layer;
    let network = isoflat::Network::new(
        vec![3],
        vec![Layer::Dense { units: 4, bias: true }, Layer::Tanh, Layer::Dense { units: 2, bias: true }],
    )
    .expect("a network");
    let theta: Vec<f64> = (0..network.parameter_count()).map(|i| (i as f64).sin()).collect();
    let targets = isoflat::Targets::Classes(vec![0, 1]);
    let inputs = vec![0.1f32, 0.2, 0.3, -0.4, 0.5, -0.6];
    let problem = isoflat::Problem::new(network, isoflat::Loss::CrossEntropy, inputs, targets).expect("a problem");
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let report = |sections: Option<Vec<Section>>| {
        let options = ReportOptions { sections, ..ReportOptions::default() };
        block_on(report_at(&engine, &theta, &options, &Control::default()))
    };
    let found = report(None).expect("a report");
    assert!(!found.values.contains_key("petzka") && !found.values.contains_key("spaces"));
    let error = report(Some(vec![Section::Petzka])).expect_err("tanh has no such measures");
    assert_eq!(error.code, ErrorCode::NotHomogeneous);
}
