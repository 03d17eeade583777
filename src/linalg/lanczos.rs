//! Lanczos with full reorthogonalisation and thick restarts (Wu and Simon 2000): the largest and the smallest eigenvalues.
//!
//! The basis stays on the device. The projected matrix is read off the coefficients of the orthogonalisation,
//! t_{ij} = q_i · A q_j, so a restart needs no arrowhead bookkeeping. Scalars come back every few steps; eigenvalues at
//! the end are Rayleigh quotients in double precision with explicitly computed residuals.

use nalgebra::DMatrix;

use super::{Eigenpair, generator, random_normal, rayleigh_ritz};
use crate::control::{Control, Progress};
use crate::engine::{Executor, Segments, Vector};
use crate::error::{Result, bail, ensure};
use crate::operator::SymmetricOperator;

/// Steps between two readbacks.
const CHECK_EVERY: usize = 6;

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

/// What to do.
#[derive(Debug, Clone)]
pub struct Lanczos {
    /// What has to converge.
    pub goal: Goal,
    /// Residual, relative to the spectral norm, at which a pair has converged; `None` takes 1e-9 in f64 and 2e-5 in f32.
    pub tolerance: Option<f64>,
    /// Most products.
    pub max_products: usize,
    /// Vectors in the basis before a restart; `None` takes what suits the goal.
    pub basis: Option<usize>,
    /// Seed of the start vector.
    pub seed: u64,
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
}

impl Spectrum {
    /// The pair of largest magnitude.
    pub fn dominant(&self) -> Option<&Eigenpair> {
        self.top.iter().chain(&self.bottom).max_by(|a, b| a.value.abs().total_cmp(&b.value.abs()))
    }
}

/// Basis and projected matrix of a run.
struct Run<'a> {
    operator: &'a dyn SymmetricOperator,
    executor: &'a dyn Executor,
    whole: Segments,
    /// n × (capacity + 1).
    q: Vector,
    /// Coefficients of the two orthogonalisations of the steps since the last readback, capacity + 1 each.
    coefficients: Vector,
    norms: Vector,
    capacity: usize,
    /// q_i · A q_j for i ≤ j, capacity × capacity.
    t: DMatrix<f64>,
    /// Norm of the remainder after the last step.
    beta: f64,
    /// Columns of q for which t is known.
    size: usize,
    /// Size at which the last random vector was put in place of a vanished remainder.
    fresh: Option<usize>,
    /// Has a random vector orthogonal to the basis turned out to be an eigenvector? Then the operator is a multiple of
    /// the identity there (with probability 1), and no eigenvalue is left to find.
    exhausted: bool,
    x: Vector,
    w: Vector,
    rng: rand_chacha::ChaCha8Rng,
}

impl Lanczos {
    /// Runs it.
    ///
    /// # Errors
    /// `InvalidOption` for more eigenvalues than there are, or a basis too small for them; `NotFinite` where products
    /// overflow; `Aborted`; the device's.
    pub async fn run(&self, operator: &dyn SymmetricOperator, control: &Control<'_>) -> Result<Spectrum> {
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
        let capacity = self.basis.unwrap_or(2 * (top + bottom) + 40).min(n);
        ensure!(
            capacity == n || capacity >= top + bottom + 4,
            InvalidOption,
            "a basis of {capacity} vectors is too small for {} eigenvalues",
            top + bottom
        );
        let tolerance = self.tolerance.unwrap_or_else(|| operator.executor().info().precision.eigenvalue_tolerance());

        let mut run = Run::start(operator, capacity, self.seed)?;
        let mut products = 0;
        let ritz = loop {
            let steps = CHECK_EVERY.min(capacity - run.size).min(self.max_products.saturating_sub(products).max(1));
            products += run.advance(steps).await?;
            let ritz = run.ritz_pairs();
            let wanted = self.wanted(&ritz, top, bottom, tolerance);
            let scale = ritz.scale();
            let worst = wanted.iter().map(|&i| ritz.residuals[i]).fold(0.0, f64::max);
            let dominant = ritz.dominant();
            let progress = Progress::new("lanczos", products, self.max_products)
                .with_estimate(dominant, if scale > 0.0 { worst / scale } else { 0.0 });
            control.step(progress).await?;
            // A remainder of 0 makes every residual 0 and says nothing of what the start vector lacked.
            let converged = if run.beta == 0.0 {
                run.exhausted && run.size >= top + bottom
            } else {
                run.size >= top + bottom && worst <= 0.5 * tolerance * scale
            };
            if converged || run.size == n || products >= self.max_products {
                break ritz;
            }
            if run.size == capacity {
                run.restart(&ritz, top, bottom)?;
            }
        };
        let count = ritz.values.len();
        let (top, bottom) = (top.min(count), bottom.min(count));
        let chosen: Vec<usize> = (0..top).map(|i| count - 1 - i).chain(0..bottom).collect();
        let vectors = run.ritz_vectors(&ritz, &chosen)?;
        let mut pairs = rayleigh_ritz(operator, &vectors, tolerance, self.vectors).await?;
        products += chosen.len();
        let low = pairs.split_off(top);
        let mut spectrum = Spectrum { top: pairs, bottom: low, products, converged: false };
        spectrum.converged = match self.goal {
            Goal::Extremes { .. } => spectrum.top.iter().chain(&spectrum.bottom).all(|pair| pair.converged),
            Goal::SpectralNorm => spectrum.dominant().is_some_and(|pair| pair.converged),
        };
        Ok(spectrum)
    }

    /// Indices of the Ritz pairs whose residuals decide.
    fn wanted(&self, ritz: &RitzPairs, top: usize, bottom: usize, tolerance: f64) -> Vec<usize> {
        let count = ritz.values.len();
        match self.goal {
            Goal::Extremes { .. } => (0..top.min(count)).map(|i| count - 1 - i).chain(0..bottom.min(count)).collect(),
            Goal::SpectralNorm => {
                let (low, high) = (0, count - 1);
                let magnitude = |i: usize| ritz.values[i].abs();
                let (first, second) = if magnitude(high) >= magnitude(low) { (high, low) } else { (low, high) };
                // A Ritz value can still grow by about its residual.
                let settled = magnitude(second) + ritz.residuals[second] <= magnitude(first) * (1.0 - tolerance);
                if settled { vec![first] } else { vec![first, second] }
            }
        }
    }
}

/// Eigenpairs of the projected matrix, ascending, with the residual of each as the recurrence tells it.
struct RitzPairs {
    values: Vec<f64>,
    /// Column i belongs to values[i].
    vectors: DMatrix<f64>,
    residuals: Vec<f64>,
}

impl RitzPairs {
    /// The spectral norm as far as known.
    fn scale(&self) -> f64 {
        self.values.iter().fold(0.0, |scale, v| f64::max(scale, v.abs()))
    }

    fn dominant(&self) -> f64 {
        self.values.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
    }
}

impl<'a> Run<'a> {
    fn start(operator: &'a dyn SymmetricOperator, capacity: usize, seed: u64) -> Result<Self> {
        let executor = operator.executor();
        let n = operator.len();
        let mut rng = generator(seed);
        let mut run = Self {
            operator,
            executor,
            whole: Segments::whole(n),
            q: executor.zeros(n, capacity + 1)?,
            coefficients: executor.zeros(2 * CHECK_EVERY * (capacity + 1), 1)?,
            norms: executor.zeros(capacity + 2, 1)?,
            capacity,
            t: DMatrix::zeros(capacity, capacity),
            beta: 0.0,
            size: 0,
            fresh: None,
            exhausted: false,
            x: executor.upload(&random_normal(n, &mut rng), 1)?,
            w: executor.zeros(n, 1)?,
            rng,
        };
        executor.normalize(&run.x, &mut run.q, 0, &mut run.norms, 0)?;
        Ok(run)
    }

    /// w ← w − Q (Qᵀ w) over the first `columns` of Q; the coefficients go to `offset`.
    fn orthogonalize(&mut self, columns: usize, offset: usize) -> Result<()> {
        let e = self.executor;
        e.segment_inner(&self.whole, &self.w, &self.q, 0..columns, &mut self.coefficients, offset)?;
        e.combine(-1.0, &self.q, 0..columns, &self.coefficients, offset, &mut self.w)
    }

    /// Up to `steps` steps, then one readback. Returns the products taken.
    async fn advance(&mut self, steps: usize) -> Result<usize> {
        let stride = self.capacity + 1;
        let start = self.size;
        for step in 0..steps {
            let j = start + step;
            self.executor.copy_columns(&self.q, j..j + 1, &mut self.x, 0)?;
            self.operator.apply(&self.x, &mut self.w)?;
            // Twice is enough (Kahan, after Parlett): the second pass removes what rounding left of the first.
            self.orthogonalize(j + 1, 2 * step * stride)?;
            self.orthogonalize(j + 1, (2 * step + 1) * stride)?;
            self.executor.normalize(&self.w, &mut self.q, j + 1, &mut self.norms, j + 1)?;
        }
        let coefficients = self.executor.download(&self.coefficients).await?;
        let norms = self.executor.download(&self.norms).await?;
        for step in 0..steps {
            let j = start + step;
            for i in 0..=j {
                let value = coefficients[2 * step * stride + i] + coefficients[(2 * step + 1) * stride + i];
                if !value.is_finite() {
                    bail!(NotFinite, "the curvature is not finite at this point: its numbers overflow");
                }
                self.t[(i, j)] = value;
                self.t[(j, i)] = value;
            }
            self.size = j + 1;
            self.beta = norms[j + 1];
            // An invariant subspace: what is left is rounding, and what followed in this burst is built on it.
            let scale = self.t.view((0, 0), (j + 1, j + 1)).amax();
            let noise = 4.0 * self.executor.info().precision.epsilon() * scale;
            if self.beta <= noise && self.size < self.operator.len() {
                self.beta = 0.0;
                self.exhausted |= self.fresh == Some(j);
                self.fresh = Some(self.size);
                self.start_anew()?;
                return Ok(step + 1);
            }
        }
        Ok(steps)
    }

    /// Puts a random vector orthogonal to the basis where the remainder vanished, so that eigenvectors the start vector
    /// lacked, and further copies of multiple eigenvalues, are found too.
    fn start_anew(&mut self) -> Result<()> {
        let random = random_normal(self.operator.len(), &mut self.rng);
        self.w = self.executor.upload(&random, 1)?;
        for _ in 0..3 {
            self.orthogonalize(self.size, 0)?;
            self.executor.normalize(&self.w, &mut self.q, self.size, &mut self.norms, 0)?;
            self.executor.copy_columns(&self.q, self.size..self.size + 1, &mut self.w, 0)?;
        }
        Ok(())
    }

    fn ritz_pairs(&self) -> RitzPairs {
        let size = self.size;
        let eigen = self.t.view((0, 0), (size, size)).into_owned().symmetric_eigen();
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        let vectors = DMatrix::from_fn(size, size, |i, j| eigen.eigenvectors[(i, order[j])]);
        RitzPairs {
            values: order.iter().map(|&i| eigen.eigenvalues[i]).collect(),
            residuals: (0..size).map(|j| (self.beta * vectors[(size - 1, j)]).abs()).collect(),
            vectors,
        }
    }

    /// Q S for the chosen columns of S.
    fn ritz_vectors(&self, ritz: &RitzPairs, chosen: &[usize]) -> Result<Vector> {
        let s: Vec<f64> =
            chosen.iter().flat_map(|&j| ritz.vectors.column(j).iter().copied().collect::<Vec<_>>()).collect();
        let s = self.executor.upload(&s, 1)?;
        let mut x = self.executor.zeros(self.operator.len(), chosen.len())?;
        self.executor.combine(1.0, &self.q, 0..self.size, &s, 0, &mut x)?;
        Ok(x)
    }

    /// Keeps the Ritz vectors at both ends and the remainder; t becomes their diagonal.
    fn restart(&mut self, ritz: &RitzPairs, top: usize, bottom: usize) -> Result<()> {
        let size = self.size;
        // Half of what is free goes to guard vectors: they speed up what is wanted next to them.
        let spare = (self.capacity - top - bottom) / 2;
        let (keep_top, keep_bottom) = match (top, bottom) {
            (_, 0) => (top + spare, 0),
            (0, _) => (0, bottom + spare),
            _ => (top + spare / 2, bottom + spare / 2),
        };
        let kept: Vec<usize> = (0..keep_bottom).chain(size - keep_top..size).collect();
        let x = self.ritz_vectors(ritz, &kept)?;
        self.executor.copy_columns(&self.q, size..size + 1, &mut self.x, 0)?;
        self.executor.copy_columns(&x, 0..kept.len(), &mut self.q, 0)?;
        self.executor.copy_columns(&self.x, 0..1, &mut self.q, kept.len())?;
        self.t.fill(0.0);
        for (i, &j) in kept.iter().enumerate() {
            self.t[(i, i)] = ritz.values[j];
        }
        self.size = kept.len();
        self.fresh = self.fresh.filter(|&fresh| fresh == size).map(|_| kept.len());
        Ok(())
    }
}
