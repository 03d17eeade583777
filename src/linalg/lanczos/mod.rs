//! Lanczos with full reorthogonalisation and thick restarts (Wu and Simon 2000): the largest and the smallest eigenvalues,
//! with their multiplicities.
//!
//! One start vector shows one copy of a multiple eigenvalue, and nothing of an eigenvector that is orthogonal to it. So where that
//! can matter, a few products with a random vector orthogonal to all of the basis tell whether anything was missed
//! ([`verification`]). What was joins what is wanted, and the search goes on. Where they cannot tell, because the spectrum goes on
//! without a gap, what has converged is kept, and the iteration starts again from a random vector orthogonal to it, until that settles
//! next to the wanted values without a new one among them.

mod pairs;
mod search;
mod target;
mod verification;

use self::search::Search;
use self::target::Target;
use super::krylov::{Basis, Explored};
use super::{Eigenpair, ensure_product, ensure_tolerance, generator, random_normal};
use crate::control::Control;
use crate::error::{Result, ensure, ensure_finite};
use crate::operator::SymmetricOperator;

/// What has to converge before the iteration stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// This many of the largest and of the smallest eigenvalues.
    Extremes {
        /// Of the largest.
        top: usize,
        /// Of the smallest.
        bottom: usize,
    },
    /// The eigenvalue of largest magnitude; the other end only as far as to know that it is smaller.
    SpectralNorm,
}

impl Goal {
    /// The least that reaches both.
    pub(crate) fn and(self, other: Self) -> Self {
        let ends = |goal| match goal {
            Self::Extremes { top, bottom } => [top, bottom],
            Self::SpectralNorm => [1, 1],
        };
        if self == other {
            return self;
        }
        let ([a, b], [c, d]) = (ends(self), ends(other));
        Self::Extremes { top: a.max(c), bottom: b.max(d) }
    }
}

/// What to do.
#[derive(Debug, Clone)]
pub struct Lanczos {
    /// What has to converge.
    pub goal: Goal,
    /// Residual, relative to the spectral norm, at which a pair has converged; `None` takes 1e-9 in f64 and 2e-5 in f32.
    pub tolerance: Option<f64>,
    /// Most products; at least 1.
    pub max_products: usize,
    /// Vectors in the basis before a restart; `None` takes what suits the goal, and more where that does not do and there is room.
    pub basis: Option<usize>,
    /// Seed of the start vector, and of those that look for what it lacked.
    pub seed: u64,
    /// The start vector, where a random one is not wanted; of any length but 0.
    pub start: Option<Vec<f64>>,
    /// Whether eigenvectors are wanted.
    pub vectors: bool,
}

impl Default for Lanczos {
    fn default() -> Self {
        Self {
            goal: Goal::Extremes { top: 1, bottom: 1 },
            tolerance: None,
            max_products: 1000,
            basis: None,
            seed: 0,
            start: None,
            vectors: false,
        }
    }
}

/// Ends of a spectrum.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Spectrum {
    /// The largest, descending.
    pub top: Vec<Eigenpair>,
    /// The smallest, ascending.
    pub bottom: Vec<Eigenpair>,
    /// Products with the operator.
    pub products: usize,
    /// Has everything that the goal names converged?
    pub converged: bool,
    /// Was no eigenvalue missed? A random vector that lacks no eigenvector says so, but for a chance of one in a thousand at each end; where a
    /// spectrum goes on without a gap, a second search from one has found none. A single one from a random start has no copies to miss. `false`
    /// where the products ran out before: the values are eigenvalues within their residuals, but there may be others between
    /// them.
    pub verified: bool,
}

impl Spectrum {
    /// The pair of largest magnitude.
    pub fn dominant(&self) -> Option<&Eigenpair> {
        self.top.iter().chain(&self.bottom).max_by(|a, b| a.value.abs().total_cmp(&b.value.abs()))
    }
}

/// Most columns of a basis that grows: beyond these their own products cost as much as what they spare.
const MOST_COLUMNS: usize = 384;

/// Most bytes of a basis that grows.
const MOST_BYTES: usize = 400_000_000;

/// So many columns a basis may grow to.
fn most_columns(operator: &dyn SymmetricOperator) -> usize {
    let column = operator.len().saturating_mul(operator.vectors().precision().bytes());
    MOST_COLUMNS.min(MOST_BYTES / column.max(1))
}

impl Lanczos {
    /// Runs it.
    ///
    /// # Errors
    /// `InvalidOption` for no products, more eigenvalues than there are, a basis too small for them, or a start vector of another
    /// length or of zeros; `NotFinite` where products overflow; `Aborted`; the device's.
    pub async fn run(&self, operator: &dyn SymmetricOperator, control: &Control<'_>) -> Result<Spectrum> {
        self.explore(operator, 0, control).await.map(|(spectrum, _)| spectrum)
    }

    /// Runs it, and hands over the subspace that it has seen, in which the ends of the spectrum weigh most: of `columns` at least, if
    /// a basis has so many.
    pub(crate) async fn explore(
        &self,
        operator: &dyn SymmetricOperator,
        columns: usize,
        control: &Control<'_>,
    ) -> Result<(Spectrum, Explored)> {
        let n = operator.len();
        let target = self.target(operator)?;
        let (top, bottom) = (target.top, target.bottom);
        let capacity = self.basis.unwrap_or(2 * (top + bottom) + 40).min(n);
        ensure!(
            capacity == n || capacity >= top + bottom + 4,
            InvalidOption,
            "a basis of {capacity} vectors is too small for {} eigenvalues",
            top + bottom
        );
        let mut search = Search {
            max_products: self.max_products,
            basis: self.start(operator, capacity).await?,
            most: self.basis.unwrap_or_else(|| most_columns(operator)).clamp(capacity, n.max(capacity)),
            target: &target,
            control,
            products: 0,
        };
        let (ritz, verified) = search.run().await?;
        search.widen(columns).await?;
        let Search { basis, mut products, .. } = search;
        let count = ritz.values.len();
        let (top, bottom) = (top.min(count), bottom.min(count));
        let chosen: Vec<usize> = (0..top).map(|i| count - 1 - i).chain(0..bottom).collect();
        let (mut pairs, more) = pairs::of(&basis, &ritz, &chosen, target.tolerance, self.vectors).await?;
        products += more;
        let low = pairs.split_off(top);
        let mut spectrum = Spectrum { top: pairs, bottom: low, products, converged: false, verified };
        spectrum.converged = match self.goal {
            Goal::Extremes { .. } => spectrum.top.iter().chain(&spectrum.bottom).all(|pair| pair.converged),
            Goal::SpectralNorm => spectrum.dominant().is_some_and(|pair| pair.converged),
        };
        let explored = basis.into_explored(ritz)?;
        Ok((spectrum, explored))
    }

    fn target(&self, operator: &dyn SymmetricOperator) -> Result<Target> {
        let n = operator.len();
        let (top, bottom) = match self.goal {
            Goal::Extremes { top, bottom } => (top, bottom),
            Goal::SpectralNorm => (1, 1),
        };
        ensure!(
            top <= n && bottom <= n,
            InvalidOption,
            "there are {n} eigenvalues, but {} were asked for",
            top.max(bottom)
        );
        ensure!(top + bottom > 0, InvalidOption, "no eigenvalue was asked for");
        ensure_product(self.max_products)?;
        ensure_tolerance(self.tolerance)?;
        let tolerance = self.tolerance.unwrap_or_else(|| operator.vectors().precision().eigenvalue_tolerance());
        let verify = [top, bottom].map(|count| count > 1 || (count > 0 && self.start.is_some()));
        Ok(Target { goal: self.goal, top, bottom, tolerance, verify })
    }

    async fn start<'a>(&self, operator: &'a dyn SymmetricOperator, capacity: usize) -> Result<Basis<'a>> {
        let n = operator.len();
        let mut rng = generator(self.seed);
        let random = random_normal(n, &mut rng)?;
        let start = self.start.as_ref().unwrap_or(&random);
        ensure!(start.len() == n, InvalidOption, "the start vector has {} values, but must have {n}", start.len());
        ensure_finite("start vector", start)?;
        ensure!(start.iter().any(|&x| x != 0.0), InvalidOption, "the start vector is zero");
        Basis::start(operator, capacity, start, rng).await
    }
}
