//! The constructions of Dinh et al. 2017 ("Sharp Minima Can Generalize For Deep Nets"): how every notion of flatness that
//! looks at single weights is fooled. Each function returns what its theorem promises and, beside it, what was measured.
//!
//! The paper's α-scale is for one hidden layer; here α goes to one layer and 1/α to another of any network; in a graph, to those that
//! write what can be rescaled, and to those that read it. Biases go along as in the paper's Appendix B.

mod boxes;
mod constant;
mod eigenvalues;
mod exponents;
mod gaussianization;
mod input;
mod input_gradients;
mod one_dimension;
mod radial;
mod reparametrization;
mod scaling;
mod sharpen;
mod weight_normalization;

pub use boxes::{BoxOptions, FlatBox, VolumeFlatness, volume_flatness};
pub use constant::{ConstantInBall, constant_in_ball};
pub use eigenvalues::{ManyEigenvalues, many_large_eigenvalues};
pub use input::{GradientNorms, InputMap, InputRepresentation, input_representation};
pub use input_gradients::{input_gradients, prediction_gradients};
pub use one_dimension::{PowerMap, PowerPoint};
pub use radial::RadialMap;
pub(crate) use reparametrization::ReparametrizedOperator;
pub use reparametrization::{Reparametrization, ReparametrizedHessian, reparametrized_hessian};
pub use sharpen::{SharpenOptions, Sharpened, sharpen};
pub use weight_normalization::{
    NormalizedScale, NormalizedSharpness, WeightNormalization, normalized_sharpness, normalized_volume,
    weight_normalization,
};

use serde::Serialize;

use crate::control::Control;
use crate::engine::Engine;
use crate::error::{Result, ensure};
use crate::linalg::{Eigenpair, Goal};
use crate::measure::MeasureOptions;
use crate::network::Network;
use crate::operator::SymmetricOperator;
use crate::symmetry::Transformation;

/// Both ends of a spectrum.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ends {
    /// The largest eigenvalue.
    pub max: Eigenpair,
    /// The smallest.
    pub min: Eigenpair,
    /// The spectral norm.
    pub norm: f64,
    /// Products it took.
    pub products: usize,
    /// Have both converged?
    pub converged: bool,
}

impl Ends {
    /// The end of the larger magnitude, which the norm is that of.
    pub fn dominant(&self) -> &Eigenpair {
        if self.max.value.abs() >= self.min.value.abs() { &self.max } else { &self.min }
    }
}

/// How far the outputs of two networks over the same samples differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputChange {
    /// The largest |change| of an output.
    pub largest: f64,
    /// The same over the largest |output|.
    pub relative: f64,
    /// Are all outputs the same to the last bit?
    pub bitwise: bool,
}

impl OutputChange {
    fn new(before: &[f64], after: &[f64]) -> Self {
        let largest = before.iter().zip(after).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()));
        let size = before.iter().fold(f64::MIN_POSITIVE, |m, a| f64::max(m, a.abs()));
        Self { largest, relative: largest / size, bitwise: before == after }
    }
}

/// Both ends of an operator's spectrum by Lanczos.
async fn ends(operator: &dyn SymmetricOperator, options: &MeasureOptions, control: &Control<'_>) -> Result<Ends> {
    let mut found = options.lanczos(Goal::Extremes { top: 1, bottom: 1 }).run(operator, control).await?;
    let (max, min) = (found.top.remove(0), found.bottom.remove(0));
    let norm = max.value.abs().max(min.value.abs());
    Ok(Ends { max, min, norm, products: found.products, converged: found.converged })
}

/// Outputs at θ, which is the prepared point then.
async fn outputs_at(engine: &Engine, parameters: &[f64]) -> Result<Vec<f64>> {
    engine.prepare(parameters).await?;
    engine.outputs().await
}

fn ensure_deep(network: &Network) -> Result<()> {
    ensure!(
        network.layout().layers().len() >= 2,
        InvalidOption,
        "a network of one parametric layer has no rescaling that leaves its function as it is"
    );
    Ok(())
}

/// The diagonal of a rescaling T: its image of ones.
fn diagonal(network: &Network, map: &Transformation) -> Result<Vec<f64>> {
    map.apply(network, &vec![1.0; network.parameter_count()])
}

/// The largest power of two that is at most x > 0.
fn power_of_two_below(x: f64) -> f64 {
    let power = x.log2().floor().exp2();
    if power > x { power / 2.0 } else { power }
}
