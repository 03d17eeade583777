//! What goes between an executor and its helpers: commands and replies as bytes, since their memories are apart.
//!
//! A message is a list of parts. In front stand how many there are and how long each is (u32, little-endian); the first
//! part, the head, is JSON, the others are numbers as they lie in memory.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::engine::executor::{Curvature, Precision};
use crate::engine::sweep::Cotangent;
use crate::error::{Error, Result, ensure};
use crate::memory::{collected, make_room};
use crate::problem::Loss;

/// What a helper is to do with one of its problems, and with which parts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// Number of the problem, the sender's choice.
    pub problem: u32,
    /// What to do.
    pub command: Command,
}

/// The passes of [`crate::engine::Executor`]. A "vector" is in the executor's precision.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Command {
    /// Takes a share of a problem: inputs and targets in, nothing out.
    Load(Load),
    /// Forgets the problem.
    Unload,
    /// θ in (vector), nothing out.
    Prepare,
    /// Mean loss out (f64).
    Loss,
    /// Outputs out (f64).
    Outputs,
    /// ∇L out (vector).
    Gradient,
    /// Directions in, products out (vectors of this many columns).
    Product {
        /// Which second derivative.
        curvature: Curvature,
        /// The layer whose block alone is wanted.
        layer: Option<usize>,
        /// How many directions.
        columns: usize,
    },
    /// θ in (vector), loss and accuracy out (f64).
    Evaluate,
    /// θ, u and perhaps v in (vectors), nothing out.
    PreparePlane,
    /// Points in (f64, two each), losses and accuracies out (f64, two each).
    EvaluatePlane,
    /// Classes and signs of the cotangents that have some in (u32, f32), all sums out (f64).
    Sweep(Vec<CotangentKind>),
    /// As `Sweep`; a number for every parameter out (f64).
    SquaredGradients(Vec<CotangentKind>),
    /// θ (vector) and the batch's samples (u32, numbers in the whole problem) in. Out: gradient (vector), loss and accuracy
    /// (f64) of those that are the helper's own; nothing where none is.
    BatchGradient,
}

/// A problem's share.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Load {
    /// The network's JSON.
    pub network: String,
    /// The loss.
    pub loss: Loss,
    /// What to compute in.
    pub precision: Precision,
    /// What the inputs are in.
    pub inputs: Precision,
    /// Bytes to keep between passes.
    pub memory_budget: u64,
    /// Number of the share's first sample in the whole problem.
    pub first: usize,
}

/// A [`Cotangent`] without its list.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum CotangentKind {
    /// [`Cotangent::Class`].
    Class(usize),
    /// [`Cotangent::Signs`].
    Signs,
}

impl From<&Cotangent> for CotangentKind {
    fn from(cotangent: &Cotangent) -> Self {
        match cotangent {
            Cotangent::Class(class) => Self::Class(*class),
            Cotangent::Signs(_) => Self::Signs,
        }
    }
}

/// What a message begins with: the table of its parts, and the head.
pub fn beginning(head: &impl Serialize, parts: &[&[u8]]) -> Vec<u8> {
    let head = serde_json::to_vec(head).expect("heads are plain data");
    let lengths = std::iter::once(head.len()).chain(parts.iter().map(|part| part.len()));
    let mut bytes = (parts.len() as u32 + 1).to_le_bytes().to_vec();
    bytes.extend(lengths.flat_map(|length| (length as u32).to_le_bytes()));
    bytes.extend(head);
    bytes
}

/// A message's head and its other parts.
pub fn open<H: DeserializeOwned>(message: &[u8]) -> Result<(H, Vec<&[u8]>)> {
    let (table, mut rest) = table(message).unwrap_or_default();
    let mut parts = Vec::with_capacity(table.len());
    for length in table {
        let split = rest.split_at_checked(length);
        ensure!(split.is_some(), Parse, "a message between threads ends too early");
        let (part, after) = split.unwrap_or_default();
        parts.push(part);
        rest = after;
    }
    ensure!(!parts.is_empty(), Parse, "a message between threads has no head");
    let head = serde_json::from_slice(parts.remove(0)).map_err(Error::from)?;
    Ok((head, parts))
}

/// Lengths of the parts, and what comes behind them.
fn table(message: &[u8]) -> Option<(Vec<usize>, &[u8])> {
    let number = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes) as usize;
    let (count, rest) = message.split_first_chunk::<4>()?;
    let (lengths, rest) = rest.split_at_checked(4 * number(count))?;
    Some((lengths.as_chunks::<4>().0.iter().map(number).collect(), rest))
}

/// A part as numbers, wherever in memory it lies.
///
/// # Errors
/// `Parse` for a part that is not whole numbers of them; `TooLarge`.
pub fn numbers<T: bytemuck::Pod>(bytes: &[u8]) -> Result<Vec<T>> {
    let size = size_of::<T>();
    ensure!(bytes.len().is_multiple_of(size), Parse, "a message between threads has {} bytes of numbers", bytes.len());
    collected("a part of a message", bytes.chunks_exact(size).map(bytemuck::pod_read_unaligned))
}

/// A helper's reply: what it found, or why it could not.
pub struct Reply {
    bytes: Vec<u8>,
}

impl Reply {
    /// The message of an outcome.
    pub fn encode(outcome: Result<Vec<Vec<u8>>>) -> Vec<u8> {
        let (head, parts): (Result<()>, _) = match outcome {
            Ok(parts) => (Ok(()), parts),
            Err(error) => (Err(error), Vec::new()),
        };
        let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let mut bytes = beginning(&head, &slices);
        if let Err(error) = make_room("a thread's reply", &mut bytes, slices.iter().map(|part| part.len()).sum()) {
            return beginning(&Result::<()>::Err(error), &[]);
        }
        slices.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    /// A message that tells of success.
    ///
    /// # Errors
    /// The helper's.
    pub fn new(bytes: Vec<u8>) -> Result<Self> {
        open::<Result<()>>(&bytes)?.0?;
        Ok(Self { bytes })
    }

    /// Part `index`, counted behind the head.
    ///
    /// # Errors
    /// `Parse` where there is none.
    pub fn part(&self, index: usize) -> Result<&[u8]> {
        let (_, parts) = open::<Result<()>>(&self.bytes)?;
        ensure!(index < parts.len(), Parse, "a thread's reply has no part {index}");
        Ok(parts[index])
    }

    /// Part `index` as numbers.
    ///
    /// # Errors
    /// `Parse` where there is none.
    pub fn numbers(&self, index: usize) -> Result<Vec<f64>> {
        numbers(self.part(index)?)
    }
}
