//! Exact diagonals by the cotangent sweep: what random probes estimate, from one backward pass for each output.
//!
//! The Gauss–Newton matrix is the mean over samples of Σ over the cotangents of g gᵀ, g the cotangent's gradient in all
//! parameters, so entry i of its diagonal is the mean of Σ g_i². [`trace`](super::trace) says for which operators that is the
//! diagonal too; D H D has the entries of D² before it, and the Levi-Civita connection adds, for a block w with gradient g,
//! the diagonal of w gᵀ + g wᵀ − (w·g) I.

use super::evaluator::is_lost;
use super::{has_exact_trace, petzka};
use crate::control::Control;
use crate::engine::{Engine, Segments, ensure_number};
use crate::error::Result;
use crate::linalg::{DiagonalEstimate, diagonal, ensure_spread};
use crate::memory::{room, zeros};
use crate::network::ParametricLayer;
use crate::operator::{Connection, Metric, OperatorKind, Whole};

/// The diagonal of an operator at the prepared point, by one backward pass for each output; `None` where that does not give
/// it (see [`has_exact_trace`]), and [`diagonal`] estimates it.
///
/// # Errors
/// `InvalidParameters` if no point is prepared; `InvalidOption` for a layer that is not there; `NotFinite` where squares
/// overflow; `Aborted`; the device's.
pub async fn exact_diagonal(
    engine: &Engine,
    kind: OperatorKind,
    control: &Control<'_>,
) -> Result<Option<DiagonalEstimate>> {
    let network = engine.problem().network();
    if !has_exact_trace(network, kind) {
        return Ok(None);
    }
    // Fails for a layer that is not there.
    let blocks = kind.blocks(network.layout())?;
    let theta = engine.parameters()?;
    let mut entries: Vec<f64> = zeros("a diagonal", theta.len())?;
    for (progress, cotangents) in petzka::cotangents(engine) {
        control.step(progress).await?;
        let squares = engine.squared_gradients(&cotangents).await?;
        entries.iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
    }
    // As in the sweep of traces.
    let is_lost = |layer: &ParametricLayer| is_lost(engine, entries[layer.weight.clone()].iter().sum());
    if network.layout().layers().iter().any(is_lost) {
        return Box::pin(exact_diagonal(&engine.in_f64_here().await?, kind, control)).await;
    }
    if let Some(metric) = kind.whole.metric() {
        entries.iter_mut().zip(metric.scale(engine, &theta)?).for_each(|(entry, d)| *entry = *entry * d * d);
    }
    if let Whole::Riemannian(metric, Connection::LeviCivita) = kind.whole {
        let mut products = engine.gradient().await?;
        products.iter_mut().zip(&theta).for_each(|(g, w)| *g *= w);
        for block in Segments::blocks(network.layout()).ranges() {
            let inner: f64 = products[block.clone()].iter().sum();
            for i in block {
                entries[i] += match metric {
                    Metric::Layerwise => 2.0 * products[i] - inner,
                    Metric::Nodewise => products[i],
                };
            }
        }
    }
    let mut values = room("a diagonal", blocks.iter().map(|block| block.len()).sum())?;
    blocks.into_iter().for_each(|block| values.extend_from_slice(&entries[block]));
    ensure_number("the diagonal", engine.info().precision, &values)?;
    let standard_errors = zeros("a diagonal", values.len())?;
    Ok(Some(DiagonalEstimate { standard_errors, values, probes: 0, products: 0 }))
}

/// The same where the sweep gives it, and otherwise [`diagonal`] with so many products; with what it was found by: `sweep`, `products`
/// (one for each entry, exactly) or `probes`.
///
/// # Errors
/// As [`exact_diagonal`] and [`diagonal`].
pub async fn diagonal_by(
    engine: &Engine,
    kind: OperatorKind,
    products: usize,
    seed: u64,
    control: &Control<'_>,
) -> Result<(DiagonalEstimate, &'static str)> {
    // Whether or not a sweep spares them.
    ensure_spread(products)?;
    if let Some(exact) = exact_diagonal(engine, kind, control).await? {
        return Ok((exact, "sweep"));
    }
    let operator = kind.operator(engine).await?;
    let found = diagonal(&operator, products, seed, control).await?;
    let method = if found.probes > 0 { "probes" } else { "products" };
    Ok((found, method))
}
