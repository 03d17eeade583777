//! Losses over a plane θ + s u + t v. Layer 1 is linear in (s, t): W_1 x, U_1 x and V_1 x are taken once, and each point
//! starts from a sum of three.

use std::ops::{Deref, Range};

use super::activation::Finish;
use super::affine::Forward;
use super::affine_block::ForwardBlock;
use super::affine_work;
use super::aligned::Aligned;
use super::data::Selection;
use super::net::Weights;
use super::parallel;
use super::passes::Passes;
use super::point::{BlockPoint, Workspace, sized};
use super::real::Real;
use super::tally::{Means, Tally};
use crate::error::Result;
use crate::event_loop::worked;
use crate::memory::{ask_for, copied, room};

/// A plane, or with one direction a line.
pub struct Plane<T> {
    theta: Vec<T>,
    directions: Vec<Vec<T>>,
    /// Layer 1 of θ and of the directions, packed; none where it does not see what comes in alone.
    first: Vec<Forward<T>>,
    /// For each block its layer-1 products with `first`, if they fit the budget.
    kept: Option<Vec<Vec<Aligned<T>>>>,
}

impl<T: Real, const N: usize> Passes<T, N> {
    /// Fixes a plane.
    ///
    /// # Errors
    /// `TooLarge`.
    pub async fn plane(&self, theta: &[T], directions: &[&[T]]) -> Result<Plane<T>> {
        let vectors = std::iter::once(theta).chain(directions.iter().copied());
        let first = vectors.filter_map(|vector| {
            let mut packed = Forward::default();
            Some(self.net.first()?.pack_forward(vector, &mut packed).map(|()| packed))
        });
        let mut plane = Plane {
            theta: copied("a point", theta)?,
            directions: directions.iter().map(|direction| copied("a direction", direction)).collect::<Result<_>>()?,
            first: first.collect::<Result<_>>()?,
            kept: None,
        };
        let samples = self.data.samples();
        let each = self.net.plan.steps[0].output.len() as u64 * (plane.first.len() * size_of::<T>()) as u64;
        let bytes = each.saturating_mul(samples.next_multiple_of(N) as u64);
        // Where there is no room after all they are taken at each evaluation.
        if bytes <= self.budget() && ask_for("layer 1 of a plane", bytes).is_ok() {
            let mut kept = room("layer 1 of a plane", samples.div_ceil(N))?;
            for chunk in self.chunks(samples) {
                kept.extend(self.first_products(&plane, chunk).await?);
            }
            plane.kept = Some(kept);
        }
        Ok(plane)
    }

    /// Layer 1 of these samples: for each block, W_1 x + b_1 for θ and for every direction.
    async fn first_products(&self, plane: &Plane<T>, selection: Selection<'_>) -> Result<Vec<Vec<Aligned<T>>>> {
        let net = &self.net;
        let Some(affine) = net.first() else {
            return Ok((0..selection.count().div_ceil(N)).map(|_| Vec::new()).collect());
        };
        let len = net.plan.steps[0].output.len() * N;
        let rows = self.data.rows();
        let of_vector = |_| {
            let mut product = Aligned::default();
            product.resize("layer 1 of a plane", len).map(|_| ())?;
            Ok(product)
        };
        let of_block = |_| (0..plane.first.len()).map(of_vector).collect();
        let mut products: Vec<Vec<Aligned<T>>> =
            (0..selection.count().div_ceil(N)).map(of_block).collect::<Result<_>>()?;
        let work = affine.multiplications() * (N * products.len() * plane.first.len()) as f64;
        let workspace = || (Workspace::default(), BlockPoint::default());
        parallel::for_each(&mut products, work, workspace, async |(workspace, block), i, products| {
            block.load::<N>(net, rows, &selection, i)?;
            let input = affine.frame::<T, N>(&block.input, &mut workspace.padded)?;
            let vectors = std::iter::once(&plane.theta).chain(&plane.directions);
            for ((out, packed), vector) in products.iter_mut().zip(&plane.first).zip(vectors) {
                let bias = affine.bias.clone().map(|range| &vector[range]);
                affine_work::run(
                    net.level,
                    ForwardBlock::<T, N> { affine, bias, terms: &[(packed, input)], finish: Finish::Nothing, out },
                );
            }
            Ok(())
        })
        .await?;
        Ok(products)
    }

    /// Losses and accuracies at these points of the plane.
    ///
    /// # Errors
    /// `TooLarge`.
    pub async fn evaluate_plane(&self, plane: &Plane<T>, points: &[[f64; 2]]) -> Result<Vec<Means>> {
        let samples = self.data.samples();
        let mut tallies: Vec<Tally> = points.iter().map(|_| Tally::default()).collect();
        let mut weights = Weights::default();
        let mut theta = copied("a point", &plane.theta)?;
        // Layer 1 of a point is a sum of products that are there already.
        let behind = usize::from(self.net.plan.starts_affine());
        let rest = self.net.start(behind)..theta.len();
        let mut done = 0;
        for selection in self.chunks(samples) {
            let count = selection.count().div_ceil(N);
            let computed;
            let products = match &plane.kept {
                Some(kept) => &kept[done..done + count],
                None => {
                    computed = self.first_products(plane, selection).await?;
                    &computed
                }
            };
            done += count;
            let mut blocks = self.take_blocks(count)?;
            for (point, tally) in points.iter().zip(&mut tallies) {
                let factors = point.map(T::from_f64);
                combine(&plane.theta, &plane.directions, &factors, rest.clone(), &mut theta);
                weights.pack(&self.net, &theta, behind..self.net.kinds.len(), false).await?;
                self.run_plane_blocks(&mut blocks, products, &weights, &factors, selection).await?;
                tally.add(&blocks)?;
            }
            self.give_back(blocks);
        }
        Ok(tallies.iter().map(Tally::means).collect())
    }

    async fn run_plane_blocks(
        &self,
        blocks: &mut [BlockPoint<T>],
        products: &[Vec<Aligned<T>>],
        weights: &Weights<T>,
        factors: &[T],
        selection: Selection<'_>,
    ) -> Result<()> {
        let (net, targets, samples) = (&self.net, self.data.targets(), self.data.samples());
        let work = net.block_work::<N>() * blocks.len() as f64;
        let steps = net.plan.steps.len();
        let rows_of_data = self.data.rows();
        self.in_groups(blocks, work, async |workspace, first, group| {
            for (i, (products, block)) in (first..).zip(products[first..].iter().zip(&mut *group)) {
                block.prepare_lists(steps);
                if !net.plan.starts_affine() || net.plan.reads_input_later() {
                    block.load::<N>(net, rows_of_data, &selection, i)?;
                }
                let Some((base, directions)) = products.split_first() else { continue };
                let out = sized(&mut block.activations[0], base.len())?;
                combine(base, directions, factors, 0..base.len(), out);
                block.activate_first(net);
            }
            for l in usize::from(net.plan.starts_affine())..steps {
                for block in &mut *group {
                    block.forward_step::<N>(net, weights, l, false, workspace)?;
                    worked(net.step_work::<N>(l)).await?;
                }
            }
            for (i, block) in (first..).zip(group) {
                let (rows, valid) = selection.lanes::<N>(i);
                block.valid = valid;
                block.evaluate::<N>(net, targets, &rows, samples)?;
            }
            Ok(())
        })
        .await
    }
}

/// out = base + Σ factor · direction, these of the numbers.
fn combine<T: Real>(
    base: &[T],
    directions: &[impl Deref<Target = [T]>],
    factors: &[T],
    range: Range<usize>,
    out: &mut [T],
) {
    let (base, out) = (&base[range.clone()], &mut out[range.clone()]);
    match directions {
        [u] => {
            for ((out, &base), &u) in out.iter_mut().zip(base).zip(&u[range]) {
                *out = base + factors[0] * u;
            }
        }
        [u, v] => {
            for (((out, &base), &u), &v) in out.iter_mut().zip(base).zip(&u[range.clone()]).zip(&v[range]) {
                *out = base + factors[0] * u + factors[1] * v;
            }
        }
        _ => unreachable!("a plane has one or two directions"),
    }
}
