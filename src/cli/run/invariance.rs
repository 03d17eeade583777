//! `invariance`.

use serde_json::{Map, Value, json};

use super::{Outcome, maps, whole};
use crate::cli::invocation::Invocation;
use crate::cli::open::Opened;
use crate::control::Control;
use crate::engine::Engine;
use crate::error::Result;
use crate::invariance::invariance;
use crate::measure::{Cost, Measure, MeasureOptions};
use crate::network::Network;
use crate::symmetry::Transformation;

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

/// What is asked for; else what a problem file has; else one of each kind that the network has.
fn transformations(invocation: &Invocation, opened: &Opened) -> Result<Vec<Transformation>> {
    let mut list = maps::given(invocation, &opened.network)?;
    if list.is_empty() {
        list = opened.file.as_ref().map_or(Vec::new(), |file| file.transformations.clone());
    }
    if list.is_empty() {
        // Without rescalings there are permutations still.
        let names = if opened.network.is_positively_homogeneous() { &maps::DRAWN[..] } else { &maps::DRAWN[2..] };
        list = names.iter().filter_map(|name| maps::drawn(name, invocation.seed)).collect();
    }
    Ok(list)
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
