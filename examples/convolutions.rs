//! How fast convolutions go of every kind, beside dense layers: the native side of `npm run bench -- --work convolutions`.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release --example convolutions -- CASES FOUND`: `CASES` is a file with a JSON list of networks,
//! `{"name", "samples", "network"}`, and `FOUND` gets one of `{"name", "gradient", "product"}`: milliseconds of a gradient at a new point
//! and of a Hessian product, in f32, medians of rounds in which all of them take their turns.

use std::hint::black_box;
use std::time::Instant;

use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::{Error, ErrorCode, Network, Result, data};
use pollster::block_on;
use serde_json::{Value, json};

const ROUNDS: usize = 15;

/// One of the networks.
struct Case {
    name: String,
    engine: Engine,
    point: Vec<f64>,
    direction: Vec<f64>,
    /// Milliseconds, by round.
    gradients: Vec<f64>,
    products: Vec<f64>,
}

fn bad(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::InvalidOption, what.to_string())
}

impl Case {
    fn open(entry: &Value) -> Result<Self> {
        let network = Network::from_json(&entry["network"].to_string())?;
        let samples = entry["samples"].as_u64().ok_or_else(|| bad("a case has no number of samples"))? as usize;
        let random = |seed| network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed);
        let (point, direction) = (random(1)?, random(2)?);
        let device = Device::cpu(Precision::F32);
        Ok(Self {
            name: entry["name"].as_str().unwrap_or_default().to_owned(),
            engine: Engine::new(&device, &data::synthetic(network, samples, 1)?)?,
            point,
            direction,
            gradients: Vec::new(),
            products: Vec::new(),
        })
    }

    fn round(&mut self) -> Result<()> {
        // Elsewhere each time: a point that is prepared already is not prepared again.
        self.point.iter_mut().for_each(|weight| *weight *= 1.0 + 1e-6);
        let start = Instant::now();
        block_on(self.engine.prepare(&self.point))?;
        black_box(block_on(self.engine.gradient())?);
        self.gradients.push(start.elapsed().as_secs_f64() * 1e3);
        let start = Instant::now();
        black_box(block_on(self.engine.product(Curvature::Hessian, &self.direction))?);
        self.products.push(start.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }

    fn found(mut self) -> Value {
        let [gradient, product] = [&mut self.gradients, &mut self.products].map(|times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        json!({ "name": self.name, "gradient": gradient, "product": product })
    }
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [cases, out] = &words[..] else { return Err(bad("two files are taken, CASES and FOUND")) };
    let text = std::fs::read_to_string(cases).map_err(|error| bad(format!("{cases}: {error}")))?;
    let entries: Vec<Value> = serde_json::from_str(&text).map_err(|error| bad(format!("{cases}: {error}")))?;
    let mut cases = entries.iter().map(Case::open).collect::<Result<Vec<_>>>()?;
    // The first round warms up, and does not count.
    for round in 0..=ROUNDS {
        for case in &mut cases {
            case.round()?;
            if round == 0 {
                case.gradients.clear();
                case.products.clear();
            }
        }
    }
    let found: Vec<Value> = cases.into_iter().map(Case::found).collect();
    std::fs::write(out, format!("{:#}\n", Value::from(found))).map_err(|error| bad(format!("{out}: {error}")))
}
