//! Every number of every golden case, from an independent float64 program, on every executor.
//!
//! Golden cases with layers that are not built yet must be refused with a sentence that says so.

use isoflat::engine::{Backend, Device, Precision};
use isoflat::linalg::{Goal, Lanczos, PowerIteration, hutchinson};
use isoflat::measure::MeasureOptions;
use isoflat::operator::OperatorKind;
use isoflat::{Control, ErrorCode, ProblemFile, report};
use serde_json::Value;

/// Keys of the golden files that belong to measures and spaces not built yet.
const NOT_BUILT: [&str; 4] = ["fisher_rao_norm", "petzka", "path_norm_squared", "spaces"];

/// Layers not built yet.
const UNKNOWN_LAYERS: [&str; 4] = ["conv2d", "max_pool2d", "avg_pool2d", "flatten"];

struct Case {
    name: String,
    text: String,
    json: Value,
}

impl Case {
    fn all() -> Vec<Self> {
        let mut cases: Vec<_> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
            .expect("tests/golden is there")
            .map(|entry| entry.expect("a readable folder").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .map(|path| {
                let text = std::fs::read_to_string(&path).expect("a readable file");
                let json = serde_json::from_str(&text).expect("a JSON");
                Self { name: path.file_stem().expect("a name").to_string_lossy().into(), text, json }
            })
            .collect();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(cases.len() >= 8, "golden cases are missing");
        cases
    }

    fn is_dense(&self) -> bool {
        let layers = self.json["network"]["layers"].as_array().expect("layers");
        layers.iter().all(|layer| !UNKNOWN_LAYERS.contains(&layer["type"].as_str().expect("a type")))
    }
}

/// A GPU for the tests, or a sentence on how to get one.
fn gpu() -> Device {
    pollster::block_on(Device::request(Backend::Gpu, Precision::F32)).unwrap_or_else(|error| {
        panic!("these tests need a Vulkan, Metal or DX12 adapter ({error}); Debian's mesa-vulkan-drivers has a software one")
    })
}

/// Collects every number of `expected` that `actual` misses or has differently, relative to the largest number beside it.
fn compare(path: &str, expected: &Value, actual: &Value, scale: f64, tolerance: f64, faults: &mut Vec<String>) {
    match expected {
        Value::Object(map) => {
            let scale = spectrum_scale(expected).unwrap_or(0.0);
            for (key, value) in map {
                if NOT_BUILT.contains(&key.as_str()) {
                    assert!(actual.get(key).is_none(), "{path}.{key} is built now: take it off the list");
                } else if let Some(actual) = actual.get(key) {
                    compare(&format!("{path}.{key}"), value, actual, scale, tolerance, faults);
                } else {
                    faults.push(format!("{path}.{key} is absent"));
                }
            }
        }
        Value::Array(list) => {
            let actual_list = actual.as_array().map_or(&[][..], Vec::as_slice);
            if list.len() != actual_list.len() {
                faults.push(format!("{path} has {} entries, expected {}", actual_list.len(), list.len()));
            }
            let largest = list.iter().filter_map(Value::as_f64).fold(scale, |m, v| m.max(v.abs()));
            for (i, (expected, actual)) in list.iter().zip(actual_list).enumerate() {
                compare(&format!("{path}[{i}]"), expected, actual, largest, tolerance, faults);
            }
        }
        Value::Number(_) => {
            let expected = expected.as_f64().expect("a number");
            let Some(actual) = actual.as_f64() else {
                faults.push(format!("{path} is {actual}, expected {expected}"));
                return;
            };
            let error = (actual - expected).abs() / expected.abs().max(scale).max(f64::MIN_POSITIVE);
            if error.is_nan() || error > tolerance {
                faults.push(format!("{path} is {actual}, expected {expected}: off by {error:.1e}"));
            }
        }
        other => assert_eq!(other, actual, "{path}"),
    }
}

/// Eigenvalues of one operator are compared relative to its spectral norm, its trace too.
fn spectrum_scale(object: &Value) -> Option<f64> {
    object.get("spectral_norm").or_else(|| object.get("max_eigenvalue"))?.as_f64()
}

fn check_on(device: &Device, tolerance: impl Fn(&Case) -> f64) {
    let mut faults = Vec::new();
    for case in Case::all().iter().filter(|case| case.is_dense()) {
        let file = ProblemFile::from_json(&case.text).expect("a valid problem file");
        let (options, control) = (MeasureOptions::default(), Control::default());
        let report = pollster::block_on(report(&file, device, &options, &control)).expect("a report");
        compare(&case.name, &case.json["expected"], &report, 0.0, tolerance(case), &mut faults);
    }
    let shown: Vec<_> = faults.iter().take(40).cloned().collect();
    assert!(faults.is_empty(), "{} numbers differ:\n{}", faults.len(), shown.join("\n"));
}

#[test]
fn cpu_f64() {
    check_on(&Device::cpu(Precision::F64), |_| 1e-9);
}

/// A number is the end of a chain of about 3 passes (forward, tangent, backward) over L layers, each layer a sum
/// whose rounding grows like ε √(terms), at worst `terms` = samples: 3 L ε √N. The condition of the chain (softmax,
/// cancellation in p − y, factors up to 5 of the transformations) multiplies it; 8 covers that.
fn f32_tolerance(case: &Case) -> f64 {
    let file = ProblemFile::from_json(&case.text).expect("a valid problem file");
    let layers = file.problem.network().layout().layers().len() as f64;
    8.0 * 3.0 * layers * f64::from(f32::EPSILON) * (file.problem.samples() as f64).sqrt()
}

#[test]
fn cpu_f32() {
    check_on(&Device::cpu(Precision::F32), f32_tolerance);
}

#[test]
fn gpu_f32() {
    check_on(&gpu(), f32_tolerance);
}

/// The iterations find what the dense spectra of the report have.
#[test]
fn lanczos_power_and_hutchinson_agree_with_golden_spectra() {
    let device = Device::cpu(Precision::F64);
    for case in Case::all().iter().filter(|case| case.is_dense()) {
        let file = ProblemFile::from_json(&case.text).expect("a valid problem file");
        let engine = isoflat::engine::Engine::new(&device, &file.problem).expect("an engine");
        engine.prepare(&file.parameters).expect("a point");
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

#[test]
fn layers_not_built_yet_are_refused_by_name() {
    let mut refused = 0;
    for case in Case::all().iter().filter(|case| !case.is_dense()) {
        let error = ProblemFile::from_json(&case.text).expect_err("a layer that is not built");
        assert_eq!(error.code, ErrorCode::Parse);
        assert!(error.message.contains("conv2d"), "{error}");
        refused += 1;
    }
    assert!(refused > 0, "no golden case is left to refuse: delete this test");
}
