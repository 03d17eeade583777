//! Cotangent sweeps: backward passes from chosen cotangents, and what they leave at each layer.

use super::activation::Finish;
use super::affine_block::BackwardBlock;
use super::affine_work;
use super::aligned::Aligned;
use super::layer_sums::{Arrival, BlockLayer, Layer, SumsWorkspace};
use super::net::{Kind, Net, Weights};
use super::parallel;
use super::passes::{Passes, Point};
use super::point::{BlockPoint, Workspace, sized};
use super::real::Real;
use super::walk::walk_back;
use crate::engine::sweep::{Cotangent, LayerSums};
use crate::error::Result;

impl<T: Real, const N: usize> Passes<T, N> {
    /// For each cotangent, what it leaves at every affine step.
    ///
    /// # Errors
    /// `TooLarge`.
    pub async fn sweep(&self, point: &Point<T>, cotangents: &[Cotangent]) -> Result<Vec<Vec<LayerSums>>> {
        let count = self.data.samples();
        let mut found = cotangents.iter().map(|_| self.empty_sums()).collect::<Result<Vec<Vec<LayerSums>>>>()?;
        let (net, weights) = (&self.net, &point.weights);
        let layer = |(l, kind): (usize, &Kind)| match kind {
            Kind::Affine(affine) => Layer::new(affine, &weights.theta, net.pulls_back(l)).map(Some),
            Kind::Plain(_) => Ok(None),
        };
        let layers = net.kinds.iter().enumerate().map(layer).collect::<Result<Vec<_>>>()?;
        let mut selections = self.chunks(count);
        self.for_each_chunk(point, async |blocks| {
            let Some(selection) = selections.next() else { return Ok(()) };
            let mut sums: Vec<Vec<Vec<LayerSums>>> = vec![Vec::new(); blocks.len()];
            let work = self.net.block_work::<N>() * (blocks.len() * cotangents.len()) as f64;
            parallel::for_each(&mut sums, work, SweepWorkspace::default, async |workspace, i, sums| {
                let (samples, _) = selection.lanes::<N>(i);
                let sweep = BlockSweep::<T, N>::new(net, weights, &layers, &blocks[i], workspace)?;
                for cotangent in cotangents {
                    sums.push(sweep.run(&samples, cotangent, workspace).await?);
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
struct SweepWorkspace<T> {
    steps: Workspace<T>,
    sums: SumsWorkspace<T>,
    padded: Aligned<T>,
    pulled: Aligned<T>,
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
        workspace: &mut SweepWorkspace<T>,
    ) -> Result<Self> {
        let mut of_step = |l: usize| {
            let (Kind::Affine(affine), Some(layer)) = (&net.kinds[l], &layers[l]) else { return Ok(None) };
            let x = affine.pad::<T, N>(block.input_of(net, l), &mut workspace.padded)?;
            BlockLayer::new::<N>(net, affine, layer, x).map(Some)
        };
        let of_block = (0..layers.len()).map(&mut of_step).collect::<Result<_>>()?;
        Ok(Self { net, weights, layers, block, of_block })
    }

    /// What a cotangent leaves at the affine steps.
    async fn run(
        &self,
        samples: &[usize; N],
        cotangent: &Cotangent,
        workspace: &mut SweepWorkspace<T>,
    ) -> Result<Vec<LayerSums>> {
        let Self { net, weights, block, .. } = *self;
        let SweepWorkspace { steps, sums: of_sums, padded, pulled: own } = workspace;
        start::<T, N>(net, block, cotangent, samples, steps)?;
        let mut found = Vec::new();
        walk_back::<T, N>(net, weights, block, steps, |l, affine, g, pulled| {
            let (Some(layer), Some(of_block)) = (&self.layers[l], &self.of_block[l]) else { return Ok(()) };
            let pulled = match layer {
                Layer::Dense { first: Some(first), .. } => {
                    let out = sized(own, affine.columns * N)?;
                    affine_work::run(
                        net.level,
                        BackwardBlock::<T, N> { affine, terms: &[(first, g)], finish: Finish::Nothing, out },
                    );
                    &*own
                }
                _ => pulled,
            };
            let x = affine.pad::<T, N>(block.input_of(net, l), padded)?;
            let arrival = Arrival { affine, layer, block: of_block, theta: &weights.theta, g, x, pulled };
            found.push(arrival.sums::<N>(net, of_sums)?);
            Ok(())
        })
        .await?;
        found.reverse();
        Ok(found)
    }
}

/// The cotangent at the outputs of one block, where [`walk_back`] looks for it; 0 in the lanes that do not count.
pub fn start<T: Real, const N: usize>(
    net: &Net,
    block: &BlockPoint<T>,
    cotangent: &Cotangent,
    samples: &[usize; N],
    workspace: &mut Workspace<T>,
) -> Result<()> {
    let (outputs, steps) = (net.places.len(), net.plan.steps.len());
    workspace.deltas.resize_with(steps, Aligned::default);
    let out = &mut workspace.deltas[steps - 1];
    if out.capacity() == 0 {
        *out = workspace.spare.pop().unwrap_or_default();
    }
    let out = out.zeros("a cotangent", outputs * N)?;
    let out = out.as_chunks_mut::<N>().0;
    let p = block.probabilities.as_chunks::<N>().0;
    let is_squared_error = p.is_empty();
    for n in 0..block.valid {
        // Of output c what the cotangent is the sum of: the columns √2 e_c, or √p_c (e_c − p), times these.
        let sign = |c: usize| match cotangent {
            Cotangent::Class(class) => f64::from(u8::from(c == *class)),
            Cotangent::Signs(signs) => f64::from(signs[samples[n] * outputs + c]),
        };
        if is_squared_error {
            for (c, &place) in net.places.iter().enumerate() {
                out[place as usize][n] = T::from_f64(std::f64::consts::SQRT_2 * sign(c));
            }
            continue;
        }
        let p_of = |c: usize| p[net.places[c] as usize][n].to_f64();
        let root = |c: usize| p_of(c).sqrt() * sign(c);
        // Without the largest p, of which 1 − p as a sum of the others keeps its digits where it is near 1.
        let largest = (0..outputs).fold(0, |largest, c| if p_of(c) > p_of(largest) { c } else { largest });
        let others = (0..outputs).filter(|&c| c != largest);
        let [rest, roots] = others.fold([0.0; 2], |[rest, roots], c| [rest + p_of(c), roots + root(c)]);
        for (c, &place) in net.places.iter().enumerate() {
            out[place as usize][n] = T::from_f64(if c == largest {
                root(c) * rest - p_of(c) * roots
            } else {
                root(c) - p_of(c) * (roots + root(largest))
            });
        }
    }
    Ok(())
}
