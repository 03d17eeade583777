//! The passes of an executor, behind the one place where what goes into them is checked.

use super::sweep::{Cotangent, LayerSums};
use super::{Charts, Curvature, Engine, Vector, Vectors};
use crate::error::{Result, bail, ensure};

impl Engine {
    /// Arithmetic on the vectors that passes take and give.
    pub fn vectors(&self) -> &dyn Vectors {
        self.executor.vectors()
    }

    /// Parameter spaces, on the same vectors.
    pub fn charts(&self) -> &dyn Charts {
        self.executor.charts()
    }

    /// How many threads a batch of this many samples, or a pass over all if there are so many, is shared out to.
    pub fn threads(&self, samples: usize) -> usize {
        self.executor.threads(samples)
    }

    /// Fixes the point at a vector that is there already, whether it is the prepared one or not: for benchmarks, which time that alone.
    ///
    /// # Errors
    /// `InvalidParameters` for a vector that does not fit; the device's.
    #[doc(hidden)]
    pub async fn prepare_vector(&self, theta: &Vector) -> Result<()> {
        self.check_vectors(&[theta], 1)?;
        self.leave();
        self.executor.prepare(theta).await
    }

    /// ∇L at the prepared point, into one column.
    ///
    /// # Errors
    /// `InvalidParameters` for a vector that does not fit or where no point is prepared; the device's.
    pub fn gradient_into(&self, out: &mut Vector) -> Result<()> {
        self.check_vectors(&[out], 1)?;
        self.executor.gradient(out)
    }

    /// `out[:, k] = C v[:, k]` at the prepared point.
    ///
    /// # Errors
    /// As [`Engine::gradient_into`].
    pub async fn apply(&self, curvature: Curvature, v: &Vector, out: &mut Vector) -> Result<()> {
        self.check_vectors(&[v, out], v.columns())?;
        self.executor.product(curvature, v, out).await
    }

    /// The same with the block of one layer with parameters, from 0: of directions that are 0 elsewhere, in its rows of `out`. What the
    /// others hold, and what comes of directions that are not 0 there, is not said.
    ///
    /// # Errors
    /// As [`Engine::gradient_into`]; `InvalidOption` for a layer that is not there.
    pub async fn apply_layer(&self, curvature: Curvature, layer: usize, v: &Vector, out: &mut Vector) -> Result<()> {
        self.check_vectors(&[v, out], v.columns())?;
        self.problem.network().layout().parametric(layer)?;
        self.executor.layer_product(curvature, layer, v, out).await
    }

    /// Mean loss and accuracy at θ, which need not be the prepared point, into `out[2 index]` and `out[2 index + 1]`.
    ///
    /// # Errors
    /// `InvalidParameters` for vectors that do not fit; the device's.
    pub async fn evaluate_into(&self, theta: &Vector, out: &mut Vector, index: usize) -> Result<()> {
        self.check_vectors(&[theta], 1)?;
        check_report(out, index.saturating_add(1))?;
        self.executor.evaluate(theta, out, index).await
    }

    /// Fixes a plane θ + s u + t v, or without `v` a line, for [`Engine::evaluate_plane`]. Leaves the prepared point as it is.
    ///
    /// # Errors
    /// As [`Engine::evaluate_into`].
    pub async fn prepare_plane(&self, theta: &Vector, u: &Vector, v: Option<&Vector>) -> Result<()> {
        let vectors: Vec<&Vector> = [theta, u].into_iter().chain(v).collect();
        self.check_vectors(&vectors, 1)?;
        self.executor.prepare_plane(theta, u, v).await
    }

    /// Losses and accuracies at points [s, t] of the plane, from `out[0]` on.
    ///
    /// # Errors
    /// As [`Engine::evaluate_into`]; `InvalidParameters` where no plane is prepared.
    pub async fn evaluate_plane(&self, points: &[[f64; 2]], out: &mut Vector) -> Result<()> {
        check_report(out, points.len())?;
        self.executor.evaluate_plane(points, out).await
    }

    /// A backward pass at the prepared point for each cotangent; for each, what it leaves at every layer with parameters, in order.
    ///
    /// # Errors
    /// `InvalidOption` for a cotangent that does not fit the problem; `InvalidParameters` where no point is prepared; the device's.
    pub async fn sweep(&self, cotangents: &[Cotangent]) -> Result<Vec<Vec<LayerSums>>> {
        self.check_cotangents(cotangents)?;
        self.executor.sweep(cotangents).await
    }

    /// The same passes; for every parameter, Σ over the cotangents of the mean over samples of the square of its gradient.
    ///
    /// # Errors
    /// As [`Engine::sweep`].
    pub async fn squared_gradients(&self, cotangents: &[Cotangent]) -> Result<Vec<f64>> {
        self.check_cotangents(cotangents)?;
        ensure!(!cotangents.is_empty(), InvalidOption, "squares of gradients need at least one cotangent");
        self.executor.squared_gradients(cotangents).await
    }

    /// Gradient at θ of the mean loss over these samples (indices may repeat), and their loss and accuracy as
    /// [`Engine::evaluate_into`]. Leaves the prepared point as it is.
    ///
    /// # Errors
    /// `InvalidOption` for no samples, or some that are not there; `InvalidParameters` for vectors that do not fit; the device's.
    pub async fn batch_gradient(
        &self,
        theta: &Vector,
        rows: &[u32],
        gradient: &mut Vector,
        out: &mut Vector,
        index: usize,
    ) -> Result<()> {
        self.check_vectors(&[theta, gradient], 1)?;
        check_report(out, index.saturating_add(1))?;
        let samples = self.problem.samples();
        ensure!(!rows.is_empty(), InvalidOption, "a batch needs at least one sample");
        if let Some(row) = rows.iter().find(|&&row| row as usize >= samples) {
            bail!(InvalidOption, "the batch names sample {row}, but there are {samples} samples");
        }
        self.executor.batch_gradient(theta, rows, gradient, out, index).await
    }

    /// The CPU in double precision, at the prepared point.
    ///
    /// # Errors
    /// `InvalidParameters` if no point is prepared; `TooLarge`; the device's.
    pub(crate) async fn in_f64_here(&self) -> Result<Engine> {
        let precise = self.in_f64()?;
        precise.prepare(&self.parameters()?).await?;
        Ok(precise)
    }

    /// Numbers that were counted over the samples that are here ([`crate::Problem::held`]) become those over all samples.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn total(&self, numbers: &mut [f64]) -> Result<()> {
        self.executor.total(numbers)
    }

    fn check_vectors(&self, vectors: &[&Vector], columns: usize) -> Result<()> {
        let n = self.problem.network().parameter_count();
        for vector in vectors {
            ensure!(
                vector.len() == n && vector.columns() == columns,
                InvalidParameters,
                "a vector has {} × {} numbers (columns × length), but {columns} × {n} are needed",
                vector.columns(),
                vector.len()
            );
        }
        Ok(())
    }

    fn check_cotangents(&self, cotangents: &[Cotangent]) -> Result<()> {
        let (outputs, samples) = (self.problem.network().output_len(), self.problem.samples());
        for (i, cotangent) in cotangents.iter().enumerate() {
            match cotangent {
                Cotangent::Class(class) => {
                    ensure!(*class < outputs, InvalidOption, "cotangent {i} is of class {class}, of {outputs} outputs");
                }
                Cotangent::Signs(signs) => {
                    let (given, needed) = (signs.len(), samples * outputs);
                    ensure!(given == needed, InvalidOption, "cotangent {i} has {given} values, but must have {needed}");
                }
            }
        }
        Ok(())
    }
}

/// Fails unless there is room for so many losses and accuracies.
fn check_report(out: &Vector, count: usize) -> Result<()> {
    let len = out.len() * out.columns();
    ensure!(count <= len / 2, InvalidParameters, "{count} losses and accuracies do not fit in {len} numbers");
    Ok(())
}
