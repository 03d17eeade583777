//! Power iteration as in Rangamani's Algorithm 1: it stops on the relative change of the vector.
//!
//! Over D H D in ordinary coordinates it is the paper's Riemannian power method: with ξ = D u, the step
//! ξ ← Hess[ξ] / ‖Hess[ξ]‖_g is u ← D H D u / ‖D H D u‖₂.

use super::{Eigenpair, ensure_product, ensure_tolerance, generator, overflow, random_normal, rayleigh_ritz};
use crate::control::{Control, Progress};
use crate::engine::{Precision, Segments};
use crate::error::Result;
use crate::operator::SymmetricOperator;

/// Steps between two readbacks: scalars travel, and not in every step.
const CHECK_EVERY: usize = 4;

/// What to do.
#[derive(Debug, Clone)]
pub struct PowerIteration {
    /// Stop once ‖u − u′‖ (up to sign) is below this; `None` takes 1e-9 in f64, 1e-5 in f32.
    pub tolerance: Option<f64>,
    /// Most products; at least 1.
    pub max_products: usize,
    /// Seed of the start vector.
    pub seed: u64,
    /// Whether the eigenvector is wanted.
    pub vector: bool,
}

impl Default for PowerIteration {
    fn default() -> Self {
        Self { tolerance: None, max_products: 1000, seed: 0, vector: false }
    }
}

/// The eigenvalue of largest magnitude.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct PowerResult {
    /// The pair; `converged` says whether the vector's change fell below the tolerance.
    pub pair: Eigenpair,
    /// Products with the operator.
    pub products: usize,
    /// ‖A u‖ after each product: Rangamani's Figure 1.
    pub norms: Vec<f64>,
    /// ‖u − u′‖ at the last check.
    pub change: f64,
}

impl PowerIteration {
    /// Runs it.
    ///
    /// # Errors
    /// `InvalidOption` for no products; `NotFinite` where they overflow; `Aborted`; the device's.
    pub async fn run(&self, operator: &dyn SymmetricOperator, control: &Control<'_>) -> Result<PowerResult> {
        ensure_product(self.max_products)?;
        ensure_tolerance(self.tolerance)?;
        let vectors = operator.vectors();
        let n = operator.len();
        let whole = Segments::whole(n);
        let tolerance = self.tolerance.unwrap_or(match vectors.precision() {
            Precision::F64 => 1e-9,
            Precision::F32 => 1e-5,
        });
        let start = vectors.upload(&random_normal(n, &mut generator(self.seed))?, 1)?;
        let mut u = vectors.zeros(n, 1)?;
        // Those since the last readback.
        let mut norms = vectors.zeros(CHECK_EVERY, 1)?;
        vectors.normalize(&start, &mut u, 0, &mut norms, 0)?;
        let (mut au, mut next, mut difference) = (vectors.zeros(n, 1)?, vectors.zeros(n, 1)?, vectors.zeros(n, 1)?);
        let mut changes = vectors.zeros(2, 1)?;
        let (mut products, mut change) = (0, f64::INFINITY);
        let mut history: Vec<f64> = Vec::new();
        while products < self.max_products && change > tolerance {
            operator.apply(&u, &mut au).await?;
            products += 1;
            vectors.normalize(&au, &mut next, 0, &mut norms, (products - 1) % CHECK_EVERY)?;
            let check = products % CHECK_EVERY == 0 || products == self.max_products;
            if check {
                // A negative eigenvalue turns the vector round in every step: the change is meant up to sign.
                for (i, sign) in [-1.0, 1.0].into_iter().enumerate() {
                    vectors.copy_columns(&next, 0..1, &mut difference, 0)?;
                    vectors.axpy(sign, &u, &mut difference)?;
                    vectors.segment_inner(&whole, &difference, &difference, 0..1, &mut changes, i)?;
                }
            }
            std::mem::swap(&mut u, &mut next);
            if check {
                let squares = vectors.download(&changes).await?;
                change = squares[0].min(squares[1]).sqrt();
                let recent = vectors.download(&norms).await?;
                let recent = &recent[..products - history.len()];
                history.extend(recent);
                if !change.is_finite() || !recent.iter().all(|norm| norm.is_finite()) {
                    return Err(overflow(vectors));
                }
                let estimate = history[products - 1];
                let progress = Progress::new("power iteration", products, self.max_products);
                control.step(progress.with_estimate(estimate, change)).await?;
                if estimate == 0.0 {
                    // A = 0 on this vector: the spectral norm is 0 for an operator that a random vector meets.
                    change = 0.0;
                }
            }
        }
        if history.last() == Some(&0.0) {
            // A random vector that a product takes to 0: so is the operator, unless the product was lost to underflow.
            let pair = rayleigh_ritz(operator, &start, tolerance, 0.0, self.vector).await?.remove(0);
            return Ok(PowerResult { pair, products: products + 1, norms: history, change });
        }
        let mut pair = rayleigh_ritz(operator, &u, tolerance, 0.0, self.vector).await?.remove(0);
        pair.converged = change <= tolerance;
        Ok(PowerResult { pair, products: products + 1, norms: history, change })
    }
}
