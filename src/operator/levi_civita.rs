//! The connection term of Rangamani et al. 2019, section 3 (Remark 1), which the paper sets to zero.

use std::ops::Range;

use super::{Metric, SymmetricOperator};
use crate::control::LocalFuture;
use crate::engine::{Segments, Vector, Vectors};
use crate::error::Result;
use crate::memory::{collected, zeros};
use crate::network::Layout;
use crate::numbers::inner as inner_product;

const DIAGONAL: &str = "the connection's diagonal";

/// What the Levi-Civita connection adds to D H D (Rangamani et al. 2019, completed): for each block w with
/// gradient g, w gᵀ + g wᵀ − (w·g) I in the coordinates of D H D; for single entries as blocks, diag(w_i g_i).
pub struct LeviCivita<A> {
    inner: A,
    term: Term,
}

enum Term {
    /// Blocks of several entries: w, g, and the diagonal −(w·g) of each entry's block.
    Blocks { segments: Segments, w: Vector, g: Vector, diagonal: Vector },
    /// Blocks of one entry: diag(w_i g_i).
    Entries { diagonal: Vector },
}

impl<A: SymmetricOperator> LeviCivita<A> {
    /// Adds the term for whole blocks w, with this gradient.
    ///
    /// # Errors
    /// The device's.
    pub fn blocks(inner: A, segments: Segments, w: &[f64], g: &[f64]) -> Result<Self> {
        let mut diagonal = zeros(DIAGONAL, w.len())?;
        for range in segments.ranges() {
            let product = inner_product(&w[range.clone()], &g[range.clone()]);
            diagonal[range].fill(-product);
        }
        let vectors = inner.vectors();
        let (w, g) = (vectors.upload(w, 1)?, vectors.upload(g, 1)?);
        let diagonal = vectors.upload(&diagonal, 1)?;
        Ok(Self { inner, term: Term::Blocks { segments, w, g, diagonal } })
    }

    /// Adds the term for single entries as blocks.
    ///
    /// # Errors
    /// The device's.
    pub fn entries(inner: A, w: &[f64], g: &[f64]) -> Result<Self> {
        let diagonal = collected(DIAGONAL, w.iter().zip(g).map(|(w, g)| w * g))?;
        let diagonal = inner.vectors().upload(&diagonal, 1)?;
        Ok(Self { inner, term: Term::Entries { diagonal } })
    }
}

/// Adds the term to the matrix of D H D, column after column.
pub(crate) fn add_connection<'m>(
    columns: impl Iterator<Item = &'m mut [f64]>,
    metric: Metric,
    layout: &Layout,
    w: &[f64],
    g: &[f64],
) {
    let mut columns = columns.enumerate();
    let mut add = |block: Range<usize>| {
        let (w, g) = (&w[block.clone()], &g[block.clone()]);
        let product = inner_product(w, g);
        for (j, column) in columns.by_ref().take(block.len()) {
            let (entries, at) = (&mut column[block.clone()], j - block.start);
            for ((entry, w_i), g_i) in entries.iter_mut().zip(w).zip(g) {
                *entry += w_i * g[at] + g_i * w[at];
            }
            entries[at] -= product;
        }
    };
    match metric {
        Metric::Layerwise => Segments::blocks(layout).ranges().for_each(add),
        Metric::Nodewise => (0..w.len()).for_each(|i| add(i..i + 1)),
    }
}

impl<A: SymmetricOperator> SymmetricOperator for LeviCivita<A> {
    fn vectors(&self) -> &dyn Vectors {
        self.inner.vectors()
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let vectors = self.vectors();
            self.inner.apply(x, y).await?;
            match &self.term {
                Term::Entries { diagonal } => vectors.multiply_add(1.0, diagonal, x, 1.0, y),
                Term::Blocks { segments, w, g, diagonal } => {
                    vectors.multiply_add(1.0, diagonal, x, 1.0, y)?;
                    let mut inner = vectors.zeros(segments.count() * x.columns(), 1)?;
                    vectors.segment_inner(segments, g, x, 0..x.columns(), &mut inner, 0)?;
                    vectors.segment_axpy(segments, &inner, w, y)?;
                    vectors.segment_inner(segments, w, x, 0..x.columns(), &mut inner, 0)?;
                    vectors.segment_axpy(segments, &inner, g, y)
                }
            }
        })
    }
}
