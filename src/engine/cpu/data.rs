//! The problem's data, and samples of it as blocks.

use super::prefix;
use super::real::Real;
use crate::engine::plan::Plan;
use crate::error::Result;
use crate::network::Shape;
use crate::problem::{Problem, Targets, Values};

/// Inputs and targets of a problem. Inputs stay as the problem has them, unless steps without parameters come first.
pub struct Data<T> {
    problem: Problem,
    prepared: Option<Vec<T>>,
    /// Passes over the data take so many samples, the first.
    share: usize,
    /// What comes into the first step.
    shape: Shape,
}

/// Rows of inputs, (samples, C · H · W).
#[derive(Clone, Copy)]
pub enum Rows<'a, T> {
    /// As the problem has them.
    F32(&'a [f32]),
    /// As the problem has them.
    F64(&'a [f64]),
    /// After the steps without parameters.
    Prepared(&'a [T]),
}

impl<T: Real> Data<T> {
    /// A problem's data, through the steps that come before the first affine one.
    ///
    /// # Errors
    /// `TooLarge` where what comes out of those steps does not fit in memory.
    pub fn new(plan: &Plan, problem: &Problem, share: usize) -> Result<Self> {
        let values = problem.samples() * problem.network().input_len();
        let prepared = match plan.prefix.is_empty() {
            true => None,
            false => Some(prefix::apply(&plan.prefix, T::values(problem.shared_inputs(), values)?)?),
        };
        Ok(Self { problem: problem.clone(), prepared, share, shape: plan.input })
    }

    /// Number of samples that passes over the data take.
    pub fn samples(&self) -> usize {
        self.share
    }

    /// The inputs, of all samples and perhaps of more.
    pub fn rows(&self) -> Rows<'_, T> {
        match (&self.prepared, self.problem.shared_inputs()) {
            (Some(rows), _) => Rows::Prepared(rows),
            (None, Values::F32(rows)) => Rows::F32(rows),
            (None, Values::F64(rows)) => Rows::F64(rows),
        }
    }

    /// The targets likewise.
    pub fn targets(&self) -> &Targets {
        self.problem.shared_targets()
    }

    /// What comes into the first step.
    pub fn shape(&self) -> Shape {
        self.shape
    }
}

/// Which samples the lanes of block `block` hold, of a run of samples or of the listed ones. Lanes beyond the last sample
/// repeat it; their δ is 0, so they add nothing to any sum.
#[derive(Clone, Copy)]
pub enum Selection<'a> {
    /// Samples first, first + 1, … up to `end`.
    Run { first: usize, end: usize },
    /// These samples.
    Listed(&'a [u32]),
}

impl Selection<'_> {
    /// How many samples.
    pub fn count(&self) -> usize {
        match self {
            Self::Run { first, end } => end - first,
            Self::Listed(rows) => rows.len(),
        }
    }

    /// Are they consecutive samples?
    pub fn is_run(&self) -> bool {
        matches!(self, Self::Run { .. })
    }

    /// The sample of a place in the selection, the last one beyond it.
    fn sample(&self, place: usize) -> usize {
        match self {
            Self::Run { first, end } => (first + place).min(end - 1),
            Self::Listed(rows) => rows[place.min(rows.len() - 1)] as usize,
        }
    }

    /// The samples in a block's lanes, and how many of them count.
    pub fn lanes<const N: usize>(&self, block: usize) -> ([usize; N], usize) {
        (std::array::from_fn(|n| self.sample(block * N + n)), (self.count() - block * N).min(N))
    }
}

/// The inputs of these samples as a block, (H, W, C, N).
pub fn load<T: Real, const N: usize>(rows: Rows<'_, T>, shape: Shape, samples: &[usize; N], out: &mut [T]) {
    match rows {
        Rows::F32(rows) => gather(rows, shape, samples, out, |v| T::from_f64(f64::from(v))),
        Rows::F64(rows) => gather(rows, shape, samples, out, T::from_f64),
        Rows::Prepared(rows) => gather(rows, shape, samples, out, |v| v),
    }
}

fn gather<S: Copy, T: Real, const N: usize>(
    rows: &[S],
    shape: Shape,
    samples: &[usize; N],
    out: &mut [T],
    convert: impl Fn(S) -> T,
) {
    let (area, channels, len) = (shape.area(), shape.channels, shape.len());
    let sources: [&[S]; N] = std::array::from_fn(|n| &rows[samples[n] * len..][..len]);
    for (i, out) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        let place = i % channels * area + i / channels;
        for n in 0..N {
            out[n] = convert(sources[n][place]);
        }
    }
}
