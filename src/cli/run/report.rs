//! `report`.

use serde_json::{Map, Value, json};

use super::{Outcome, evaluated, whole};
use crate::cli::invocation::Invocation;
use crate::cli::open::Opened;
use crate::control::Control;
use crate::engine::{Device, Engine};
use crate::error::Result;
use crate::linalg::StochasticLanczos;
use crate::measure::MeasureOptions;
use crate::network::Network;
use crate::report::{ReportOptions, Section, report, report_at};

/// A problem file is reported as a whole, with its products and transformations; of everything else, and where sections are named,
/// the report is that of the point.
pub(super) async fn run(
    invocation: &Invocation,
    opened: &Opened,
    device: &Device,
    control: &Control<'_>,
    result: &mut Map<String, Value>,
) -> Result<Outcome> {
    let arguments = &invocation.report;
    let engine = Engine::new(device, opened.problem()?)?;
    result.insert("backend".into(), json!(engine.info()));
    evaluated(&engine, &opened.parameters, result).await?;
    let options = options(invocation);
    let (mut values, sections) = match &opened.file {
        Some(file) if arguments.sections.is_none() => {
            // Its data are on the device but once.
            drop(engine);
            let found = report(file, device, &options.measure, control).await?;
            result.insert("wholeFile".into(), json!(true));
            let more = if arguments.everything { vec![Section::Density, Section::Sharpness] } else { Vec::new() };
            (found.as_object().cloned().unwrap_or_default(), more)
        }
        _ => {
            let mut values = Map::new();
            values.insert("backend".into(), json!(engine.info()));
            values.insert("parameter_count".into(), json!(opened.parameters.len()));
            values.insert("samples".into(), json!(engine.problem().samples()));
            (values, sections(invocation, &opened.network))
        }
    };
    let mut outcome = Outcome { stopped: control.is_finishing(), ..whole() };
    if !sections.is_empty() && !outcome.stopped {
        let engine = Engine::new(device, opened.problem()?)?;
        let options = ReportOptions { sections: Some(sections), ..options };
        let found = report_at(&engine, &opened.parameters, &options, control).await?;
        values.extend(found.values);
        outcome.stopped = found.stopped;
        result.insert("sections".into(), json!(found.sections));
    }
    result.insert("rescalable".into(), json!(opened.network.is_positively_homogeneous()));
    result.insert("report".into(), Value::Object(values));
    Ok(outcome)
}

/// The sections of a point: those that a problem file's report has, unless others are named.
fn sections(invocation: &Invocation, network: &Network) -> Vec<Section> {
    let arguments = &invocation.report;
    match &arguments.sections {
        Some(sections) => sections.clone(),
        None if arguments.everything => defined(&Section::ALL, network),
        None => defined(&Section::OF_A_FILE, network),
    }
}

fn defined(sections: &[Section], network: &Network) -> Vec<Section> {
    sections.iter().copied().filter(|section| section.is_defined_for(network)).collect()
}

fn options(invocation: &Invocation) -> ReportOptions {
    let seed = invocation.seed;
    ReportOptions {
        sections: None,
        measure: MeasureOptions { seed, ..MeasureOptions::default() },
        density: StochasticLanczos { seed, ..StochasticLanczos::default() },
    }
}
