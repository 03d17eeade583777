//! The passes over the data: chunks of blocks, forward and backward block by block, weight gradients row by row.
//!
//! What is summed in one go follows from the network alone. How much of that goes through together, and which chunks stay in
//! memory between two products, is up to threads and the budget; the others are computed again, with the same bits.

use std::cell::RefCell;
use std::collections::VecDeque;

use super::aligned::Aligned;
use super::data::{Data, Selection};
use super::net::{Net, Weights};
use super::parallel;
use super::point::{BlockPoint, Workspace};
use super::real::Real;
use super::tally::{Means, Tally};
use super::tangent::{BlockTangent, Differential};
use crate::engine::plan::Step;
use crate::error::Result;
use crate::event_loop::worked;
use crate::memory::{ask_for, product, room, zeros};

/// Numbers that blocks which are summed together may hold: enough for long sums, little enough for any machine.
const CHUNK_NUMBERS: u64 = 1 << 24;

/// Most samples that are summed together.
const CHUNK_SAMPLES: usize = 1024;

/// Bytes of weights that stay in a core's cache from block to block.
const WEIGHTS_KEPT: usize = 2 << 20;

/// Bytes of a step's images that should be in the cache together.
const IMAGES_KEPT: usize = 256 << 10;

/// Most blocks in a group: fetching weights costs little then.
const GROUP: usize = 8;

/// One problem's passes, in blocks of N samples.
pub struct Passes<T, const N: usize> {
    pub net: Net,
    pub data: Data<T>,
    /// Bytes that kept chunks may take.
    budget: u64,
    /// Threads that chunks are made for; where fewer or more work later, chunks stay as they are.
    threads: usize,
    spare_points: RefCell<VecDeque<BlockPoint<T>>>,
    tangents: RefCell<Vec<BlockTangent<T>>>,
    spare_weights: RefCell<Weights<T>>,
    directions: RefCell<Vec<Weights<T>>>,
}

/// A point at which products are taken: everything that does not depend on the direction.
pub struct Point<T> {
    pub weights: Weights<T>,
    /// For each chunk its blocks, if they were kept.
    chunks: Vec<Option<Vec<BlockPoint<T>>>>,
    /// ŷ, (samples, outputs).
    pub outputs: Vec<T>,
    pub losses: Vec<f64>,
    pub gradient: Vec<T>,
}

impl<T: Real, const N: usize> Passes<T, N> {
    pub fn new(net: Net, data: Data<T>, budget: u64) -> Self {
        Self {
            net,
            data,
            budget,
            threads: parallel::threads(),
            spare_points: RefCell::default(),
            tangents: RefCell::default(),
            spare_weights: RefCell::default(),
            directions: RefCell::default(),
        }
    }

    /// Bytes that may be kept between calls.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Numbers that one block's passes keep at a point.
    fn block_numbers(&self) -> u64 {
        // Activations and δ, and of smooth activations two derivatives.
        let of_step = |step: &Step| if step.activation.is_smooth() { 4 } else { 2 };
        let steps = self.net.plan.steps.iter().map(|step| of_step(step) * step.output.len() as u64 * N as u64);
        let inputs = self.net.affine_steps().map(|(_, affine)| affine.layout_numbers::<N>()[0]);
        self.data.shape().len() as u64 * N as u64 + steps.sum::<u64>() + inputs.sum::<u64>()
    }

    /// Bytes that a block takes beside its numbers: lists of the steps, and what an allocator and whole cache lines add to each vector.
    fn block_overhead(&self) -> u64 {
        let lists = 7 * self.net.plan.steps.len() * (size_of::<Aligned<T>>() + 128);
        (size_of::<BlockPoint<T>>() + lists + 8 * N) as u64
    }

    /// Numbers that one thread lays out for a step beside what is kept: padded inputs of a point and of a direction, or sums of lanes.
    fn scratch_numbers(&self) -> u64 {
        let padded = self.net.affine_steps().map(|(_, affine)| affine.layout_numbers::<N>().iter().max().copied());
        2 * padded.flatten().max().unwrap_or(0)
    }

    /// Blocks whose gradients are summed in one go.
    pub fn summed(&self) -> usize {
        // A point and the tangents of a direction.
        let blocks = CHUNK_NUMBERS / (2 * self.block_numbers()).max(1);
        blocks.clamp(1, CHUNK_SAMPLES.div_ceil(N) as u64) as usize
    }

    /// Samples in a chunk, which go through together: where images are so large that few are summed in one go, as many as keep
    /// all threads busy, within a quarter of the budget.
    fn chunk(&self) -> usize {
        let summed = self.summed();
        let bytes = (2 * self.block_numbers()).saturating_mul((summed * size_of::<T>()) as u64);
        let fitting = self.budget / 4 / bytes.max(1);
        let times = (self.threads.div_ceil(summed) as u64).min(fitting).max(1);
        summed * N * times as usize
    }

    /// Bytes that a point and a product take, whatever the budget: two chunks' worth, and vectors of parameters.
    pub fn working_bytes(&self) -> u64 {
        let blocks = self.chunk().min(self.data.samples()).div_ceil(N) as u64;
        let passes = blocks.saturating_mul(2 * self.block_numbers());
        let vectors = 8 * self.net.plan.parameter_count as u64;
        passes.saturating_add(self.scratch_numbers() + vectors).saturating_mul(size_of::<T>() as u64)
    }

    /// Bytes that a point over so many samples keeps, as far as the budget goes, and that its products take.
    pub fn bytes_for(&self, samples: usize) -> u64 {
        let block = self.block_numbers() * size_of::<T>() as u64 + self.block_overhead();
        // A sample's share of a block: few samples fill none.
        let kept = (block as u128 * samples as u128 / N as u128).min(u128::from(self.budget)) as u64;
        kept.saturating_add(self.working_bytes())
    }

    /// The chunks of a selection of `count` samples.
    pub fn chunks(&self, count: usize) -> impl Iterator<Item = Selection<'static>> + use<T, N> {
        let chunk = self.chunk();
        (0..count).step_by(chunk).map(move |first| Selection::Run { first, end: (first + chunk).min(count) })
    }

    pub fn take_blocks(&self, count: usize) -> Result<Vec<BlockPoint<T>>> {
        let mut spare = self.spare_points.borrow_mut();
        // The first that were given back, which hold the samples that are likely to be asked for.
        let given = count.min(spare.len());
        let mut blocks = room("blocks of samples", count)?;
        blocks.extend(spare.drain(..given));
        blocks.resize_with(count, BlockPoint::default);
        Ok(blocks)
    }

    pub fn give_back(&self, blocks: Vec<BlockPoint<T>>) {
        let mut spare = self.spare_points.borrow_mut();
        // Where there is no room for them they are let go: they only save time.
        if spare.try_reserve(blocks.len()).is_ok() {
            spare.extend(blocks);
        }
    }

    /// A point's memory is used again for the next one.
    pub fn recycle(&self, point: Point<T>) {
        point.chunks.into_iter().flatten().for_each(|blocks| self.give_back(blocks));
        *self.spare_weights.borrow_mut() = point.weights;
    }

    /// θ packed, in memory of before where there is some.
    pub async fn pack(&self, theta: &[T], with_backward: bool) -> Result<Weights<T>> {
        let mut weights = self.spare_weights.take();
        weights.pack(&self.net, theta, self.net.all(), with_backward).await?;
        Ok(weights)
    }

    /// Blocks that go through a step before any of them goes through the next. Weights that do not stay in the cache come
    /// once a group then; where images are large, it is they that should stay, a block's from step to step.
    fn group(&self, blocks: usize) -> usize {
        let weights = self.net.plan.parameter_count * size_of::<T>();
        let image = self.net.plan.steps.iter().map(|step| step.output.len()).max().unwrap_or(1) * N * size_of::<T>();
        if weights < WEIGHTS_KEPT {
            return 1;
        }
        // All threads should have something to do.
        (IMAGES_KEPT / image).min(blocks / (2 * parallel::threads())).clamp(1, GROUP)
    }

    /// `f(workspace, first, group)` for groups of blocks, or of what belongs to blocks.
    pub async fn in_groups<I: Send>(
        &self,
        items: &mut [I],
        work: f64,
        f: impl AsyncFn(&mut Workspace<T>, usize, &mut [I]) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        let size = self.group(items.len());
        let mut groups: Vec<_> = items.chunks_mut(size).collect();
        let each =
            async |workspace: &mut Workspace<T>, i: usize, group: &mut &mut [I]| f(workspace, i * size, group).await;
        parallel::for_each(&mut groups, work, Workspace::default, each).await
    }

    /// Forward passes of these samples and the loss, whose mean is over `count` samples, and backward passes if asked for.
    async fn run_blocks(
        &self,
        weights: &Weights<T>,
        selection: Selection<'_>,
        count: usize,
        with_backward: bool,
    ) -> Result<Vec<BlockPoint<T>>> {
        let mut blocks = self.take_blocks(selection.count().div_ceil(N))?;
        let (net, rows, targets) = (&self.net, self.data.rows(), self.data.targets());
        let steps = net.plan.steps.len();
        let work = net.block_work::<N>() * blocks.len() as f64;
        self.in_groups(&mut blocks, work, async |workspace, first, group| {
            for l in 0..steps {
                for (i, block) in (first..).zip(&mut *group) {
                    if l == 0 {
                        block.prepare_lists(steps);
                        block.load::<N>(net, rows, &selection, i)?;
                    }
                    block.forward_step::<N>(net, weights, l, with_backward, workspace)?;
                    worked(net.step_work::<N>(l)).await?;
                }
            }
            for (i, block) in (first..).zip(&mut *group) {
                block.evaluate::<N>(net, targets, &selection.lanes::<N>(i).0, count)?;
            }
            for l in (0..steps).rev().filter(|&l| with_backward && net.pulls_back(l)) {
                for block in &mut *group {
                    block.backward_step::<N>(net, weights, l, workspace)?;
                    worked(net.step_work::<N>(l)).await?;
                }
            }
            Ok(())
        })
        .await?;
        Ok(blocks)
    }

    /// Forward and backward over all samples at θ.
    pub async fn point(&self, theta: &[T]) -> Result<Point<T>> {
        let weights = self.pack(theta, true).await?;
        let samples = self.data.samples();
        let outputs = product::<T>("outputs", &[samples, self.net.places.len()])?;
        let mut point = Point {
            weights,
            chunks: room("chunks of samples", samples.div_ceil(self.chunk()))?,
            outputs: room("outputs", outputs)?,
            losses: room("losses of samples", samples)?,
            gradient: zeros("a gradient", self.net.plan.parameter_count)?,
        };
        let bytes = (self.block_numbers() * size_of::<T>() as u64).max(1);
        let mut left = self.budget / bytes;
        let kept = left.min(samples.div_ceil(N) as u64);
        let new = kept.saturating_sub(self.spare_points.borrow().len() as u64);
        ask_for("activations and derivatives that a point keeps", new.saturating_mul(bytes + self.block_overhead()))?;
        for selection in self.chunks(samples) {
            let blocks = self.run_blocks(&point.weights, selection, samples, true).await?;
            for block in &blocks {
                let outputs = block.activations[self.net.plan.steps.len() - 1].as_chunks::<N>().0;
                for n in 0..block.valid {
                    point.outputs.extend(self.net.places.iter().map(|&place| outputs[place as usize][n]));
                }
                point.losses.extend(&block.loss.losses);
            }
            self.add_gradient(&blocks, &mut point.gradient).await?;
            let is_kept = blocks.len() as u64 <= left;
            if is_kept {
                left -= blocks.len() as u64;
                point.chunks.push(Some(blocks));
            } else {
                point.chunks.push(None);
                self.give_back(blocks);
            }
        }
        Ok(point)
    }

    /// Gradient at θ over the listed samples, and their loss and accuracy.
    pub async fn batch(&self, theta: &[T], rows: &[u32], gradient: &mut [T]) -> Result<Means> {
        let weights = self.pack(theta, true).await?;
        gradient.fill(T::ZERO);
        let mut tally = Tally::default();
        for rows_of_chunk in rows.chunks(self.chunk()) {
            let blocks = self.run_blocks(&weights, Selection::Listed(rows_of_chunk), rows.len(), true).await?;
            self.add_gradient(&blocks, gradient).await?;
            tally.add(&blocks)?;
            self.give_back(blocks);
        }
        *self.spare_weights.borrow_mut() = weights;
        Ok(tally.means())
    }

    /// Loss and accuracy over all samples at θ.
    pub async fn evaluate(&self, theta: &[T]) -> Result<Means> {
        let weights = self.pack(theta, false).await?;
        let samples = self.data.samples();
        let mut tally = Tally::default();
        for selection in self.chunks(samples) {
            let blocks = self.run_blocks(&weights, selection, samples, false).await?;
            tally.add(&blocks)?;
            self.give_back(blocks);
        }
        *self.spare_weights.borrow_mut() = weights;
        Ok(tally.means())
    }

    /// Calls `f` with each chunk's blocks at the point, kept or computed again.
    pub async fn for_each_chunk(
        &self,
        point: &Point<T>,
        mut f: impl AsyncFnMut(&[BlockPoint<T>]) -> Result<()>,
    ) -> Result<()> {
        let samples = self.data.samples();
        for (selection, kept) in self.chunks(samples).zip(&point.chunks) {
            match kept {
                Some(blocks) => f(blocks).await?,
                None => {
                    let blocks = self.run_blocks(&point.weights, selection, samples, true).await?;
                    f(&blocks).await?;
                    self.give_back(blocks);
                }
            }
        }
        Ok(())
    }

    /// C v for directions that lie one after the other.
    pub async fn product(&self, point: &Point<T>, differential: &Differential, v: &[T], out: &mut [T]) -> Result<()> {
        let parameters = self.net.plan.parameter_count;
        let count = self.data.samples();
        let (mut directions, mut tangents) = (self.directions.take(), self.tangents.take());
        directions.resize_with(v.len() / parameters, Weights::default);
        for (direction, v) in directions.iter_mut().zip(v.chunks_exact(parameters)) {
            direction
                .pack(&self.net, v, differential.steps(&self.net), differential.goes_back_through_direction())
                .await?;
        }
        out.fill(T::ZERO);
        self.for_each_chunk(point, async |blocks| {
            if tangents.len() < blocks.len() {
                tangents.resize_with(blocks.len(), Default::default);
            }
            let tangents = &mut tangents[..blocks.len()];
            let varying = (0..self.net.kinds.len()).filter(|&l| differential.varies(l));
            let work = 4.0 * varying.map(|l| self.net.step_work::<N>(l)).sum::<f64>() * blocks.len() as f64;
            let steps = self.net.plan.steps.len();
            for (direction, out) in directions.iter().zip(out.chunks_exact_mut(parameters)) {
                let (net, weights) = (&self.net, [&point.weights, direction]);
                self.in_groups(tangents, work, async |workspace, first, group| {
                    let blocks = &blocks[first..];
                    for tangent in &mut *group {
                        tangent.prepare_lists(steps);
                    }
                    for l in (0..steps).filter(|&l| differential.varies(l)) {
                        for (tangent, block) in group.iter_mut().zip(blocks) {
                            tangent.forward_step::<N>(net, weights, l, block, differential, workspace)?;
                            worked(2.0 * net.step_work::<N>(l)).await?;
                        }
                    }
                    for (tangent, block) in group.iter_mut().zip(blocks) {
                        tangent.evaluate::<N>(block, count)?;
                    }
                    for l in (0..steps).rev().filter(|&l| differential.pulls_back(net, l)) {
                        for (tangent, block) in group.iter_mut().zip(blocks) {
                            tangent.backward_step::<N>(net, weights, l, block, differential, workspace)?;
                            worked(2.0 * net.step_work::<N>(l)).await?;
                        }
                    }
                    Ok(())
                })
                .await?;
                self.add_product(blocks, tangents, differential, out).await?;
            }
            Ok(())
        })
        .await?;
        (*self.directions.borrow_mut(), *self.tangents.borrow_mut()) = (directions, tangents);
        Ok(())
    }
}
