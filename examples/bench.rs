//! The benchmark behind `npm run bench`: the same Rust code natively and, compiled to WebAssembly, in a browser.
//!
//! Work: F₁ (784-300-100-10, 500 samples). Each round runs every kind of work once on every device, so that all see
//! the same machine; medians over the rounds. GFLOP/s count the matrix products alone. The plain product beside them is
//! one dense layer of 512 × 512 over 512 samples, forward: nothing but a matrix product, by the same kernels.

use isoflat::engine::{Backend, Curvature, Device, Engine, Executor, Precision, Vector};
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::{Loss, Network, Problem, Result, Targets, data};
use serde_json::{Value, json};

const SAMPLES: usize = 500;
const ROUNDS: usize = 15;
/// Rounds before those that count: the browser's compiler tiers up, caches fill.
const WARM_UP: usize = 4;
const PLAIN: usize = 512;
/// Directions that go through together.
const TOGETHER: usize = 4;

/// One device with its problem loaded.
struct Bench {
    device: Device,
    engine: Engine,
    theta: Vector,
    directions: Vector,
    products: Vector,
    one: Vector,
    product: Vector,
    plain: Engine,
    plain_theta: Vector,
    out: Vector,
    /// Milliseconds: gradient, Hessian product, Gauss–Newton product, Hessian product of several, plain product.
    times: [Vec<f64>; 5],
}

impl Bench {
    fn new(device: Device) -> Result<Self> {
        let network = Preset::F1.network();
        let parameters = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, 1)?;
        let engine = Engine::new(&device, &data::synthetic(network, SAMPLES, 1)?)?;
        let n = parameters.len();
        let plain_network = Network::dense(&[PLAIN, PLAIN], false)?;
        let values: Vec<f64> = (0..PLAIN * PLAIN).map(|i| (i as f64 * 0.37).sin()).collect();
        let targets = Targets::Vectors(vec![0.0; PLAIN * PLAIN]);
        let plain = Engine::new(&device, &Problem::new(plain_network, Loss::SquaredError, values.clone(), targets)?)?;
        let direction: Vec<f64> = (0..n * TOGETHER).map(|i| (i as f64 * 0.73).cos()).collect();
        let e = engine.executor();
        let (theta, out) = (e.upload(&parameters, 1)?, e.zeros(2, 1)?);
        let (directions, one) = (e.upload(&direction, TOGETHER)?, e.upload(&direction[..n], 1)?);
        let (products, product) = (e.zeros(n, TOGETHER)?, e.zeros(n, 1)?);
        let plain_theta = plain.executor().upload(&values, 1)?;
        Ok(Self {
            device,
            theta,
            directions,
            products,
            one,
            product,
            plain_theta,
            out,
            plain,
            engine,
            times: Default::default(),
        })
    }

    async fn round(&mut self, count: bool) -> Result<()> {
        let mut times = [0.0; 5];
        let e = self.engine.executor();
        self.wait(e).await?;

        let start = now();
        e.prepare(&self.theta)?;
        self.wait(e).await?;
        times[0] = now() - start;

        for (i, curvature) in [(1, Curvature::Hessian), (2, Curvature::GaussNewton)] {
            let start = now();
            e.product(curvature, &self.one, &mut self.product)?;
            e.download(&self.out).await?;
            times[i] = now() - start;
        }

        let start = now();
        e.product(Curvature::Hessian, &self.directions, &mut self.products)?;
        e.download(&self.out).await?;
        times[3] = now() - start;

        let e = self.plain.executor();
        let start = now();
        e.evaluate(&self.plain_theta, &mut self.out, 0)?;
        e.download(&self.out).await?;
        times[4] = now() - start;

        if count {
            for (all, time) in self.times.iter_mut().zip(times) {
                all.push(time);
            }
        }
        Ok(())
    }

    /// Two numbers read back: everything enqueued before has been done then.
    async fn wait(&self, e: &dyn Executor) -> Result<()> {
        e.download(&self.out).await.map(|_| ())
    }

    fn result(&self) -> Value {
        let [gradient, hessian, gauss_newton, several, plain] = self.times.clone().map(median);
        // Products of the layers' sizes (THEORY of the R-operator): gradient 3 a layer and 2 for the first, a Hessian
        // product at a kept point 6 and 2.
        let layers = self.engine.problem().network().layout().layers();
        let size = |first: f64, others: f64| -> f64 {
            let sizes = layers
                .iter()
                .enumerate()
                .map(|(l, layer)| (if l == 0 { first } else { others }) * (layer.inputs * layer.outputs) as f64);
            2.0 * SAMPLES as f64 * sizes.sum::<f64>() / 1e6
        };
        let plain_rate = 2.0 * (PLAIN as f64).powi(3) / 1e6 / plain;
        json!({
            "device": self.device.info(),
            "ms": {
                "gradient": gradient,
                "hessian_product": hessian,
                "gauss_newton_product": gauss_newton,
                "hessian_product_of_4_each": several / TOGETHER as f64,
            },
            "hessian_product_over_gradient": hessian / gradient,
            "gflops": {
                "gradient": size(2.0, 3.0) / gradient,
                "hessian_product": size(2.0, 6.0) / hessian,
                "plain_product": plain_rate,
            },
        })
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Runs everything; a device that is not there is listed with the reason.
async fn run() -> Result<Value> {
    let mut benches = vec![Bench::new(Device::cpu(Precision::F64))?, Bench::new(Device::cpu(Precision::F32))?];
    let mut missing = Vec::new();
    match Device::request(Backend::Gpu, Precision::F32).await {
        Ok(device) => benches.push(Bench::new(device)?),
        Err(error) => missing.push(error.message),
    }
    for round in 0..WARM_UP + ROUNDS {
        for bench in &mut benches {
            bench.round(round >= WARM_UP).await?;
        }
    }
    let devices: Vec<_> = benches.iter().map(Bench::result).collect();
    Ok(json!({ "work": "F1 (784-300-100-10), 500 samples", "rounds": ROUNDS, "devices": devices, "missing": missing }))
}

#[cfg(not(target_arch = "wasm32"))]
fn now() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64() * 1e3
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    match pollster::block_on(run()) {
        Ok(result) => {
            println!("{result}");
            std::process::ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod web {
    use wasm_bindgen::prelude::*;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(js_namespace = performance)]
        pub fn now() -> f64;
    }

    /// For scripts/bench.mjs.
    #[wasm_bindgen]
    pub async fn bench() -> Result<String, JsValue> {
        let found = super::run().await;
        found.map(|value| value.to_string()).map_err(|error| js_sys::Error::new(&error.message).into())
    }
}

#[cfg(target_arch = "wasm32")]
use web::now;

#[cfg(target_arch = "wasm32")]
fn main() {}
