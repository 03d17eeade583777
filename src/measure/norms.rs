//! Measures that need no spectrum: the Fisher–Rao norm (Liang et al. 2019) and the path norm (Neyshabur et al. 2015).

use super::known::Known;
use super::row::{ALWAYS, Compute, Cost, Domain, Family};
use super::{Measure, MeasureValue};
use crate::engine::{Curvature, Engine, ensure_number};
use crate::error::{Result, bail};
use crate::network::{Layer, Network, ParametricLayer, Source};
use crate::numbers::inner;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "fisher_rao_norm",
        title: "Fisher–Rao norm",
        paper: "Liang et al. 2019",
        description: "θᵀ G θ with the Gauss–Newton matrix G: the curvature seen along the parameters themselves.",
        invariant: ALWAYS,
        ..Measure::new(Family::Norms, Cost::Pass, Compute::Point(|known, row| Box::pin(fisher_rao(known, row))))
    },
    Measure {
        key: "path_norm_squared",
        title: "Path norm, squared",
        paper: "Neyshabur et al. 2015",
        description: "Sum over the paths from inputs to outputs of the product of the squared weights; dense layers only.",
        defined_for: Domain::Dense,
        invariant: ALWAYS,
        ..Measure::new(Family::Norms, Cost::Pass, Compute::Point(|known, row| Box::pin(path_norm(known, row))))
    },
];

async fn fisher_rao(known: &mut Known<'_, '_>, row: &Measure) -> Result<MeasureValue> {
    let norm = fisher_rao_norm(known.engine).await?;
    Ok(row.exact(norm, norm))
}

async fn path_norm(known: &mut Known<'_, '_>, row: &Measure) -> Result<MeasureValue> {
    let engine = known.engine;
    match path_norm_squared(engine.problem().network(), &engine.parameters()?) {
        Some(norm) => Ok(row.exact(norm, norm)),
        None => bail!(InvalidOption, "the path norm is defined for networks of dense layers only"),
    }
}

/// θᵀ G θ at the prepared point.
///
/// # Errors
/// As [`Engine::product`]; `NotFinite` where the sum overflows.
pub async fn fisher_rao_norm(engine: &Engine) -> Result<f64> {
    let theta = engine.parameters()?;
    let product = engine.product(Curvature::GaussNewton, &theta).await?;
    let norm = inner(&theta, &product);
    ensure_number("the Fisher–Rao norm", engine.info().precision, &[norm])?;
    Ok(norm)
}

/// Σ over the paths from inputs to outputs of Π w²: a forward pass of ones through the squared weights, biases left out.
/// Defined for networks of dense layers: a pool has no weights of its own, and papers differ on what it does to a path. `None` for others,
/// and for what are no parameters of the network.
pub fn path_norm_squared(network: &Network, parameters: &[f64]) -> Option<f64> {
    if !Domain::Dense.includes(network) || network.check_parameters(parameters).is_err() {
        return None;
    }
    let (layout, mut parametric) = (network.layout(), network.layout().layers().iter());
    let mut values: Vec<Vec<f64>> = Vec::with_capacity(network.named_layers().len());
    let ones = vec![1.0; network.input_len()];
    for (i, layer) in network.layers().enumerate() {
        let reads: Vec<&[f64]> = layout
            .sources(i)
            .iter()
            .map(|source| match source {
                Source::Input => &ones[..],
                Source::Layer(j) => &values[*j][..],
            })
            .collect();
        let weights = if layer.is_parametric() { parametric.next() } else { None };
        let area = layout.tensor(Source::Layer(i)).shape.area();
        values.push(match (layer, weights) {
            (Layer::Scale { .. }, Some(place)) => {
                let weights = &parameters[place.weight.clone()];
                reads[0].iter().enumerate().map(|(j, v)| weights[j / area] * (weights[j / area] * v)).collect()
            }
            (_, Some(place)) => squared(place, parameters, reads[0]),
            (Layer::Add, _) => (0..reads[0].len()).map(|j| reads.iter().map(|read| read[j]).sum()).collect(),
            (Layer::Concat, _) => reads.concat(),
            (Layer::PadChannels { before, after }, _) => {
                [vec![0.0; before * area], reads[0].to_vec(), vec![0.0; after * area]].concat()
            }
            _ => reads[0].to_vec(),
        });
    }
    values.last().map(|outputs| outputs.iter().sum())
}

/// What the squared weights of a dense layer make of these sums over paths.
fn squared(layer: &ParametricLayer, parameters: &[f64], paths: &[f64]) -> Vec<f64> {
    let rows = parameters[layer.weight.clone()].chunks_exact(layer.inputs);
    rows.map(|row| row.iter().zip(paths).map(|(w, v)| w * (w * v)).sum()).collect()
}
