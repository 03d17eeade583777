//! Hutch++ (Meyer, Musco, Musco and Woodruff 2021, Algorithm 1): the trace on a subspace that carries most of the operator
//! exactly, and Hutchinson's estimate of what is left.
//!
//! With Q an orthonormal basis of A S for random signs S, and u uniform on the sphere in the complement of Q, of dimension d,
//! Tr A = Tr Qᵀ A Q + d E uᵀ A u, and by the same products ‖A‖_F² = ‖A Q‖_F² + d E ‖A u‖². Signs instead of u would take few values
//! on an operator that lives on few coordinates: the same one some times in a row would say that it is exact. The sphere (as in
//! Epperly, Tropp and Webber 2024, XTrace) is exact for multiples of the identity, as signs are.
//!
//! An operator that lives on few coordinates has a small range: once Q spans it, what a further column leaves is rounding, in
//! the span of Q again. Such columns are no part of the basis; their products go to the rest.

use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::hutchinson::COLUMNS;
use super::krylov::Explored;
use super::{TraceEstimate, generator, overflow, random_normal, random_signs, second_generator};
use crate::control::{Control, Progress};
use crate::engine::{Segments, Vector, Vectors};
use crate::error::{Result, ensure};
use crate::memory::zeros;
use crate::numbers::{Samples, power_near};
use crate::operator::SymmetricOperator;

/// Length that a second orthogonalisation leaves of a column of length 1 that is not in the span of the others: by Kahan and Parlett's
/// "twice is enough" it is 1 but for rounding, or the first one left rounding alone.
pub(super) const INDEPENDENT: f64 = 0.5;

/// The Frobenius norm, estimated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NormEstimate {
    /// ‖A‖_F, the root of an unbiased estimate of ‖A‖_F².
    pub value: f64,
    /// Its standard error, to first order: that of ‖A‖_F² over 2 ‖A‖_F.
    pub standard_error: f64,
    /// Random probes of the part that is not exact.
    pub probes: usize,
}

/// Trace and Frobenius norm from the same products.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceAndNorm {
    /// Tr A. The subspace is chosen by other probes than the rest is estimated with, so the mean is unbiased, and the standard
    /// error is that of the rest alone.
    pub trace: TraceEstimate,
    /// ‖A‖_F.
    pub norm: NormEstimate,
    /// Products with the operator.
    pub products: usize,
}

/// Tr A by Hutch++ from this many products (at least 4): a third for the subspace, up to a third for the exact part, what is left
/// for the rest. An operator no longer than that is taken entry by entry: exact, by as many products as it is long. For spectra that fall off fast its error is far below that of as many products by
/// [`super::hutchinson`].
///
/// # Errors
/// `InvalidOption` for fewer than 4 products; `NotFinite` where the products overflow; `Aborted`; the device's.
pub async fn hutch_plus_plus(
    operator: &dyn SymmetricOperator,
    products: usize,
    seed: u64,
    control: &Control<'_>,
) -> Result<TraceEstimate> {
    Ok(trace_and_norm(operator, products, seed, control).await?.trace)
}

/// ‖A‖_F likewise.
///
/// # Errors
/// As [`hutch_plus_plus`].
pub async fn frobenius_norm(
    operator: &dyn SymmetricOperator,
    products: usize,
    seed: u64,
    control: &Control<'_>,
) -> Result<NormEstimate> {
    Ok(trace_and_norm(operator, products, seed, control).await?.norm)
}

/// Fails for fewer products than an estimate takes.
pub(crate) fn ensure_enough(products: usize) -> Result<()> {
    ensure!(products >= 4, InvalidOption, "Hutch++ needs at least 4 products, but {products} were allowed");
    Ok(())
}

/// Both from the same products.
///
/// # Errors
/// As [`hutch_plus_plus`].
pub async fn trace_and_norm(
    operator: &dyn SymmetricOperator,
    products: usize,
    seed: u64,
    control: &Control<'_>,
) -> Result<TraceAndNorm> {
    ensure_enough(products)?;
    let (n, vectors) = (operator.len(), operator.vectors());
    let mut rng = generator(seed);
    if n <= products {
        let mut run = Run::new(operator, vectors.zeros(n, 1)?, n, control)?;
        let exact = run.entries().await?;
        return run.found(exact, Rest::default());
    }
    let size = products / 3;
    let mut run = Run::new(operator, vectors.zeros(n, size + 1)?, products, control)?;
    for start in (0..size).step_by(COLUMNS) {
        let columns = COLUMNS.min(size - start);
        let y = run.apply(&random_signs(n * columns, &mut rng)?, columns).await?;
        run.extend(&y).await?;
        run.report().await?;
    }
    let exact = run.subspace().await?;
    let rest = run.rest(exact, &mut rng).await?;
    run.found(exact, rest)
}

/// Columns of a search's subspace that take the place of those that so many products would give.
pub(crate) fn columns_of(products: usize) -> usize {
    products / 4
}

/// Both, where an operator is known already in the subspace that a search for its eigenvalues has seen. If that has three quarters of the
/// columns that random signs would give, it has as much of the operator in it, and a sixth of the products, for the rest, leaves
/// errors of the same size.
///
/// # Errors
/// As [`hutch_plus_plus`].
pub(crate) async fn trace_and_norm_beyond(
    explored: Explored,
    operator: &dyn SymmetricOperator,
    products: usize,
    seed: u64,
    control: &Control<'_>,
) -> Result<TraceAndNorm> {
    let Explored { q, size, trace, length, .. } = explored;
    if operator.len() <= products || size < columns_of(products) {
        return trace_and_norm(operator, products, seed, control).await;
    }
    ensure_enough(products)?;
    let mut run = Run::new(operator, q, products.div_ceil(6).max(2), control)?;
    run.size = size;
    let exact = Exact { trace, length };
    // Not what the search began with, of which the complement has nothing.
    let rest = run.rest(exact, &mut second_generator(seed)).await?;
    run.found(exact, rest)
}

/// What columns x leave: Σ xᵀ A x, and the length of all A x together.
#[derive(Debug, Clone, Copy, Default)]
struct Exact {
    trace: f64,
    length: f64,
}

impl Exact {
    fn add(&mut self, forms: &[[f64; 2]]) {
        for [form, length] in forms {
            self.trace += form;
            self.length = self.length.hypot(*length);
        }
    }
}

/// d uᵀ A u and d ‖A u‖², probe by probe.
#[derive(Debug, Clone, Copy, Default)]
struct Rest {
    forms: Samples,
    /// In units of `unit`².
    squares: Samples,
    /// A power of two of the size of the lengths; 0 before there is one.
    unit: f64,
}

impl Rest {
    /// More probes, `length` being the exact part's.
    fn push(&mut self, forms: &[[f64; 2]], length: f64) {
        if self.unit == 0.0 {
            let largest = forms.iter().fold(length, |m, form| m.max(form[1]));
            self.unit = if largest > 0.0 { power_near(largest) } else { 0.0 };
        }
        for [form, length] in forms {
            self.forms.push(*form);
            let length = if self.unit > 0.0 { length / self.unit } else { 0.0 };
            self.squares.push(length * length);
        }
    }

    /// ‖A‖_F and its standard error, with this length of the exact part.
    fn norm(&self, length: f64) -> (f64, f64) {
        if self.unit == 0.0 {
            return (length, 0.0);
        }
        let norm = (length / self.unit).hypot(self.squares.mean().sqrt());
        let error = if norm > 0.0 { self.squares.standard_error() / (2.0 * norm) } else { 0.0 };
        (norm * self.unit, error * self.unit)
    }
}

/// The subspace, and what is needed to work with it.
struct Run<'a, 'c> {
    operator: &'a dyn SymmetricOperator,
    vectors: &'a dyn Vectors,
    control: &'a Control<'c>,
    whole: Segments,
    /// n × (capacity + 1): orthonormal columns, and a place for the next.
    q: Vector,
    coefficients: Vector,
    norms: Vector,
    w: Vector,
    /// Columns of q that are there.
    size: usize,
    products: usize,
    total: usize,
}

impl<'a, 'c> Run<'a, 'c> {
    /// With a place for the subspace's basis and one column more.
    fn new(operator: &'a dyn SymmetricOperator, q: Vector, total: usize, control: &'a Control<'c>) -> Result<Self> {
        let vectors = operator.vectors();
        let n = operator.len();
        Ok(Self {
            operator,
            vectors,
            control,
            whole: Segments::whole(n),
            coefficients: vectors.zeros(q.columns(), 1)?,
            q,
            norms: vectors.zeros(3, 1)?,
            w: vectors.zeros(n, 1)?,
            size: 0,
            products: 0,
            total,
        })
    }

    async fn report(&self) -> Result<()> {
        self.control.step(Progress::new("trace and norm", self.products, self.total)).await
    }

    async fn apply(&mut self, x: &[f64], columns: usize) -> Result<Vector> {
        let x = self.vectors.upload(x, columns)?;
        let mut y = self.vectors.zeros(self.operator.len(), columns)?;
        self.operator.apply(&x, &mut y).await?;
        self.products += columns;
        Ok(y)
    }

    /// w ← (I − Q Qᵀ) w.
    async fn orthogonalize(&mut self) -> Result<()> {
        if self.size == 0 {
            return Ok(());
        }
        let (e, columns) = (self.vectors, 0..self.size);
        e.segment_inner(&self.whole, &self.w, &self.q, columns.clone(), &mut self.coefficients, 0)?;
        e.combine(-1.0, &self.q, columns, &self.coefficients, 0, &mut self.w).await
    }

    /// Adds the columns of y to Q that are not in its span numerically. A column is scaled to length 1, orthogonalised, scaled again
    /// and orthogonalised once more.
    async fn extend(&mut self, y: &Vector) -> Result<()> {
        for k in 0..y.columns() {
            self.vectors.copy_columns(y, k..k + 1, &mut self.w, 0)?;
            for pass in 0..3 {
                if pass > 0 {
                    self.orthogonalize().await?;
                }
                self.vectors.normalize(&self.w, &mut self.q, self.size, &mut self.norms, pass)?;
                self.vectors.copy_columns(&self.q, self.size..self.size + 1, &mut self.w, 0)?;
            }
            let norms = self.vectors.download(&self.norms).await?;
            if !norms[0].is_finite() {
                return Err(overflow(self.vectors));
            }
            if norms[0] > 0.0 && norms[1] > 0.0 && norms[2] >= INDEPENDENT {
                self.size += 1;
            }
        }
        Ok(())
    }

    /// The operator on all coordinates, one after the other.
    async fn entries(&mut self) -> Result<Exact> {
        let n = self.operator.len();
        let mut exact = Exact::default();
        for start in (0..n).step_by(COLUMNS) {
            let columns = COLUMNS.min(n - start);
            let mut identity = zeros("columns of the identity", n * columns)?;
            (0..columns).for_each(|k| identity[k * n + start + k] = 1.0);
            let x = self.vectors.upload(&identity, columns)?;
            exact.add(&self.forms(&x).await?);
            self.report().await?;
        }
        Ok(exact)
    }

    /// The operator on the columns of Q.
    async fn subspace(&mut self) -> Result<Exact> {
        let mut exact = Exact::default();
        for start in (0..self.size).step_by(COLUMNS) {
            let columns = COLUMNS.min(self.size - start);
            let mut x = self.vectors.zeros(self.operator.len(), columns)?;
            self.vectors.copy_columns(&self.q, start..start + columns, &mut x, 0)?;
            exact.add(&self.forms(&x).await?);
            self.report().await?;
        }
        Ok(exact)
    }

    /// What random vectors of the complement say, as many as there are products left.
    async fn rest(&mut self, exact: Exact, rng: &mut ChaCha8Rng) -> Result<Rest> {
        let mut rest = Rest::default();
        while self.products < self.total {
            let columns = COLUMNS.min(self.total - self.products);
            let x = self.project(&random_normal(self.operator.len() * columns, rng)?, columns).await?;
            rest.push(&self.forms(&x).await?, exact.length);
            self.report().await?;
        }
        Ok(rest)
    }

    /// What all of it comes to.
    fn found(&self, exact: Exact, rest: Rest) -> Result<TraceAndNorm> {
        let probes = rest.forms.count();
        let (value, standard_error) = (exact.trace + rest.forms.mean(), rest.forms.standard_error());
        let (norm, norm_error) = rest.norm(exact.length);
        // Of an operator that the subspace holds whole, the rest is rounding and far below that of the exact part.
        let rounding = if probes > 0 { self.vectors.precision().epsilon() * norm } else { 0.0 };
        let (standard_error, norm_error) = (standard_error.hypot(rounding), norm_error.hypot(rounding));
        if ![value, standard_error, norm, norm_error].iter().all(|x| x.is_finite()) {
            return Err(overflow(self.vectors));
        }
        Ok(TraceAndNorm {
            trace: TraceEstimate { value, standard_error, probes },
            norm: NormEstimate { value: norm, standard_error: norm_error, probes },
            products: self.products,
        })
    }

    /// √d u for each of the columns g, normal ones: u = P g / ‖P g‖ with P = I − Q Qᵀ.
    async fn project(&mut self, g: &[f64], columns: usize) -> Result<Vector> {
        let mut x = self.vectors.upload(g, columns)?;
        for k in 0..columns {
            self.vectors.copy_columns(&x, k..k + 1, &mut self.w, 0)?;
            self.orthogonalize().await?;
            self.orthogonalize().await?;
            self.vectors.normalize(&self.w, &mut x, k, &mut self.norms, 0)?;
        }
        let d = self.operator.len() - self.size;
        self.vectors.scale((d as f64).sqrt(), &mut x)?;
        Ok(x)
    }

    /// xᵀ A x and ‖A x‖ for each column x.
    async fn forms(&mut self, x: &Vector) -> Result<Vec<[f64; 2]>> {
        let (e, columns) = (self.vectors, x.columns());
        let mut y = e.zeros(x.len(), columns)?;
        self.operator.apply(x, &mut y).await?;
        self.products += columns;
        let mut column = e.zeros(x.len(), 1)?;
        let (mut forms, mut lengths) = (e.zeros(columns, 1)?, e.zeros(columns, 1)?);
        for k in 0..columns {
            e.copy_columns(x, k..k + 1, &mut column, 0)?;
            e.segment_inner(&self.whole, &column, &y, k..k + 1, &mut forms, k)?;
            e.copy_columns(&y, k..k + 1, &mut column, 0)?;
            e.normalize(&column, &mut self.w, 0, &mut lengths, k)?;
        }
        let (forms, lengths) = (e.download(&forms).await?, e.download(&lengths).await?);
        if !forms.iter().chain(&lengths).all(|x| x.is_finite()) {
            return Err(overflow(e));
        }
        Ok(forms.into_iter().zip(lengths).map(|(form, length)| [form, length]).collect())
    }
}
