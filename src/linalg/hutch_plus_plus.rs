//! Hutch++ (Meyer, Musco, Musco and Woodruff 2021, Algorithm 1): the trace on a subspace that carries most of the operator
//! exactly, and Hutchinson's estimate of what is left.
//!
//! With Q an orthonormal basis of A S for random signs S and P = I − Q Qᵀ,
//! Tr A = Tr Qᵀ A Q + E gᵀ P A P g, and by the same products ‖A‖_F² = ‖A Q‖_F² + E ‖A P g‖².

use serde::Serialize;

use super::hutchinson::COLUMNS;
use super::{TraceEstimate, generator, mean_and_error, random_signs};
use crate::control::{Control, Progress};
use crate::engine::{Executor, Segments, Vector};
use crate::error::{Result, ensure, ensure_finite};
use crate::operator::SymmetricOperator;

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

/// Tr A by Hutch++ from this many products (at least 4): a third for the subspace, a third for the exact part, a third
/// for the rest. For spectra that fall off fast its error is far below that of as many products by
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
    ensure!(products >= 4, InvalidOption, "Hutch++ needs at least 4 products, but {products} were allowed");
    let n = operator.len();
    let size = (products / 3).min(n);
    let total = if size == n { 2 * n } else { products };
    let mut rng = generator(seed);
    let mut run = Run::new(operator, size, total, control)?;
    for start in (0..size).step_by(COLUMNS) {
        let columns = COLUMNS.min(size - start);
        let y = run.apply(&random_signs(n * columns, &mut rng), columns)?;
        run.extend(&y, start)?;
        run.report().await?;
    }
    // Tr Qᵀ A Q and ‖A Q‖².
    let mut exact = [0.0; 2];
    for start in (0..size).step_by(COLUMNS) {
        let columns = COLUMNS.min(size - start);
        let mut x = run.executor.zeros(n, columns)?;
        run.executor.copy_columns(&run.q, start..start + columns, &mut x, 0)?;
        for terms in run.forms(&x).await? {
            exact.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
        run.report().await?;
    }
    // gᵀ P A P g and ‖A P g‖², probe by probe.
    let mut rest: [Vec<f64>; 2] = Default::default();
    while run.products < total {
        let columns = COLUMNS.min(total - run.products);
        let x = run.project(&random_signs(n * columns, &mut rng), columns)?;
        for terms in run.forms(&x).await? {
            rest.iter_mut().zip(terms).for_each(|(samples, term)| samples.push(term));
        }
        run.report().await?;
    }
    let [(trace, trace_error), (square, square_error)] =
        rest.each_ref().map(|samples| if samples.is_empty() { (0.0, 0.0) } else { mean_and_error(samples) });
    let probes = rest[0].len();
    let norm = (exact[1] + square).sqrt();
    Ok(TraceAndNorm {
        trace: TraceEstimate { value: exact[0] + trace, standard_error: trace_error, probes },
        norm: NormEstimate {
            value: norm,
            standard_error: if norm > 0.0 { square_error / (2.0 * norm) } else { 0.0 },
            probes,
        },
        products: run.products,
    })
}

/// The subspace, and what is needed to work with it.
struct Run<'a, 'c> {
    operator: &'a dyn SymmetricOperator,
    executor: &'a dyn Executor,
    control: &'a Control<'c>,
    whole: Segments,
    /// n × size, orthonormal or zero columns.
    q: Vector,
    coefficients: Vector,
    norm: Vector,
    w: Vector,
    /// Columns of q that are there.
    size: usize,
    products: usize,
    total: usize,
}

impl<'a, 'c> Run<'a, 'c> {
    fn new(operator: &'a dyn SymmetricOperator, size: usize, total: usize, control: &'a Control<'c>) -> Result<Self> {
        let executor = operator.executor();
        let n = operator.len();
        Ok(Self {
            operator,
            executor,
            control,
            whole: Segments::whole(n),
            q: executor.zeros(n, size)?,
            coefficients: executor.zeros(size, 1)?,
            norm: executor.zeros(1, 1)?,
            w: executor.zeros(n, 1)?,
            size: 0,
            products: 0,
            total,
        })
    }

    async fn report(&self) -> Result<()> {
        self.control.step(Progress::new("trace and norm", self.products, self.total)).await
    }

    fn apply(&mut self, x: &[f64], columns: usize) -> Result<Vector> {
        let x = self.executor.upload(x, columns)?;
        let mut y = self.executor.zeros(self.operator.len(), columns)?;
        self.operator.apply(&x, &mut y)?;
        self.products += columns;
        Ok(y)
    }

    /// w ← (I − Q Qᵀ) w.
    fn orthogonalize(&mut self) -> Result<()> {
        if self.size == 0 {
            return Ok(());
        }
        let (e, columns) = (self.executor, 0..self.size);
        e.segment_inner(&self.whole, &self.w, &self.q, columns.clone(), &mut self.coefficients, 0)?;
        e.combine(-1.0, &self.q, columns, &self.coefficients, 0, &mut self.w)
    }

    /// Adds the columns of y to Q. Normalised each time, so that a column which is rounding alone comes out orthogonal too.
    fn extend(&mut self, y: &Vector, start: usize) -> Result<()> {
        for k in 0..y.columns() {
            self.executor.copy_columns(y, k..k + 1, &mut self.w, 0)?;
            for _ in 0..3 {
                self.orthogonalize()?;
                self.executor.normalize(&self.w, &mut self.q, start + k, &mut self.norm, 0)?;
                self.executor.copy_columns(&self.q, start + k..start + k + 1, &mut self.w, 0)?;
            }
            self.size += 1;
        }
        Ok(())
    }

    /// (I − Q Qᵀ) g for each of the columns.
    fn project(&mut self, g: &[f64], columns: usize) -> Result<Vector> {
        let mut x = self.executor.upload(g, columns)?;
        for k in 0..columns {
            self.executor.copy_columns(&x, k..k + 1, &mut self.w, 0)?;
            self.orthogonalize()?;
            self.orthogonalize()?;
            self.executor.copy_columns(&self.w, 0..1, &mut x, k)?;
        }
        Ok(x)
    }

    /// xᵀ A x and ‖A x‖² for each column x.
    async fn forms(&mut self, x: &Vector) -> Result<Vec<[f64; 2]>> {
        let (e, columns) = (self.executor, x.columns());
        let mut y = e.zeros(x.len(), columns)?;
        self.operator.apply(x, &mut y)?;
        self.products += columns;
        let mut column = e.zeros(x.len(), 1)?;
        let mut out = e.zeros(2 * columns, 1)?;
        for k in 0..columns {
            for (i, left) in [x, &y].into_iter().enumerate() {
                e.copy_columns(left, k..k + 1, &mut column, 0)?;
                e.segment_inner(&self.whole, &column, &y, k..k + 1, &mut out, 2 * k + i)?;
            }
        }
        let forms = e.download(&out).await?;
        ensure_finite("trace probes", &forms)?;
        Ok(forms.as_chunks::<2>().0.to_vec())
    }
}
