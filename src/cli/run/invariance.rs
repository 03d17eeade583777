//! `invariance`.

use serde_json::{Map, Value, json};

use super::{Outcome, whole};
use crate::cli::invocation::Invocation;
use crate::cli::open::Opened;
use crate::control::Control;
use crate::engine::Engine;
use crate::error::Result;
use crate::invariance::invariance;
use crate::measure::{Cost, Measure, MeasureOptions};
use crate::network::Network;
use crate::symmetry::Transformation;

/// Smallest and largest factor of rescalings that are drawn.
const FACTORS: (f64, f64) = (0.2, 5.0);

pub(super) async fn run(
    invocation: &Invocation,
    opened: &Opened,
    engine: &Engine,
    control: &Control<'_>,
    result: &mut Map<String, Value>,
) -> Result<Outcome> {
    let control = &control.finishable();
    let measures = measures(invocation, &opened.network)?;
    let transformations = transformations(invocation, opened)?;
    let options = MeasureOptions { seed: invocation.seed, ..MeasureOptions::default() };
    let table = invariance(engine, &opened.parameters, &measures, &transformations, &options, control).await?;
    result.insert("names".into(), json!(transformations.iter().map(name).collect::<Vec<String>>()));
    result.insert("agrees".into(), json!(table.agrees()));
    result.insert("unresolved".into(), json!(table.unresolved()));
    result.insert("table".into(), json!(table));
    Ok(whole())
}

fn measures(invocation: &Invocation, network: &Network) -> Result<Vec<&'static Measure>> {
    let arguments = &invocation.invariance;
    if !arguments.measures.is_empty() {
        return arguments.measures.iter().map(|key| Measure::from_key(key)).collect();
    }
    let is_quick = |measure: &&Measure| arguments.everything || measure.cost <= Cost::Eigenvalues;
    Ok(Measure::defined_for(network).filter(is_quick).collect())
}

fn transformations(invocation: &Invocation, opened: &Opened) -> Result<Vec<Transformation>> {
    let arguments = &invocation.invariance;
    let mut list = Vec::new();
    for given in &arguments.transformations {
        match drawn(given, invocation.seed) {
            Some(map) => list.push(map),
            None => list.extend(transformations_from_json(given)?),
        }
    }
    if let Some(alpha) = arguments.alpha {
        list.push(alpha_scale(&opened.network, alpha));
    }
    if list.is_empty() {
        list = opened.file.as_ref().map_or(Vec::new(), |file| file.transformations.clone());
    }
    if list.is_empty() {
        let names = ["layerwise", "nodewise", "permutation"];
        // Without rescalings there are permutations still.
        let names = if opened.network.is_positively_homogeneous() { &names[..] } else { &names[2..] };
        list = names.iter().filter_map(|name| drawn(name, invocation.seed)).collect();
    }
    Ok(list)
}

fn drawn(name: &str, seed: u64) -> Option<Transformation> {
    let (low, high) = FACTORS;
    match name {
        "layerwise" => Some(Transformation::RandomLayerwise { seed, low, high }),
        "nodewise" => Some(Transformation::RandomNodewise { seed, low, high }),
        "permutation" => Some(Transformation::RandomPermutation { seed }),
        _ => None,
    }
}

/// Dinh's (α W_1, W_2 / α); of deeper networks the first and the last layer.
fn alpha_scale(network: &Network, alpha: f64) -> Transformation {
    let depth = network.layout().layers().len();
    if depth == 2 {
        return Transformation::AlphaScale { alpha };
    }
    let mut lambda = vec![1.0; depth];
    if let [first, .., last] = &mut lambda[..] {
        (*first, *last) = (alpha, 1.0 / alpha);
    }
    Transformation::Layerwise { lambda }
}

/// One transformation, or a list of them.
pub(in crate::cli) fn transformations_from_json(text: &str) -> Result<Vec<Transformation>> {
    match text.trim_start().starts_with('[') {
        true => crate::json::read(text),
        false => Ok(vec![Transformation::from_json(text)?]),
    }
}

/// What a column is headed with.
fn name(map: &Transformation) -> String {
    match map {
        Transformation::Layerwise { .. } => "layer-wise".into(),
        Transformation::AlphaScale { alpha } => format!("α-scale {alpha}"),
        Transformation::Nodewise { .. } => "node-wise".into(),
        Transformation::Permutation { .. } => "permutation".into(),
        Transformation::Composition { of } => of.iter().map(name).collect::<Vec<String>>().join(", "),
        Transformation::RandomLayerwise { .. } => "layer-wise, drawn".into(),
        Transformation::RandomNodewise { .. } => "node-wise, drawn".into(),
        Transformation::RandomPermutation { .. } => "permutation, drawn".into(),
    }
}
