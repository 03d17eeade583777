//! Reparametrisation, section 5.1 of Dinh et al. 2017: for θ = g(η), ∇²L_η = (∇g)ᵀ ∇²L (∇g) + Σ_k ∂_k L ∇²g_k. At a critical
//! point the second term vanishes, and the first can have any positive eigenvalues one likes.

use nalgebra::DMatrix;
use serde::Serialize;

use crate::control::{Control, LocalFuture, Progress};
use crate::engine::{Curvature, Engine, Vector, Vectors};
use crate::error::{Result, ensure};
use crate::linalg::symmetric_eigenvalues;
use crate::memory::room;
use crate::numbers::{dot, largest, norm};
use crate::operator::SymmetricOperator;

/// The largest η whose Hessian is taken whole.
const MAX_DIMENSION: usize = 2048;

/// Columns that go through the engine together.
const COLUMNS: usize = 32;

/// Other coordinates η of the parameters: θ = g(η), with g's first and second derivatives. Its methods take vectors of
/// the right lengths as given: [`reparametrized_hessian`] sees to that.
pub trait Reparametrization {
    /// Length of η.
    fn dimension(&self) -> usize;

    /// θ = g(η).
    fn parameters(&self, eta: &[f64]) -> Vec<f64>;

    /// (∇g) x: what a change x of η does to θ.
    fn push(&self, eta: &[f64], x: &[f64]) -> Vec<f64>;

    /// (∇g)ᵀ p: a gradient p in θ, seen in η.
    fn pull(&self, eta: &[f64], p: &[f64]) -> Vec<f64>;

    /// (Σ_k p_k ∇²g_k) x.
    fn bend(&self, eta: &[f64], p: &[f64], x: &[f64]) -> Vec<f64>;
}

/// The Hessian in other coordinates, with and without the term that a critical point does not have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReparametrizedHessian {
    /// Length of η.
    pub dimension: usize,
    /// L(g(η)).
    pub loss: f64,
    /// ‖∇L‖₂ in θ: 0 at a critical point.
    pub gradient_norm: f64,
    /// ‖(∇g)ᵀ ∇L‖₂, the gradient in η.
    pub gradient_norm_eta: f64,
    /// Eigenvalues of (∇g)ᵀ H (∇g), ascending: the paper's at a critical point.
    pub transformed: Vec<f64>,
    /// Eigenvalues of the Hessian in η, ascending.
    pub full: Vec<f64>,
    /// Spectral norm of Σ_k ∂_k L ∇²g_k, the difference of the two.
    pub term_norm: f64,
    /// The same over the spectral norm of the Hessian in η.
    pub relative_term: f64,
    /// The Hessian in η, column after column.
    #[serde(skip)]
    pub matrix: Vec<f64>,
}

/// The Hessian of the loss in η, whole, by products of the engine with (∇g) e_i and g's second derivatives. Leaves the engine
/// prepared at g(η).
///
/// # Errors
/// `InvalidParameters` for an η of the wrong length; `TooLarge` above 2048 coordinates; `NotFinite`; `Aborted`; the device's.
pub async fn reparametrized_hessian(
    engine: &Engine,
    map: &dyn Reparametrization,
    eta: &[f64],
    control: &Control<'_>,
) -> Result<ReparametrizedHessian> {
    let n = map.dimension();
    ensure!(eta.len() == n, InvalidParameters, "η has {} coordinates, but must have {n}", eta.len());
    ensure!(n <= MAX_DIMENSION, TooLarge, "a whole Hessian is for at most {MAX_DIMENSION} coordinates, but η has {n}");
    crate::error::ensure_finite("η", eta)?;
    engine.prepare(&map.parameters(eta)).await?;
    let (loss, gradient) = (engine.loss().await?, engine.gradient().await?);
    let unit = |i: usize| {
        let mut unit = vec![0.0; n];
        unit[i] = 1.0;
        unit
    };
    let (mut transformed, mut term) = (Vec::with_capacity(n * n), Vec::with_capacity(n * n));
    for start in (0..n).step_by(COLUMNS) {
        control.step(Progress::new("Hessian in other coordinates", start, n)).await?;
        let columns = start..(start + COLUMNS).min(n);
        let directions: Vec<f64> = columns.clone().flat_map(|i| map.push(eta, &unit(i))).collect();
        let products = engine.product(Curvature::Hessian, &directions).await?;
        for (i, product) in columns.zip(products.chunks_exact(gradient.len())) {
            transformed.extend(map.pull(eta, product));
            term.extend(map.bend(eta, &gradient, &unit(i)));
        }
    }
    crate::error::ensure_finite("Hessian in η", &transformed)?;
    crate::error::ensure_finite("second derivatives of the map", &term)?;
    let transformed = DMatrix::from_vec(n, n, transformed);
    let term = DMatrix::from_vec(n, n, term);
    let full = &transformed + &term;
    let [gradient_norm, gradient_norm_eta] = [&gradient, &map.pull(eta, &gradient)].map(|g| norm(g.iter().copied()));
    crate::error::ensure_finite("the gradients' norms", &[gradient_norm, gradient_norm_eta])?;
    let values = eigenvalues(&full, control).await?;
    let term_norm = largest(eigenvalues(&term, control).await?);
    Ok(ReparametrizedHessian {
        dimension: n,
        loss,
        gradient_norm,
        gradient_norm_eta,
        transformed: eigenvalues(&transformed, control).await?,
        relative_term: term_norm / largest(values.iter().copied()).max(f64::MIN_POSITIVE),
        full: values,
        term_norm,
        matrix: full.as_slice().to_vec(),
    })
}

/// The Hessian in η as an operator, whose vectors go to the host and back.
pub(crate) struct ReparametrizedOperator<'a> {
    engine: &'a Engine,
    map: &'a dyn Reparametrization,
    eta: &'a [f64],
    gradient: Vec<f64>,
}

impl<'a> ReparametrizedOperator<'a> {
    /// At η, where the engine is prepared at g(η).
    pub async fn new(engine: &'a Engine, map: &'a dyn Reparametrization, eta: &'a [f64]) -> Result<Self> {
        Ok(Self { engine, map, eta, gradient: engine.gradient().await? })
    }
}

impl SymmetricOperator for ReparametrizedOperator<'_> {
    fn vectors(&self) -> &dyn Vectors {
        self.engine.vectors()
    }

    fn len(&self) -> usize {
        self.eta.len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let columns = self.vectors().download(x).await?;
            let mut products = room("products in other coordinates", columns.len())?;
            for x in columns.chunks_exact(self.len()) {
                let product = self.engine.product(Curvature::Hessian, &self.map.push(self.eta, x)).await?;
                let bent = self.map.bend(self.eta, &self.gradient, x);
                products.extend(self.map.pull(self.eta, &product).iter().zip(bent).map(|(p, b)| p + b));
            }
            *y = self.vectors().upload(&products, x.columns())?;
            Ok(())
        })
    }
}

/// Eigenvalues of the symmetric part, ascending.
async fn eigenvalues(matrix: &DMatrix<f64>, control: &Control<'_>) -> Result<Vec<f64>> {
    let symmetric = (matrix + matrix.transpose()) * 0.5;
    let n = symmetric.nrows();
    symmetric_eigenvalues(symmetric.data.into(), n, control).await
}

/// The direction v/‖v‖ of a vector and its derivatives, which radial maps and weight normalisation are made of.
pub(super) struct Direction {
    unit: Vec<f64>,
    length: f64,
}

impl Direction {
    /// Of v ≠ 0.
    pub fn new(v: &[f64]) -> Self {
        let length = dot(v, v).sqrt();
        Self { unit: v.iter().map(|x| x / length).collect(), length }
    }

    /// e = v/‖v‖.
    pub fn unit(&self) -> &[f64] {
        &self.unit
    }

    /// (∇e) x = (x − e (e·x)) / ‖v‖; ∇e is symmetric.
    pub fn derivative(&self, x: &[f64]) -> Vec<f64> {
        let along = dot(&self.unit, x);
        x.iter().zip(&self.unit).map(|(x, e)| (x - along * e) / self.length).collect()
    }

    /// (∇²(p·e)) x = (3 (p·e)(e·x) e − (e·x) p − (p·x) e − (p·e) x) / ‖v‖².
    pub fn second_derivative(&self, p: &[f64], x: &[f64]) -> Vec<f64> {
        let (pe, ex, px) = (dot(p, &self.unit), dot(&self.unit, x), dot(p, x));
        let square = self.length * self.length;
        let terms = p.iter().zip(x).zip(&self.unit);
        terms.map(|((p, x), e)| (3.0 * pe * ex * e - ex * p - px * e - pe * x) / square).collect()
    }
}
