//! What examples that time Hessian products have in common.

use std::hint::black_box;
use std::time::Instant;

use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::{Network, Result, data};

/// Seconds of one Hessian product at a random point, on random samples: the fastest of some.
pub async fn seconds(network: &Network, samples: usize, precision: Precision) -> Result<f64> {
    let random = |seed| network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed);
    let engine = Engine::new(&Device::cpu(precision), &data::synthetic(network.clone(), samples, 1)?)?;
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
