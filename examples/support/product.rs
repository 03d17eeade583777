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
    let timed = Timed::new(device, network.clone(), samples).await?;
    let mut fastest = f64::INFINITY;
    for _ in 0..5 {
        fastest = fastest.min(timed.seconds().await?);
    }
    Ok(fastest)
}

/// What a product at a random point on random samples is timed with.
pub struct Timed {
    engine: Engine,
    direction: Vec<f64>,
}

impl Timed {
    pub async fn new(device: &Device, network: Network, samples: usize) -> Result<Self> {
        let random = |seed| network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed);
        let (point, direction) = (random(1)?, random(2)?);
        let engine = Engine::new(device, &data::synthetic(network, samples, 1)?)?;
        engine.prepare(&point).await?;
        Ok(Self { engine, direction })
    }

    /// Seconds of one product.
    pub async fn seconds(&self) -> Result<f64> {
        let start = Instant::now();
        black_box(self.engine.product(Curvature::Hessian, &self.direction).await?);
        Ok(start.elapsed().as_secs_f64())
    }
}
