//! A Krylov basis on an operator's device, and the operator projected onto it.
//!
//! The projected matrix is read off the coefficients of the orthogonalisation, t_{ij} = q_i · A q_j, so that a basis may go
//! on from any orthonormal vectors, Ritz vectors of an earlier basis among them. Scalars come back every few steps.

use std::cell::OnceCell;
use std::ops::Range;

use nalgebra::DMatrix;
use rand_chacha::ChaCha8Rng;

use super::{decomposed, decomposed_row, overflow, random_normal, unit};
use crate::engine::{Segments, Vector, Vectors};
use crate::error::{Error, ErrorCode, Result};
use crate::event_loop::worked;
use crate::memory::{collected, zeros};
use crate::numbers::{largest, norm, power_near};
use crate::operator::SymmetricOperator;

/// Most steps between two readbacks.
pub(super) const CHECK_EVERY: usize = 6;

/// Orthonormal columns, the operator projected onto them, and the remainder of the last step.
pub(super) struct Basis<'a> {
    pub operator: &'a dyn SymmetricOperator,
    vectors: &'a dyn Vectors,
    whole: Segments,
    /// n × (capacity + 1).
    q: Vector,
    /// Coefficients of the two orthogonalisations of the steps since the last readback, capacity + 1 each.
    coefficients: Vector,
    norms: Vector,
    pub capacity: usize,
    /// q_i · A q_j for i ≤ j, capacity × capacity.
    t: DMatrix<f64>,
    /// ‖A q_j‖.
    lengths: Vec<f64>,
    /// Of the first columns, what restarts that went on without the remainder have left out of their products, at most.
    left_out: Vec<f64>,
    /// The largest magnitude of the Ritz values that restarts have dropped: the operator's norm is as large at least.
    dropped_scale: f64,
    /// Norm of the remainder after the last step. 0 where it vanished: a random vector is in its place then.
    pub beta: f64,
    /// Columns of q for which t is known.
    pub size: usize,
    /// Where the columns begin that are each the remainder of the one before; `None` where other vectors are among them.
    chain: Option<usize>,
    /// Size at which the last random vector was put in place of a remainder.
    fresh: Option<usize>,
    /// The eigenvalue of a random vector orthogonal to the basis, if one has turned out to be an eigenvector. Then the operator is
    /// that multiple of the identity there (with probability 1), and nothing but copies of it is left to find.
    pub rest: Option<f64>,
    x: Vector,
    w: Vector,
    rng: ChaCha8Rng,
}

/// A subspace in which an operator is known.
pub(crate) struct Explored {
    /// Its orthonormal basis Q: the first columns.
    pub q: Vector,
    /// Their number.
    pub size: usize,
    /// Tr Qᵀ A Q.
    pub trace: f64,
    /// ‖A Q‖_F.
    pub length: f64,
    /// The pairs that were found, in its first columns.
    ritz: RitzPairs,
    /// Qᵀ A Q.
    pub projected: DMatrix<f64>,
}

impl Explored {
    /// The Ritz vector of largest magnitude.
    ///
    /// # Errors
    /// `TooLarge`; the device's.
    pub async fn dominant(&self, vectors: &dyn Vectors) -> Result<Vec<f64>> {
        let of = self.ritz.vectors()?;
        let s = self.ritz.largest().map_or(&[][..], |i| &of.as_slice()[i * of.nrows()..(i + 1) * of.nrows()]);
        let x = self.combination(s, vectors).await?;
        unit(&x, norm(x.iter().copied()))
    }

    /// Q s, of as many columns as s has numbers.
    ///
    /// # Errors
    /// `TooLarge`; the device's.
    pub async fn combination(&self, s: &[f64], vectors: &dyn Vectors) -> Result<Vec<f64>> {
        let coefficients = vectors.upload(s, 1)?;
        let mut x = vectors.zeros(self.q.len(), 1)?;
        vectors.combine(1.0, &self.q, 0..s.len(), &coefficients, 0, &mut x).await?;
        vectors.download(&x).await
    }
}

/// Eigenpairs of the projected matrix, ascending, with the residual of each as the recurrence tells it.
pub(super) struct RitzPairs {
    pub values: Vec<f64>,
    pub residuals: Vec<f64>,
    /// The spectral norm as far as known: the largest magnitude of these values and of those that were dropped.
    pub scale: f64,
    projected: DMatrix<f64>,
    vectors: OnceCell<DMatrix<f64>>,
}

impl RitzPairs {
    /// Of a projected matrix and the remainder behind it; the operator's norm is known to be `least` at least.
    ///
    /// # Errors
    /// `TooLarge` where it does not fit in memory twice.
    fn new(projected: DMatrix<f64>, beta: f64, least: f64) -> Result<Self> {
        let (values, last) = decomposed_row(&projected, projected.nrows().saturating_sub(1))?;
        let residuals = last.iter().map(|s| (beta * s).abs()).collect();
        let scale = values.iter().fold(least, |scale, v| f64::max(scale, v.abs()));
        Ok(Self { values, residuals, scale, projected, vectors: OnceCell::new() })
    }

    /// Their vectors: column i belongs to values[i]. Most looks at them ask for none.
    ///
    /// # Errors
    /// `TooLarge` where they do not fit in memory.
    pub fn vectors(&self) -> Result<&DMatrix<f64>> {
        if let Some(vectors) = self.vectors.get() {
            return Ok(vectors);
        }
        let size = self.values.len();
        let found = DMatrix::from_vec(size, size, decomposed(&self.projected)?.vectors);
        Ok(self.vectors.get_or_init(|| found))
    }

    /// These pairs alone, ascending still, of a basis of their own.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn only(&self, chosen: &[usize]) -> Result<Self> {
        let of = |from: &[f64]| -> Vec<f64> { chosen.iter().map(|&i| from[i]).collect() };
        let (values, mut projected) = (of(&self.values), square(chosen.len())?);
        values.iter().enumerate().for_each(|(i, &value)| projected[(i, i)] = value);
        let (residuals, scale) = (of(&self.residuals), self.scale);
        Ok(Self { values, residuals, scale, projected, vectors: OnceCell::new() })
    }

    /// The largest residual of these.
    pub fn worst(&self, of: &[usize]) -> f64 {
        of.iter().map(|&i| self.residuals[i]).fold(0.0, f64::max)
    }

    /// The place of the value of largest magnitude.
    fn largest(&self) -> Option<usize> {
        (0..self.values.len()).max_by(|&i, &j| self.values[i].abs().total_cmp(&self.values[j].abs()))
    }

    /// The value of largest magnitude.
    pub fn dominant(&self) -> f64 {
        self.largest().map_or(0.0, |i| self.values[i])
    }
}

/// A square matrix of zeros on the host.
///
/// # Errors
/// `TooLarge`.
fn square(size: usize) -> Result<DMatrix<f64>> {
    Ok(DMatrix::from_vec(size, size, zeros("a projected matrix", size * size)?))
}

/// Room for a basis of so many columns: q, coefficients, norms and t.
///
/// # Errors
/// `TooLarge`; the device's.
async fn room(vectors: &dyn Vectors, n: usize, capacity: usize) -> Result<(Vector, Vector, Vector, DMatrix<f64>)> {
    Ok((
        vectors.many_zeros(n, capacity + 1).await?,
        vectors.zeros(2 * CHECK_EVERY * (capacity + 1), 1)?,
        vectors.zeros(capacity + 2, 1)?,
        square(capacity)?,
    ))
}

/// Columns that a basis takes along at once when it grows.
const COPIED: usize = 8;

impl<'a> Basis<'a> {
    /// A basis of up to `capacity` columns that starts from this vector, of any length but 0. Random vectors, where they
    /// are needed, come from `rng`.
    pub async fn start(
        operator: &'a dyn SymmetricOperator,
        capacity: usize,
        start: &[f64],
        rng: ChaCha8Rng,
    ) -> Result<Self> {
        let vectors = operator.vectors();
        let n = operator.len();
        // Near 1 before it is rounded to the device's precision, which may not hold it as it is; by a power of two, which rounds nothing.
        let unit = power_near(largest(start.iter().copied()));
        let start = collected("a start vector", start.iter().map(|x| x / unit))?;
        let (q, coefficients, norms, t) = room(vectors, n, capacity).await?;
        let mut basis = Self {
            operator,
            vectors,
            whole: Segments::whole(n),
            q,
            coefficients,
            norms,
            capacity,
            t,
            lengths: Vec::new(),
            left_out: Vec::new(),
            dropped_scale: 0.0,
            beta: 0.0,
            size: 0,
            chain: Some(0),
            fresh: None,
            rest: None,
            x: vectors.upload(&start, 1)?,
            w: vectors.zeros(n, 1)?,
            rng,
        };
        vectors.normalize(&basis.x, &mut basis.q, 0, &mut basis.norms, 0)?;
        Ok(basis)
    }

    /// Makes room for so many columns; what is in the basis stays. `false`, and the basis as it was, where the device has no such room.
    ///
    /// # Errors
    /// The device's.
    pub async fn grow(&mut self, capacity: usize) -> Result<bool> {
        let (mut q, coefficients, norms, mut t) = match room(self.vectors, self.operator.len(), capacity).await {
            Ok(room) => room,
            Err(Error { code: ErrorCode::TooLarge, .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        for first in (0..self.size + 1).step_by(COPIED) {
            let columns = first..(first + COPIED).min(self.size + 1);
            self.vectors.copy_columns(&self.q, columns, &mut q, first)?;
            worked((COPIED * self.operator.len()) as f64).await?;
        }
        t.view_mut((0, 0), (self.size, self.size)).copy_from(&self.t.view((0, 0), (self.size, self.size)));
        (self.q, self.coefficients, self.norms, self.t, self.capacity) = (q, coefficients, norms, t, capacity);
        Ok(true)
    }

    /// w ← w − Q (Qᵀ w) over these columns of Q; the coefficients go where those of the first begin plus their place.
    async fn orthogonalize(&mut self, columns: Range<usize>, first: usize) -> Result<()> {
        let (e, at) = (self.vectors, first + columns.start);
        e.segment_inner(&self.whole, &self.w, &self.q, columns.clone(), &mut self.coefficients, at)?;
        e.combine(-1.0, &self.q, columns, &self.coefficients, at, &mut self.w).await
    }

    /// The columns of which a product with column j has more than rounding: those before j have been orthogonal to it since the
    /// remainders began to follow one another, but for the last one.
    fn coupled(&self, j: usize) -> Range<usize> {
        let first = if self.chain.is_some_and(|first| j > first) { j - 1 } else { 0 };
        first..j + 1
    }

    /// Up to `steps` steps (at most [`CHECK_EVERY`]), then one readback. Returns the products taken.
    pub async fn advance(&mut self, steps: usize) -> Result<usize> {
        let stride = self.capacity + 1;
        let start = self.size;
        for step in 0..steps {
            let j = start + step;
            self.vectors.copy_columns(&self.q, j..j + 1, &mut self.x, 0)?;
            self.operator.apply(&self.x, &mut self.w).await?;
            // Twice is enough (Kahan, after Parlett): the second pass removes what rounding left of the first.
            self.orthogonalize(self.coupled(j), 2 * step * stride).await?;
            self.orthogonalize(0..j + 1, (2 * step + 1) * stride).await?;
            self.vectors.normalize(&self.w, &mut self.q, j + 1, &mut self.norms, j + 1)?;
        }
        let coefficients = self.vectors.download(&self.coefficients).await?;
        let norms = self.vectors.download(&self.norms).await?;
        for step in 0..steps {
            let j = start + step;
            let coupled = self.coupled(j);
            for i in 0..=j {
                let [first, second] = [0, 1].map(|pass| coefficients[(2 * step + pass) * stride + i]);
                // Of the others there is only what rounding left: without it the matrix is tridiagonal where remainders follow one another.
                let value = if coupled.contains(&i) { first + second } else { 0.0 };
                if !(value.is_finite() && second.is_finite()) {
                    return Err(overflow(self.vectors));
                }
                self.t[(i, j)] = value;
                self.t[(j, i)] = value;
            }
            self.size = j + 1;
            self.beta = norms[j + 1];
            self.lengths.push((0..=j).fold(self.beta, |length, i| length.hypot(self.t[(i, j)])));
            if !self.beta.is_finite() {
                return Err(overflow(self.vectors));
            }
            // An invariant subspace: what is left is rounding, and what followed in this burst is built on it.
            if self.beta <= self.noise() && self.size < self.operator.len() {
                self.beta = 0.0;
                if self.fresh == Some(j) {
                    self.rest = Some(self.t[(j, j)]);
                }
                self.start_anew().await?;
                return Ok(step + 1);
            }
        }
        Ok(steps)
    }

    /// What rounding leaves of a remainder that is 0.
    pub fn noise(&self) -> f64 {
        let known = self.t.view((0, 0), (self.size, self.size)).amax().max(self.dropped_scale);
        4.0 * self.vectors.precision().epsilon() * known
    }

    /// Puts a random vector orthogonal to the basis where the remainder was, so that eigenvectors the start vector lacked,
    /// and further copies of multiple eigenvalues, are found too.
    pub async fn start_anew(&mut self) -> Result<()> {
        let random = random_normal(self.operator.len(), &mut self.rng)?;
        self.w = self.vectors.upload(&random, 1)?;
        self.go_on_from_w().await?;
        self.fresh = Some(self.size);
        Ok(())
    }

    /// Puts what w has outside the basis where the remainder was.
    async fn go_on_from_w(&mut self) -> Result<()> {
        (self.fresh, self.chain) = (None, None);
        for _ in 0..3 {
            self.orthogonalize(0..self.size, 0).await?;
            self.vectors.normalize(&self.w, &mut self.q, self.size, &mut self.norms, 0)?;
            self.vectors.copy_columns(&self.q, self.size..self.size + 1, &mut self.w, 0)?;
        }
        Ok(())
    }

    /// The operator projected onto the columns from this one on.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn projected(&self, first: usize) -> Result<DMatrix<f64>> {
        let size = self.size - first;
        let mut projected = square(size)?;
        projected.copy_from(&self.t.view((first, first), (size, size)));
        Ok(projected)
    }

    /// What was found of the operator, these pairs in its first columns, without what is needed to go on.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn into_explored(self, ritz: RitzPairs) -> Result<Explored> {
        let projected = self.projected(0)?;
        let trace = (0..self.size).map(|i| self.t[(i, i)]).sum();
        let length = self.lengths.iter().fold(0.0, |length: f64, more| length.hypot(*more));
        Ok(Explored { q: self.q, size: self.size, trace, length, ritz, projected })
    }

    /// Eigenpairs of the projected operator.
    pub fn ritz_pairs(&self) -> Result<RitzPairs> {
        RitzPairs::new(self.projected(0)?, self.beta, self.dropped_scale)
    }

    /// Q S for the chosen columns of S, Q being the first columns of the basis, as many as S has rows.
    pub async fn ritz_vectors(&self, ritz: &RitzPairs, chosen: &[usize]) -> Result<Vector> {
        let vectors = ritz.vectors()?;
        let rows = vectors.nrows();
        let mut s = zeros("coefficients of eigenvectors", rows * chosen.len())?;
        for (s, &j) in s.chunks_exact_mut(rows.max(1)).zip(chosen) {
            s.copy_from_slice(&vectors.as_slice()[j * rows..(j + 1) * rows]);
        }
        let s = self.vectors.upload(&s, 1)?;
        let mut x = self.vectors.zeros(self.operator.len(), chosen.len())?;
        self.vectors.combine(1.0, &self.q, 0..ritz.values.len(), &s, 0, &mut x).await?;
        Ok(x)
    }

    /// What the residual of a pair lacks, at most: remainders that restarts have dropped.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn dropped(&self, ritz: &RitzPairs, pair: usize) -> Result<f64> {
        if self.left_out.iter().all(|&left| left == 0.0) {
            return Ok(0.0);
        }
        Ok(self.left_out.iter().zip(ritz.vectors()?.column(pair).iter()).map(|(left, s)| left * s.abs()).sum())
    }

    /// Keeps these Ritz vectors and drops the remainder.
    async fn keep_alone(&mut self, ritz: &RitzPairs, kept: &[usize]) -> Result<()> {
        self.keep(ritz, kept).await?;
        self.left_out.iter_mut().zip(kept).for_each(|(left, &j)| *left += ritz.residuals[j]);
        self.beta = 0.0;
        Ok(())
    }

    /// The first columns become these Ritz vectors, and t their diagonal.
    async fn keep(&mut self, ritz: &RitzPairs, kept: &[usize]) -> Result<()> {
        let x = self.ritz_vectors(ritz, kept).await?;
        (self.rest, self.dropped_scale) = (None, ritz.scale);
        self.vectors.copy_columns(&x, 0..kept.len(), &mut self.q, 0)?;
        self.t.fill(0.0);
        for (i, &j) in kept.iter().enumerate() {
            self.t[(i, i)] = ritz.values[j];
        }
        self.left_out = kept.iter().map(|&j| self.dropped(ritz, j)).collect::<Result<_>>()?;
        self.lengths = kept.iter().map(|&j| ritz.values[j].hypot(ritz.residuals[j])).collect();
        self.size = kept.len();
        Ok(())
    }

    /// Keeps these Ritz vectors and the remainder (Wu and Simon 2000).
    pub async fn restart(&mut self, ritz: &RitzPairs, kept: &[usize]) -> Result<()> {
        let size = self.size;
        self.vectors.copy_columns(&self.q, size..size + 1, &mut self.x, 0)?;
        self.keep(ritz, kept).await?;
        self.vectors.copy_columns(&self.x, 0..1, &mut self.q, kept.len())?;
        self.chain = Some(kept.len());
        self.fresh = self.fresh.filter(|&fresh| fresh == size).map(|_| kept.len());
        Ok(())
    }

    /// Keeps these Ritz vectors alone, of the first columns, and goes on from a combination of the columns behind those.
    pub async fn restart_from(&mut self, ritz: &RitzPairs, kept: &[usize], combination: &[f64]) -> Result<()> {
        let columns = ritz.values.len();
        let combination = self.vectors.upload(combination, 1)?;
        self.w = self.vectors.zeros(self.operator.len(), 1)?;
        self.vectors.combine(1.0, &self.q, columns..self.size, &combination, 0, &mut self.w).await?;
        self.keep_alone(ritz, kept).await?;
        self.go_on_from_w().await
    }

    /// Keeps these Ritz vectors alone, and goes on from a random vector orthogonal to them.
    pub async fn restart_at_random(&mut self, ritz: &RitzPairs, kept: &[usize]) -> Result<()> {
        self.keep_alone(ritz, kept).await?;
        self.start_anew().await
    }
}
