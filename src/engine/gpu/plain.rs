//! Steps without weights: forward, along a tangent, and back to what they read.

use super::affine::{Batched, Epilogue, Extent};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::PlacedStep;
use super::place::Way;
use crate::engine::plan::Operation;
use crate::error::Result;

impl GpuExecutor {
    /// φ of what a step makes of what its reads find; which ones a max pool has chosen go into `chosen`.
    pub(super) fn plain_forward<'a>(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        read: impl Fn(usize) -> Batched<'a>,
        epilogue: Epilogue,
        chosen: Option<&DeviceBuffer>,
        out: &DeviceBuffer,
    ) -> Result<()> {
        if Way::forward(placed, 0).is_none() {
            return self.pool_forward(placed, extent, read(0), epilogue, chosen, out);
        }
        self.place_all(placed, extent, |k| Some(read(k)), epilogue, out)
    }

    /// ȧ behind a step, from ȧ of what its reads find; `None` of what has none.
    pub(super) fn plain_tangent<'a>(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        read: impl Fn(usize) -> Option<&'a DeviceBuffer>,
        epilogue: Epilogue,
        chosen: Option<&DeviceBuffer>,
        out: &DeviceBuffer,
    ) -> Result<()> {
        match read(0) {
            Some(source) if Way::forward(placed, 0).is_none() => {
                self.pool_tangent(placed, extent, source, epilogue, chosen, out)
            }
            // What is constant keeps the zeros that it was made with.
            _ if !placed.pulls_back() => Ok(()),
            _ => self.place_all(placed, extent, |k| read(k).map(Batched::each), epilogue, out),
        }
    }

    /// What the reads find, where it goes. Of a sum the first one that there is takes the place, the others are added, and the last
    /// ends it; the parts of a concatenation have nothing to do with each other.
    fn place_all<'a>(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        read: impl Fn(usize) -> Option<Batched<'a>>,
        epilogue: Epilogue,
        out: &DeviceBuffer,
    ) -> Result<()> {
        let is_sum = placed.step.operation == Operation::Add;
        let present = |k: &usize| read(*k).is_some();
        let reads = 0..placed.reads.len();
        let (first, last) = (reads.clone().find(present), reads.clone().rev().find(present));
        for k in reads {
            let Some(way) = Way::forward(placed, k) else { continue };
            match read(k) {
                Some(source) => {
                    let accumulate = is_sum && Some(k) != first;
                    let epilogue = if is_sum && Some(k) != last { Epilogue::None } else { epilogue };
                    self.place(way, extent, source, accumulate, epilogue, out)?;
                }
                None if is_sum => {}
                None => {
                    self.place(way.of_nothing(), extent, Batched::shared(&self.nothing[0]), false, Epilogue::None, out)?
                }
            }
        }
        Ok(())
    }
}
