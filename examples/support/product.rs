//! What examples that time Hessian products have in common.

use std::hint::black_box;
use std::time::Instant;

use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::{Network, Result, data};

/// Seconds of one Hessian product on the CPU, at a random point, on random samples: the fastest of some.
#[allow(dead_code, reason = "examples are programs of their own, and each takes what it wants")]
pub async fn seconds(network: &Network, samples: usize, precision: Precision) -> Result<f64> {
    seconds_on(&Device::cpu(precision), network, samples).await
}

/// The same on any device.
pub async fn seconds_on(device: &Device, network: &Network, samples: usize) -> Result<f64> {
    let random = |seed| network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed);
    let engine = Engine::new(device, &data::synthetic(network.clone(), samples, 1)?)?;
    engine.prepare(&random(1)?).await?;
    let direction = random(2)?;
    let mut fastest = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        black_box(engine.product(Curvature::Hessian, &direction).await?);
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    Ok(fastest)
}
