//! Golden cases, embedded so that the same checks run natively and in a browser.
#![allow(dead_code)] // Each test file uses its own part.

use isoflat::engine::Device;
use isoflat::measure::MeasureOptions;
use isoflat::{Control, ProblemFile, report};
use serde_json::Value;

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../golden/", $name, ".json")))),+]
    };
}

/// Name and text of every golden file.
pub const FILES: &[(&str, &str)] = files![
    "conv_lenet_tiny",
    "conv_stride_padding_avgpool",
    "graph_concat_groups",
    "graph_mlp_skip",
    "graph_resnet_tiny",
    "linear_regression",
    "mlp_bias",
    "mlp_leaky_widening",
    "mlp_one_hidden",
    "mlp_regression",
    "mlp_straight_no_bias",
];

/// Of every golden case the least trace over node-wise rescalings, to about 1e-9, and of chains the closed form over layer-wise ones of
/// the weights; by the same program.
pub const LEAST_TRACES: &str = include_str!("../../fixtures/least_trace.json");

/// A golden file.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Its values.
    pub json: Value,
}

impl Case {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        FILES.iter().map(|(name, text)| Self { name, text, json: serde_json::from_str(text).expect("a JSON") })
    }

    /// The problem.
    pub fn file(&self) -> ProblemFile {
        ProblemFile::from_json(self.text).expect("a valid problem file")
    }
}

/// Collects every number of `expected` that `actual` misses or has differently, relative to the largest number beside it.
fn compare(path: &str, expected: &Value, actual: &Value, scale: f64, tolerance: f64, faults: &mut Vec<String>) {
    match expected {
        Value::Object(map) => {
            let scale = spectrum_scale(expected).unwrap_or(0.0);
            for (key, value) in map {
                if let Some(actual) = actual.get(key) {
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

/// Fails with a list of the numbers in which the device's reports differ from the golden ones.
pub async fn check_on(device: &Device, tolerance: impl Fn(&Case) -> f64) {
    check(Case::all(), device, tolerance).await;
}

/// The same for some of the cases.
pub async fn check(cases: impl Iterator<Item = Case>, device: &Device, tolerance: impl Fn(&Case) -> f64) {
    let mut faults = Vec::new();
    for case in cases {
        let (options, control) = (MeasureOptions::default(), Control::default());
        let report = report(&case.file(), device, &options, &control).await.expect("a report");
        compare(case.name, &case.json["expected"], &report, 0.0, tolerance(&case), &mut faults);
    }
    let shown: Vec<_> = faults.iter().take(40).cloned().collect();
    assert!(faults.is_empty(), "{} numbers differ:\n{}", faults.len(), shown.join("\n"));
}

/// A number is the end of a chain of about 3 passes (forward, tangent, backward) over L layers, each layer a sum
/// whose rounding grows like ε √(terms), at worst `terms` = samples: 3 L ε √N. The condition of the chain (softmax,
/// cancellation in p − y, factors up to 5 of the transformations) multiplies it; 8 covers that.
pub fn f32_tolerance(case: &Case) -> f64 {
    let file = case.file();
    let layers = file.problem.network().layout().layers().len() as f64;
    8.0 * 3.0 * layers * f64::from(f32::EPSILON) * (file.problem.samples() as f64).sqrt()
}
