//! The search for a spectrum's ends: by Lanczos, and for large problems in double precision by a draft in single precision that is
//! corrected in double.

use super::known::Known;
use super::trace::has_exact_trace;
use crate::engine::{Engine, held};
use crate::error::Result;
use crate::linalg::{Explored, Goal, LOST, Lanczos, Spectrum, refine};
use crate::operator::OperatorKind;

/// To what a search in single precision goes that double precision takes over: below what its products are off by, since what the
/// iteration has not found yet takes as many products there as here, each of twice the time.
const DRAFT_TOLERANCE: f64 = 2e-6;

/// Products in double precision for what single precision has found, at least, before it is looked for anew.
const MOST_CORRECTIONS: usize = 12;

/// The subspace that a search has seen, and whether that was in single precision.
pub(super) struct Seen {
    pub explored: Explored,
    pub is_coarse: bool,
}

impl Known<'_, '_> {
    /// By Lanczos; of a large problem in single precision first, where that will do for what is asked for besides.
    pub(super) async fn search(&self, kind: OperatorKind, goal: Goal, columns: usize) -> Result<(Spectrum, Seen)> {
        let is_trace_asked = columns > 0 && !has_exact_trace(self.engine.problem().network(), kind);
        if !is_trace_asked
            && let Some(coarse) = self.engine.coarse().await?
            && let Some(found) = self.search_coarse(coarse, kind, goal, columns).await?
        {
            return Ok(found);
        }
        let operator = kind.operator(self.engine).await?;
        let (found, explored) = self.options.lanczos(goal).explore(&operator, columns, &self.control).await?;
        Ok((found, Seen { explored, is_coarse: false }))
    }

    /// In single precision, and what is found there taken to double precision; `None` where that does not work out.
    async fn search_coarse(
        &self,
        coarse: &Engine,
        kind: OperatorKind,
        goal: Goal,
        columns: usize,
    ) -> Result<Option<(Spectrum, Seen)>> {
        let tolerance = self.options.tolerance_in(self.engine.info().precision);
        let lanczos = Lanczos { tolerance: Some(tolerance.max(DRAFT_TOLERANCE)), ..self.options.lanczos(goal) };
        let drafted = match kind.operator(coarse).await {
            Ok(operator) => lanczos.explore(&operator, columns, &self.control).await,
            Err(error) => Err(error),
        };
        let Some((draft, explored)) = held(drafted)? else { return Ok(None) };
        if !draft.verified || draft.dominant().is_none_or(|pair| pair.value.abs() < LOST) {
            return Ok(None);
        }
        let operator = kind.operator(self.engine).await?;
        let left = self.options.max_products.saturating_sub(draft.products);
        let most = (draft.products / 2).max(MOST_CORRECTIONS).min(left);
        let seen = (&draft, &explored, coarse.vectors());
        let found = refine(seen, &operator, goal, tolerance, most, &self.control).await?;
        Ok(found.map(|found| (found, Seen { explored, is_coarse: true })))
    }
}
