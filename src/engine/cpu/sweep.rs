//! Cotangent sweeps: backward passes from chosen cotangents, and what they leave at each layer.

use super::activation;
use super::affine::{Affine, BackwardBlock};
use super::layer_sums::{Arrival, BlockLayer, Layer, Room};
use super::parallel;
use super::passes::{Passes, Point};
use super::point::{BlockPoint, Net, Scratch, Weights, pull_back, sized};
use super::real::Real;
use super::simd;
use crate::engine::sweep::{Cotangent, LayerSums};
use crate::error::Result;
use crate::event_loop::worked;

impl<T: Real, const N: usize> Passes<T, N> {
    /// For each cotangent, what it leaves at every affine step.
    ///
    /// # Errors
    /// `TooLarge`.
    pub async fn sweep(&self, point: &Point<T>, cotangents: &[Cotangent]) -> Result<Vec<Vec<LayerSums>>> {
        let count = self.data.samples();
        let mut found = cotangents.iter().map(|_| self.empty_sums()).collect::<Result<Vec<Vec<LayerSums>>>>()?;
        let (net, weights) = (&self.net, &point.weights);
        let layer = |(l, affine): (usize, &Option<Affine>)| match affine {
            Some(affine) => Layer::new(l, affine, &weights.theta).map(Some),
            None => Ok(None),
        };
        let layers = net.affine.iter().enumerate().map(layer).collect::<Result<Vec<_>>>()?;
        let mut selections = self.chunks(count);
        self.for_each_chunk(point, async |blocks| {
            let Some(selection) = selections.next() else { return Ok(()) };
            let mut sums: Vec<Vec<Vec<LayerSums>>> = vec![Vec::new(); blocks.len()];
            let work = self.net.block_work::<N>() * (blocks.len() * cotangents.len()) as f64;
            parallel::for_each(&mut sums, work, Memory::default, async |memory, i, sums| {
                let (samples, _) = selection.lanes::<N>(i);
                let sweep = BlockSweep::<T, N>::new(net, weights, &layers, &blocks[i], memory)?;
                for cotangent in cotangents {
                    sums.push(sweep.run(&samples, cotangent, memory).await?);
                }
                Ok(())
            })
            .await?;
            for (c, found) in found.iter_mut().enumerate() {
                for block in &sums {
                    for (found, sums) in found.iter_mut().zip(&block[c]) {
                        found.add(sums);
                    }
                }
            }
            Ok(())
        })
        .await?;
        for sums in found.iter_mut().flatten() {
            sums.scale(1.0 / count as f64);
        }
        Ok(found)
    }

    fn empty_sums(&self) -> Result<Vec<LayerSums>> {
        self.net.affine_steps().map(|(_, affine)| LayerSums::zeros(affine.units_in())).collect()
    }
}

/// Memory that one thread uses again and again.
#[derive(Default)]
struct Memory<T> {
    scratch: Scratch<T>,
    room: Room<T>,
}

/// One block, for all cotangents.
struct BlockSweep<'a, T, const N: usize> {
    net: &'a Net,
    weights: &'a Weights<T>,
    /// For every step; none for those without weights.
    layers: &'a [Option<Layer<T>>],
    block: &'a BlockPoint<T>,
    of_block: Vec<Option<BlockLayer<T>>>,
}

impl<'a, T: Real, const N: usize> BlockSweep<'a, T, N> {
    fn new(
        net: &'a Net,
        weights: &'a Weights<T>,
        layers: &'a [Option<Layer<T>>],
        block: &'a BlockPoint<T>,
        memory: &mut Memory<T>,
    ) -> Result<Self> {
        let mut of_step = |l: usize| {
            let (Some(affine), Some(layer)) = (&net.affine[l], &layers[l]) else { return Ok(None) };
            let x = affine.pad::<T, N>(block.input_of(l), &mut memory.scratch.padded)?;
            BlockLayer::new::<N>(net, affine, layer, x).map(Some)
        };
        let of_block = (0..layers.len()).map(&mut of_step).collect::<Result<_>>()?;
        Ok(Self { net, weights, layers, block, of_block })
    }

    /// What a cotangent leaves at the affine steps.
    async fn run(&self, samples: &[usize; N], cotangent: &Cotangent, memory: &mut Memory<T>) -> Result<Vec<LayerSums>> {
        let Self { net, weights, block, .. } = *self;
        let Memory { scratch, room } = memory;
        let mut d = std::mem::take(&mut scratch.d);
        let mut q = std::mem::take(&mut scratch.q);
        start::<T, N>(net, block, cotangent, samples, &mut d)?;
        let mut found = Vec::new();
        for l in (0..net.plan.steps.len()).rev() {
            if l > 0 {
                pull_back::<T, N>(net, weights, l, &block.argmax[l], &d, &mut scratch.padded, &mut q)?;
            }
            if let (Some(affine), Some(layer), Some(of_block)) = (&net.affine[l], &self.layers[l], &self.of_block[l]) {
                if let Layer::Dense { first: Some(first), .. } = layer {
                    let out = sized(&mut q, affine.columns * N)?;
                    simd::run(net.level, BackwardBlock::<T, N> { affine, terms: &[(first, &d)], out });
                }
                let x = affine.pad::<T, N>(block.input_of(l), &mut scratch.padded)?;
                let theta = &weights.theta;
                let arrival = Arrival { affine, layer, block: of_block, theta, g: &d, x, pulled: &q };
                found.push(arrival.sums::<N>(net, room)?);
            }
            if l > 0 {
                activation::multiply_derivative(net.plan.steps[l - 1].activation, &block.activations[l - 1], &mut q);
                std::mem::swap(&mut d, &mut q);
            }
            worked(2.0 * net.step_work::<N>(l)).await;
        }
        (scratch.d, scratch.q) = (d, q);
        found.reverse();
        Ok(found)
    }
}

/// The cotangent at the outputs of one block; 0 in the lanes that do not count.
pub fn start<T: Real, const N: usize>(
    net: &Net,
    block: &BlockPoint<T>,
    cotangent: &Cotangent,
    samples: &[usize; N],
    out: &mut Vec<T>,
) -> Result<()> {
    let outputs = net.places.len();
    out.clear();
    sized(out, outputs * N)?;
    let out = out.as_chunks_mut::<N>().0;
    let p = block.probabilities.as_chunks::<N>().0;
    let two_root = std::f64::consts::SQRT_2;
    for n in 0..block.valid {
        for (c, &place) in net.places.iter().enumerate() {
            let place = place as usize;
            // e_class − p, with 1 − p as a sum, which keeps its digits where p is near 1.
            let softmax = |class: usize| {
                if c != class {
                    return -p[place][n].to_f64();
                }
                let others = net.places.iter().filter(|&&other| other as usize != place);
                others.map(|&other| p[other as usize][n].to_f64()).sum()
            };
            out[place][n] = T::from_f64(match cotangent {
                Cotangent::Class(class) if p.is_empty() => {
                    if c == *class {
                        two_root
                    } else {
                        0.0
                    }
                }
                Cotangent::Class(class) => p[net.places[*class] as usize][n].to_f64().sqrt() * softmax(*class),
                Cotangent::Drawn(classes) => softmax(classes[samples[n]] as usize),
                Cotangent::Signs(signs) => two_root * f64::from(signs[samples[n] * outputs + c]),
            });
        }
    }
    Ok(())
}
