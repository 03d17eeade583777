//! Which loops do an affine step's work: those over windows, in Winograd's form, or channel by channel.

use super::affine::Affine;
use super::simd::{self, Level, Work};

/// Work on an affine step. [`Work::run`] does it over windows.
pub trait AffineWork: Work {
    /// The step.
    fn affine(&self) -> &Affine;

    /// Does it where channels see one channel each.
    fn run_channelwise<const FMA: bool>(self);

    /// Does it in Winograd's form.
    fn run_winograd(self, level: Level);
}

/// Work channel by channel. These loops are compiled by themselves: beside the tiles' they would take registers from them.
struct Channelwise<W>(W);

impl<W: AffineWork> Work for Channelwise<W> {
    const ROW: usize = W::ROW;

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        self.0.run_channelwise::<FMA>();
    }
}

/// Does the work with the instructions of `level`, by the loops that suit its step.
#[inline(never)]
pub fn run<W: AffineWork>(level: Level, work: W) {
    let affine = work.affine();
    if affine.is_channelwise() {
        simd::run(level, Channelwise(work));
    } else if affine.is_winograd {
        work.run_winograd(level);
    } else {
        simd::run(level, work);
    }
}
