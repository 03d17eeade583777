//! ε-sharpness, section 4.3 of Dinh et al. 2017: with α = ε / ‖θ_1‖₂ the point where the first layer's weights are 0 lies in the
//! ball around T_α(θ). The network is a constant function there, whatever its biases: the sharpness is at least that of it.
//!
//! The same for Keskar's box in the full space, |Δ_i| ≤ ε (|θ_i| + 1), with α = ε / ‖θ_1‖_∞: then every |αθ_i| of the first layer is at most
//! ε ≤ ε (|αθ_i| + 1). And for the cube ‖Δ‖_∞ ≤ ε.

use serde::Serialize;

use super::scaling::{Scaling, ensure_cut};
use super::{OutputChange, outputs_at};
use crate::control::{Control, Progress};
use crate::engine::Engine;
use crate::error::{Result, ensure, ensure_positive};
use crate::measure::sharpness::{Hints, Region, Sharpness, SharpnessOptions, ascend, epsilon_sharpness};
use crate::problem::Targets;
use crate::symmetry::Transformation;

/// A point of the same function whose ε-ball, or box, holds a constant function.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConstantInBall {
    /// The ball, Keskar's box or the cube.
    pub region: Region,
    /// ε.
    pub epsilon: f64,
    /// α = ε / ‖θ_1‖₂, and ε / ‖θ_1‖_∞ for boxes and cubes.
    pub alpha: f64,
    /// T_α: layer 1 by α, the last layer by 1/α; in a graph, θ_1 is all layers that lead to what can be rescaled.
    pub transformation: Transformation,
    /// ‖α θ_1‖ in that norm, the distance of the constant function: at most ε.
    pub distance: f64,
    /// L(θ).
    pub loss: f64,
    /// Loss of the constant function in the ball.
    pub constant_loss: f64,
    /// The least loss that a constant function can have on these targets.
    pub best_constant_loss: f64,
    /// (constant_loss − L) / (1 + L): the sharpness is no less. Of use where it is positive: at points that fit better than a constant.
    pub guaranteed: f64,
    /// (best_constant_loss − L) / (1 + L), the paper's bound: known without looking.
    pub least: f64,
    /// The sharpness at θ, by ascent.
    pub before: Sharpness,
    /// The sharpness at T_α(θ), by ascent, one start being the constant function.
    pub measured: Sharpness,
    /// measured ≥ guaranteed, up to rounding of the losses?
    pub holds: bool,
    /// What became of the outputs.
    pub outputs: OutputChange,
    /// T_α(θ).
    #[serde(skip)]
    pub parameters: Vec<f64>,
}

/// Moves θ to where a constant function lies within ε, and measures the ε-sharpness before and after. Leaves the engine
/// prepared at T_α(θ).
///
/// # Errors
/// `InvalidOption` for another region, an ε that is not positive, first weights that are 0 already, a network of one layer, or one whose inputs go past all
/// layers that can shrink;
/// `NotHomogeneous`; `NotFinite`; `Aborted`; the device's.
pub async fn constant_in_ball(
    engine: &Engine,
    parameters: &[f64],
    region: Region,
    epsilon: f64,
    options: &SharpnessOptions,
    control: &Control<'_>,
) -> Result<ConstantInBall> {
    let is_known = matches!(region, Region::Ball | Region::Box | Region::Cube);
    ensure!(is_known, InvalidOption, "the constant function is brought into a ball, a box or a cube");
    let problem = engine.problem();
    let network = problem.network();
    let scaling = Scaling::of_all(network)?;
    ensure_cut(network)?;
    ensure_positive("ε", epsilon)?;
    let outputs_before = outputs_at(engine, parameters).await?;
    let loss = engine.loss().await?;
    let first: Vec<_> = scaling.growing().map(|layer| network.layout().layers()[layer].weight.clone()).collect();
    let first = || first.iter().cloned().flatten();
    let norm = |values: &[f64]| match region {
        Region::Ball => first().map(|i| values[i] * values[i]).sum::<f64>().sqrt(),
        _ => first().fold(0.0, |m, i| f64::max(m, values[i].abs())),
    };
    let length = norm(parameters);
    ensure!(length != 0.0, InvalidOption, "the weights of layer 1 are 0: the function is constant already");
    let alpha = epsilon / length;
    let transformation = scaling.by(alpha);
    let moved = transformation.apply(network, parameters)?;

    let mut delta = vec![0.0; moved.len()];
    let mut constant = moved.clone();
    for i in first() {
        delta[i] = -moved[i];
        constant[i] = 0.0;
    }
    let constant_loss = engine.evaluate(&constant).await?.loss;
    control.step(Progress::new("sharpness at θ", 0, 2)).await?;
    let before = epsilon_sharpness(engine, parameters, region, epsilon, options, control).await?;
    control.step(Progress::new("sharpness at T(θ)", 1, 2)).await?;
    let hints = Hints { directions: &[delta], ..Hints::default() };
    let measured = ascend(engine, &moved, region, epsilon, options, hints, control).await?;
    let outputs_after = outputs_at(engine, &moved).await?;
    let over = |other: f64| (other - loss) / (1.0 + loss);
    let best_constant_loss = best_constant_loss(engine)?;
    // Two losses, each rounded; and θ + Δ rounds to 0 up to an ulp of ε a weight.
    let slack = 16.0 * engine.info().precision.epsilon() * (1.0 + constant_loss.abs()) + 4.0 * measured.resolution;
    Ok(ConstantInBall {
        region,
        epsilon,
        alpha,
        transformation,
        distance: norm(&moved),
        loss,
        constant_loss,
        best_constant_loss,
        guaranteed: over(constant_loss),
        least: over(best_constant_loss),
        before,
        holds: measured.value >= over(constant_loss) - slack,
        measured,
        outputs: OutputChange::new(&outputs_before, &outputs_after),
        parameters: moved,
    })
}

/// The least mean loss of a constant output: the entropy of the labels, or the targets' variance summed over the outputs. Of all samples,
/// wherever they are.
fn best_constant_loss(engine: &Engine) -> Result<f64> {
    let problem = engine.problem();
    let (count, width) = (problem.samples() as f64, problem.network().output_len());
    let mut sums = vec![0.0; width];
    Ok(match problem.targets() {
        Targets::Classes(labels) => {
            labels.iter().for_each(|&y| sums[y as usize] += 1.0);
            engine.total(&mut sums)?;
            sums.iter().filter(|&&n| n > 0.0).map(|n| -n / count * (n / count).ln()).sum()
        }
        Targets::Vectors(values) => {
            values.iter().enumerate().for_each(|(i, y)| sums[i % width] += y);
            engine.total(&mut sums)?;
            let off = |(i, y): (usize, &f64)| (y - sums[i % width] / count).powi(2);
            let mut square = [values.iter().enumerate().map(off).sum::<f64>()];
            engine.total(&mut square)?;
            square[0] / count
        }
    })
}
