//! Data-parallel shares of a problem: on threads without common memory, as in a page, or on many machines.
//!
//! Every pass over the data is a fork and a join. Each member of a [`Crew`] goes over its own share of the samples, and what they find is
//! added up. All of it is means over samples, so the mean over all of N is Σ_k (N_k / N) · (mean over share k), always added in the order
//! of the shares: for the same number of shares the same calls give the same bits, and another number changes results by rounding alone.
//! Vectors and what is done to them are the caller's, whose share one of them is.
//!
//! There are two crews. The [helpers](team) of a thread obey commands, and what they find comes back to it. [Ranks](ranked) have no
//! master: all of them make the same calls, and all get the sum.

mod channel;
mod helper;
mod message;
mod numbers;
mod pass;
mod points;
mod ranked;
mod shares;
mod team;

use std::ops::Range;

pub(super) use channel::Channel;
pub use helper::Helper;
pub(super) use numbers::bytes;
pub(super) use pass::{Pass, product};
pub(super) use ranked::{ranked_executor, share_of};
pub use team::Team;
pub(super) use team::{is_worthwhile, team_executor};

use self::shares::{Shares, own_cotangents, own_rows};
use super::chart::Charts;
use super::executor::{BackendInfo, Curvature, Executor};
use super::sweep::{Cotangent, LayerSums};
use super::vector::{Vector, Vectors};
use crate::control::LocalFuture;
use crate::error::Result;
use crate::event_loop::now;

/// Threads of a module at most, of which each is a worker with a module of its own: joining takes as long as more of them save.
pub(crate) const MOST_WORKERS: usize = 64;

/// Those who have a share each, as the one among them sees them who calls.
trait Crew {
    /// What the others found in a pass.
    type Found;

    /// Everybody makes the pass over their own share; `own` is the caller's.
    ///
    /// # Errors
    /// Anybody's.
    async fn together<R>(&self, pass: Pass<'_>, own: impl Future<Output = Result<R>>) -> Result<(R, Self::Found)>;

    /// `out`, which holds what the own share gave, becomes Σ weight · (what each share gave).
    fn weigh(&self, vectors: &dyn Vectors, weights: &[f64], found: &Self::Found, out: &mut Vector) -> Result<()>;

    /// The same for the numbers that they gave, of which there may be several lists.
    fn weigh_numbers(&self, weights: &[f64], own: Vec<f64>, found: &Self::Found, list: usize) -> Result<Vec<f64>>;

    /// The numbers of all shares, one behind the other.
    fn join(&self, own: Vec<f64>, found: &Self::Found) -> Result<Vec<f64>>;

    /// An executor over all samples that each of them has, where they share out the points of a plane among them and not the samples.
    ///
    /// # Errors
    /// Anybody's.
    fn by_points(&self) -> Result<Option<&dyn Executor>> {
        Ok(None)
    }

    /// The caller's among so many points.
    fn own_points(&self, points: usize) -> Range<usize> {
        0..points
    }

    /// Two numbers of each of so many points, of which everybody has those of its own.
    fn join_points(&self, own: Vec<f64>, _points: usize) -> Result<Vec<f64>> {
        Ok(own)
    }

    /// Is a batch of so many samples for all? Else the caller has them all, and makes the pass alone.
    fn is_batch_shared(&self, rows: usize) -> bool;

    /// Threads that a batch of so many samples is shared out to.
    fn threads(&self, own: &dyn Executor, samples: usize) -> usize;

    /// [`Executor::total`].
    fn total(&self, _numbers: &mut [f64]) -> Result<()> {
        Ok(())
    }
}

/// An executor over the caller's share, and a crew over the others.
struct Sharded<C> {
    crew: C,
    info: BackendInfo,
    own: Box<dyn Executor>,
    shares: Shares,
    /// Which of them is the caller's.
    place: usize,
    weights: Vec<f64>,
    /// Values of one output.
    outputs: usize,
}

impl<C: Crew> Sharded<C> {
    fn new(crew: C, info: BackendInfo, own: Box<dyn Executor>, shares: Shares, place: usize, outputs: usize) -> Self {
        let weights = shares.weights();
        Self { crew, info, own, shares, place, weights, outputs }
    }

    fn cotangents<'a>(&self, all: &'a [Cotangent]) -> Result<std::borrow::Cow<'a, [Cotangent]>> {
        own_cotangents(all, &self.shares.range(self.place), self.outputs)
    }

    async fn mean_loss(&self) -> Result<f64> {
        let (own, found) = self.crew.together(Pass::Loss, self.own.loss()).await?;
        Ok(self.crew.weigh_numbers(&self.weights, vec![own], &found, 0)?[0])
    }

    async fn all_outputs(&self) -> Result<Vec<f64>> {
        let (own, found) = self.crew.together(Pass::Outputs, self.own.outputs()).await?;
        self.crew.join(own, &found)
    }

    async fn mean_sums(&self, cotangents: &[Cotangent]) -> Result<Vec<Vec<LayerSums>>> {
        let own = async { self.own.sweep(&self.cotangents(cotangents)?).await };
        let (mut sums, found) = self.crew.together(Pass::Sweep(cotangents), own).await?;
        let own = sums.iter().flatten().flat_map(LayerSums::numbers).collect();
        let means = self.crew.weigh_numbers(&self.weights, own, &found, 0)?;
        for (number, mean) in sums.iter_mut().flatten().flat_map(LayerSums::numbers_mut).zip(means) {
            *number = mean;
        }
        Ok(sums)
    }

    async fn mean_squares(&self, cotangents: &[Cotangent]) -> Result<Vec<f64>> {
        let own = async { self.own.squared_gradients(&self.cotangents(cotangents)?).await };
        let (own, found) = self.crew.together(Pass::SquaredGradients(cotangents), own).await?;
        self.crew.weigh_numbers(&self.weights, own, &found, 0)
    }

    /// A product with the curvature of all samples, or with a layer's block of it.
    async fn multiply(&self, curvature: Curvature, layer: Option<usize>, v: &Vector, out: &mut Vector) -> Result<()> {
        let own = product(&*self.own, curvature, layer, v, out);
        let ((), found) = self.crew.together(Pass::Product { curvature, layer, v }, own).await?;
        self.crew.weigh(self.vectors(), &self.weights, &found, out)
    }

    /// Everybody evaluates points of its own, over all samples.
    async fn share_points(&self, whole: &dyn Executor, points: &[[f64; 2]], out: &mut Vector) -> Result<()> {
        let own = &points[self.crew.own_points(points.len())];
        let pass = async {
            let mut found = self.vectors().zeros(2 * own.len().max(1), 1)?;
            if !own.is_empty() {
                whole.evaluate_plane(own, &mut found).await?;
            }
            self.vectors().download(&found).await
        };
        let (mut found, _) = self.crew.together(Pass::EvaluatePlane(points), pass).await?;
        found.truncate(2 * own.len());
        let all = self.vectors().upload(&self.crew.join_points(found, points.len())?, 1)?;
        self.vectors().copy_rows(&all, 0..all.len(), out, 0)
    }

    /// Losses and accuracies of the own share become those of all samples, from place `at` of `out` on.
    async fn report(
        &self,
        weights: &[f64],
        own: &Vector,
        found: &C::Found,
        list: usize,
        out: &mut Vector,
        at: usize,
    ) -> Result<()> {
        let own = self.vectors().download(own).await?;
        let means = self.crew.weigh_numbers(weights, own, found, list)?;
        let means = self.vectors().upload(&means, 1)?;
        self.vectors().copy_rows(&means, 0..means.len(), out, at)
    }
}

impl<C: Crew> Executor for Sharded<C> {
    fn info(&self) -> &BackendInfo {
        &self.info
    }

    fn threads(&self, samples: usize) -> usize {
        self.crew.threads(&*self.own, samples)
    }

    fn vectors(&self) -> &dyn Vectors {
        self.own.vectors()
    }

    fn charts(&self) -> &dyn Charts {
        self.own.charts()
    }

    fn prepare<'a>(&'a self, theta: &'a Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.crew.together(Pass::Prepare(theta), self.own.prepare(theta)).await.map(|_| ()) })
    }

    fn loss(&self) -> LocalFuture<'_, Result<f64>> {
        Box::pin(self.mean_loss())
    }

    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>> {
        Box::pin(self.all_outputs())
    }

    fn gradient(&self, out: &mut Vector) -> Result<()> {
        // It is there since the point was prepared.
        let ((), found) = now(self.crew.together(Pass::Gradient, async { self.own.gradient(out) }))?;
        self.crew.weigh(self.vectors(), &self.weights, &found, out)
    }

    fn product<'a>(&'a self, curvature: Curvature, v: &'a Vector, out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.multiply(curvature, None, v, out))
    }

    fn layer_product<'a>(
        &'a self,
        curvature: Curvature,
        layer: usize,
        v: &'a Vector,
        out: &'a mut Vector,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.multiply(curvature, Some(layer), v, out))
    }

    fn evaluate<'a>(&'a self, theta: &'a Vector, out: &'a mut Vector, index: usize) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut own = self.vectors().zeros(2, 1)?;
            let ((), found) = self.crew.together(Pass::Evaluate(theta), self.own.evaluate(theta, &mut own, 0)).await?;
            self.report(&self.weights, &own, &found, 0, out, 2 * index).await
        })
    }

    fn prepare_plane<'a>(
        &'a self,
        theta: &'a Vector,
        u: &'a Vector,
        v: Option<&'a Vector>,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let own = self.crew.by_points()?.unwrap_or(&*self.own).prepare_plane(theta, u, v);
            self.crew.together(Pass::PreparePlane { theta, u, v }, own).await.map(|_| ())
        })
    }

    fn evaluate_plane<'a>(&'a self, points: &'a [[f64; 2]], out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            if let Some(whole) = self.crew.by_points()? {
                return self.share_points(whole, points, out).await;
            }
            let mut own = self.vectors().zeros(2 * points.len(), 1)?;
            let pass = self.own.evaluate_plane(points, &mut own);
            let ((), found) = self.crew.together(Pass::EvaluatePlane(points), pass).await?;
            self.report(&self.weights, &own, &found, 0, out, 0).await
        })
    }

    fn sweep<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<Vec<LayerSums>>>> {
        Box::pin(self.mean_sums(cotangents))
    }

    fn squared_gradients<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(self.mean_squares(cotangents))
    }

    /// A batch's samples go to whoever has them; a small one the caller computes alone, where it has all samples.
    fn batch_gradient<'a>(
        &'a self,
        theta: &'a Vector,
        rows: &'a [u32],
        gradient: &'a mut Vector,
        out: &'a mut Vector,
        index: usize,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            if !self.crew.is_batch_shared(rows.len()) {
                return self.own.batch_gradient(theta, rows, gradient, out, index).await;
            }
            let weights = self.shares.weights_of(rows);
            let mut means = self.vectors().zeros(2, 1)?;
            let ((), found) = self
                .crew
                .together(Pass::BatchGradient { theta, rows }, async {
                    if weights[self.place] > 0.0 {
                        let rows = own_rows(rows, &self.shares.range(self.place))?;
                        return self.own.batch_gradient(theta, &rows, gradient, &mut means, 0).await;
                    }
                    *gradient = self.vectors().zeros(gradient.len(), 1)?;
                    Ok(())
                })
                .await?;
            self.crew.weigh(self.vectors(), &weights, &found, gradient)?;
            self.report(&weights, &means, &found, 1, out, 2 * index).await
        })
    }

    fn total(&self, numbers: &mut [f64]) -> Result<()> {
        self.crew.total(numbers)
    }
}
