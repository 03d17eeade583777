//! Every number of every golden case, from an independent float64 program, on every executor.

use crate::support::golden::{Case, FILES, check_on, f32_tolerance};
use isoflat::Control;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos, PowerIteration, hutchinson};
use isoflat::operator::OperatorKind;
use serde_json::Value;

#[test]
fn no_golden_file_is_left_out() {
    let mut found: Vec<_> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
        .expect("tests/golden is there")
        .map(|entry| entry.expect("a readable folder").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    found.sort();
    assert_eq!(found, FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

#[test]
fn cpu_f64() {
    pollster::block_on(check_on(&Device::cpu(Precision::F64), |_| 1e-9));
}

#[test]
fn cpu_f32() {
    pollster::block_on(check_on(&Device::cpu(Precision::F32), f32_tolerance));
}

#[test]
fn gpu_f32() {
    pollster::block_on(check_on(&crate::support::gpu(), f32_tolerance));
}

/// The iterations find what the dense spectra of the report have.
#[test]
fn lanczos_power_and_hutchinson_agree_with_golden_spectra() {
    let device = Device::cpu(Precision::F64);
    for case in Case::all() {
        let file = case.file();
        let engine = Engine::new(&device, &file.problem).expect("an engine");
        pollster::block_on(engine.prepare(&file.parameters)).expect("a point");
        for kind in OperatorKind::ALL {
            let expected =
                kind.name().split('.').fold(&case.json["expected"], |value, key| value.get(key).expect("a key"));
            let number = |key: &str| expected[key].as_f64();
            pollster::block_on(async {
                let operator = kind.operator(&engine).await.expect("an operator");
                let control = Control::default();
                let scale = number("spectral_norm").or(number("max_eigenvalue")).expect("a norm");
                let near = |what: &str, found: f64, expected: f64| {
                    let error = (found - expected).abs() / scale;
                    assert!(error < 1e-9, "{} {kind} {what}: {found}, expected {expected}", case.name);
                };

                let n = file.parameters.len();
                let top = 5.min(n);
                let lanczos =
                    Lanczos { goal: Goal::Extremes { top, bottom: 1 }, basis: Some(24.min(n)), ..Lanczos::default() };
                let found = lanczos.run(&operator, &control).await.expect("a spectrum");
                assert!(found.converged, "{} {kind}: {found:?}", case.name);
                near("largest", found.top[0].value, number("max_eigenvalue").expect("a maximum"));
                if let Some(min) = number("min_eigenvalue") {
                    near("smallest", found.bottom[0].value, min);
                }
                if let Some(list) = expected.get("top_eigenvalues").and_then(Value::as_array) {
                    for (found, expected) in found.top.iter().zip(list) {
                        near("top", found.value, expected.as_f64().expect("a number"));
                    }
                }
                let lanczos = Lanczos { goal: Goal::SpectralNorm, ..Lanczos::default() };
                let found = lanczos.run(&operator, &control).await.expect("a norm");
                assert!(found.converged);
                near("norm", found.dominant().expect("a pair").value.abs(), scale);

                let power = PowerIteration { max_products: 20_000, tolerance: Some(1e-8), ..PowerIteration::default() };
                let found = power.run(&operator, &control).await.expect("a power iteration");
                assert!(found.pair.converged, "{} {kind}: change {}", case.name, found.change);
                near("power", found.pair.value.abs(), scale);

                let estimate = hutchinson(&operator, 400, 7, &control).await.expect("a trace");
                let distance = (estimate.value - number("trace").expect("a trace")).abs();
                assert!(distance <= 4.5 * estimate.standard_error + 1e-9 * scale, "{} {kind}: {estimate:?}", case.name);
            });
        }
    }
}
