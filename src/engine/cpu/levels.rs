//! Every level's passes against the detected one's: what a machine would do that has less.

use pollster::block_on;

use super::simd::Level;
use super::{Executor, at_level};
use crate::data;
use crate::engine::executor::{Curvature, Precision};
use crate::engine::sweep::Cotangent;
use crate::error::Result;
use crate::network::{BiasInitialization, Initialization, Network};
use crate::problem::Problem;

/// Runs of a window shorter and longer than a narrow tile, groups, channels that see one channel each, strides, pools, and a
/// smooth activation.
const NETWORKS: [&str; 3] = [
    r#"{"input": [2, 9, 8], "layers": [
        {"type": "conv2d", "channels": 5, "kernel": [3, 3], "padding": [1, 1], "bias": true}, {"type": "relu"},
        {"type": "max_pool2d", "size": [2, 2]},
        {"type": "conv2d", "channels": 10, "kernel": [2, 3], "stride": [1, 2], "groups": 5}, {"type": "leaky_relu", "slope": 0.1},
        {"type": "flatten"}, {"type": "dense", "units": 3, "bias": true}]}"#,
    r#"{"input": [6, 7, 7], "layers": [
        {"type": "conv2d", "channels": 6, "kernel": [3, 3], "padding": [1, 1], "groups": 6, "bias": true}, {"type": "relu"},
        {"type": "conv2d", "channels": 12, "kernel": [3, 3], "stride": [2, 2], "groups": 6}, {"type": "relu"},
        {"type": "conv2d", "channels": 4, "kernel": [1, 1]}, {"type": "tanh"},
        {"type": "global_avg_pool2d"}, {"type": "flatten"}, {"type": "dense", "units": 4}]}"#,
    r#"{"input": [37], "layers": [
        {"type": "dense", "units": 19, "bias": true}, {"type": "relu"}, {"type": "dense", "units": 5, "bias": true}, {"type": "relu"},
        {"type": "dense", "units": 3}]}"#,
];

fn everything(executor: &dyn Executor, problem: &Problem) -> Result<Vec<Vec<f64>>> {
    let network = problem.network();
    let random = |seed| network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed);
    let vectors = executor.vectors();
    let (theta, v) = (vectors.upload(&random(1)?, 1)?, vectors.upload(&random(2)?, 1)?);
    let mut out = vectors.zeros(theta.len(), 1)?;
    block_on(async {
        executor.prepare(&theta).await?;
        let mut all = vec![vec![executor.loss().await?], executor.outputs().await?];
        executor.gradient(&mut out)?;
        all.push(vectors.download(&out).await?);
        for curvature in [Curvature::Hessian, Curvature::GaussNewton] {
            executor.product(curvature, &v, &mut out).await?;
            all.push(vectors.download(&out).await?);
        }
        for (l, layer) in network.layout().layers().iter().enumerate() {
            let direction = random(2)?;
            let mut only = vec![0.0; direction.len()];
            only[layer.weight.clone()].copy_from_slice(&direction[layer.weight.clone()]);
            executor.layer_product(Curvature::Hessian, l, &vectors.upload(&only, 1)?, &mut out).await?;
            all.push(vectors.download(&out).await?[layer.weight.clone()].to_vec());
        }
        let cotangents = [Cotangent::Class(0), Cotangent::Class(1)];
        let sums = executor.sweep(&cotangents).await?;
        all.extend(sums.iter().flatten().map(|sums| sums.numbers().collect()));
        all.push(executor.squared_gradients(&cotangents).await?);
        Ok(all)
    })
}

/// Of the largest number.
fn difference(found: &[f64], expected: &[f64]) -> f64 {
    let largest = expected.iter().fold(f64::MIN_POSITIVE, |largest, value| f64::max(largest, value.abs()));
    found.iter().zip(expected).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs())) / largest
}

#[test]
fn every_level_of_the_machine_computes_the_same() {
    let detected = Level::detect();
    let mut levels = vec![Level::Baseline, detected];
    #[cfg(target_arch = "x86_64")]
    if detected == Level::Avx512 {
        levels.push(Level::Avx2);
    }
    for json in NETWORKS {
        let network = Network::from_json(json).expect("a network");
        let problem = data::synthetic(network, 21, 3).expect("a problem");
        let on = |precision, level| {
            let executor = at_level(&problem, problem.samples(), precision, level, None).expect("an executor");
            everything(&*executor, &problem).expect("passes")
        };
        let expected = on(Precision::F64, detected);
        for &level in &levels {
            for (precision, tolerance) in [(Precision::F64, 1e-12), (Precision::F32, 1e-4)] {
                for (i, (found, expected)) in on(precision, level).iter().zip(&expected).enumerate() {
                    let differ = difference(found, expected);
                    assert!(differ < tolerance, "{level:?}, {precision:?}, number {i}: {differ:e}, {json}");
                }
            }
        }
    }
}
