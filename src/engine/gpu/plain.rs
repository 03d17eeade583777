//! Steps without weights: forward, along a tangent, and back to what they read.

use super::affine::{Batched, Epilogue, Extent};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::PlacedStep;
use super::place::{Addend, Way};
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

    /// What the reads find, where it goes.
    fn place_all<'a>(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        read: impl Fn(usize) -> Option<Batched<'a>>,
        epilogue: Epilogue,
        out: &DeviceBuffer,
    ) -> Result<()> {
        if placed.step.operation == Operation::Add {
            return self.add_all(placed, extent, read, epilogue, out);
        }
        for k in 0..placed.reads.len() {
            let Some(way) = Way::forward(placed, k) else { continue };
            let (way, source) = match read(k) {
                Some(source) => (way, source),
                None => (way.of_nothing(), Batched::shared(&self.nothing[0])),
            };
            self.place(way, extent, source, Addend::Nothing, epilogue, out)?;
        }
        Ok(())
    }

    /// The sum of what the reads find: of the first two, to which the others are added one by one.
    fn add_all<'a>(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        read: impl Fn(usize) -> Option<Batched<'a>>,
        epilogue: Epilogue,
        out: &DeviceBuffer,
    ) -> Result<()> {
        let found = |k: usize| Some((read(k)?, placed.reads[k], Way::forward(placed, k)?));
        let mut reads = (0..placed.reads.len()).filter_map(found).peekable();
        let mut is_first = true;
        while let Some((source, _, way)) = reads.next() {
            let second = reads.next_if(|_| is_first);
            let addend = match second {
                Some((other, image, _)) => Addend::Other(other, image),
                None if is_first => Addend::Nothing,
                None => Addend::Present,
            };
            is_first = false;
            let epilogue = if reads.peek().is_some() { Epilogue::None } else { epilogue };
            self.place(way, extent, source, addend, epilogue, out)?;
        }
        Ok(())
    }
}
