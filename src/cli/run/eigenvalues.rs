//! `eigenvalues`.

use serde_json::{Map, Value, json};

use super::{Outcome, spaces, whole};
use crate::cli::invocation::Invocation;
use crate::cli::open::Opened;
use crate::control::Control;
use crate::engine::Engine;
use crate::error::{Result, ensure};
use crate::linalg::{Goal, Lanczos, StochasticLanczos};
use crate::measure::{Known, MeasureOptions};
use crate::operator::{OperatorKind, SymmetricOperator, Whole};
use crate::space::SpaceCurvature;

/// How many where nobody says.
const COUNT: usize = 10;

pub(super) async fn run(
    invocation: &Invocation,
    opened: &Opened,
    engine: &Engine,
    control: &Control<'_>,
    result: &mut Map<String, Value>,
) -> Result<Outcome> {
    let control = &control.finishable();
    let arguments = &invocation.eigenvalues;
    let kind = check(invocation)?;
    let open = spaces::opened(invocation, opened, control).await?;
    let in_space = is_in_space(invocation);
    let dimension = if in_space { open.space.dimension() } else { kind.dimension(opened.network.layout())? };
    let top = arguments.count.unwrap_or(COUNT.min(dimension));
    let bottom = if arguments.lowest { top } else { 0 };
    result.insert("operator".into(), json!(kind.name()));
    let title = title(kind);
    result.insert("title".into(), json!(if in_space { format!("{title} in {}", invocation.space) } else { title }));
    result.insert("dimension".into(), json!(dimension));
    engine.prepare(&open.parameters).await?;
    let operator: Box<dyn SymmetricOperator> = if in_space {
        result.insert("space".into(), json!(invocation.space));
        Box::new(SpaceCurvature::of_kind(engine, &*open.space, kind)?)
    } else {
        Box::new(kind.operator(engine).await?)
    };
    let lanczos = Lanczos { goal: Goal::Extremes { top, bottom }, seed: invocation.seed, ..Lanczos::default() };
    let found = lanczos.run(&*operator, control).await?;
    result.insert("eigenvalues".into(), json!(found));
    if arguments.density {
        let options = MeasureOptions::default();
        let lanczos = StochasticLanczos { seed: invocation.seed, ..StochasticLanczos::default() };
        let density = Known::new(engine, &options, control).density(kind, &lanczos).await?;
        result.insert("density".into(), json!(density));
    }
    Ok(whole())
}

fn is_in_space(invocation: &Invocation) -> bool {
    invocation.space != "weights"
}

/// What can be said before files are read; the operator.
///
/// # Errors
/// `InvalidOption` for what a space does not have.
pub(super) fn check(invocation: &Invocation) -> Result<OperatorKind> {
    let (arguments, space) = (&invocation.eigenvalues, &invocation.space);
    let kind = OperatorKind::from_name(&arguments.operator)?;
    if is_in_space(invocation) {
        ensure!(
            !arguments.density,
            InvalidOption,
            "--density is of the weights' own coordinates, not of --space {space}"
        );
        ensure!(
            matches!(kind, OperatorKind { whole: Whole::Curvature(_), part: None }),
            InvalidOption,
            "in a space there are hessian and gauss_newton, not {kind}"
        );
    }
    Ok(kind)
}

/// Its name for people.
fn title(kind: OperatorKind) -> String {
    let name = OperatorKind { part: None, ..kind }.name();
    let title = Whole::all().iter().find(|row| row.name == name).map_or(name.as_str(), |row| row.title);
    kind.part.map_or(title.into(), |part| format!("{title}, {}", part.to_string().replace('_', " ")))
}
