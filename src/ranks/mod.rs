//! One program on many machines: every rank runs it over its share of a problem's samples, and all ranks hold the same bits.
//!
//! There is no master. All ranks do the same work step by step, so that whatever one of them asks of a [`Communicator`], all ask. Vectors
//! and numbers are replicated; data are not. Each pass over the data ends in two exchanges. In the first one ([`Ranks::agree`]) every rank
//! says whether its share went well, whether somebody wants the work to finish, and what it believes to be doing: errors become
//! everybody's, and ranks that have lost each other say so instead of waiting. In the second one ([`Ranks::sum`]) what they found is added
//! up in the order of the ranks, so that the same number of ranks gives the same bits, and another number changes results by rounding.

mod communicator;
mod launch;
mod link;
#[cfg(feature = "mpi")]
mod mpi;
mod sum;
mod threads;

use std::cell::{Cell, RefCell};
use std::ops::Range;

#[cfg(feature = "mpi")]
pub use self::mpi::Mpi;
pub use communicator::Communicator;
pub use launch::Launch;
pub use link::Link;
pub use sum::Number;
pub use threads::{Thread, threads};

use crate::error::{Error, ErrorCode, Result, ensure};
use crate::memory::zeros;

/// Where all ranks come to in their work, as each of them believes: where two differ, they have lost each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting(u64);

impl Meeting {
    /// The end of the work, after its last step or after an error.
    pub const END: Self = Self(0);

    /// After a step of this name, with these numbers going into it.
    pub fn new(name: &str, numbers: &[&[u8]]) -> Self {
        Self((digest(name.as_bytes()) ^ digest_of(numbers)) | 1)
    }

    /// It as a number.
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

/// What each rank tells the others at a step.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Word {
    /// The [`Meeting`].
    meeting: u64,
    /// Does somebody want the work to finish?
    wish: u64,
    /// Length of the error's text, 0 where there is none.
    length: u64,
    /// A digest of that text.
    error: u64,
}

/// The ranks that share a problem's samples, as one of them sees them.
pub struct Ranks {
    communicator: Box<dyn Communicator>,
    wish: Box<dyn Fn() -> bool>,
    /// Had anybody a wish at the last step?
    is_wished: Cell<bool>,
    /// Why there are no more steps, once one has ended before the others.
    over: RefCell<Option<Error>>,
    words: RefCell<Vec<Word>>,
    buffers: sum::Buffers,
}

impl Ranks {
    /// This rank, and its way to the others.
    ///
    /// # Errors
    /// `TooLarge` where the buffers for reductions do not fit in memory.
    pub fn new(communicator: Box<dyn Communicator>) -> Result<Self> {
        let size = communicator.size();
        Ok(Self {
            wish: Box::new(|| false),
            is_wished: Cell::default(),
            over: RefCell::default(),
            words: RefCell::new(zeros("words between ranks", size)?),
            buffers: sum::Buffers::new(size)?,
            communicator,
        })
    }

    /// The same, which ask at every step whether the work should finish. For a control that ends work see [`Ranks::is_wished`].
    #[must_use]
    pub fn finish_when(self, wish: impl Fn() -> bool + 'static) -> Self {
        Self { wish: Box::new(wish), ..self }
    }

    /// Which of the ranks this is, from 0.
    pub fn rank(&self) -> usize {
        self.communicator.rank()
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.communicator.size()
    }

    /// Which of the ranks on its machine this is, from 0, and how many of them there are.
    pub fn on_machine(&self) -> (usize, usize) {
        self.communicator.on_machine()
    }

    /// This rank's of so many samples, which all ranks divide into runs that differ by one in length at most.
    pub fn share_of(&self, samples: usize) -> Range<usize> {
        let at = |rank: usize| (rank as u128 * samples as u128 / self.size() as u128) as usize;
        at(self.rank())..at(self.rank() + 1)
    }

    /// The same, where each rank has one of the samples at least.
    ///
    /// # Errors
    /// `InvalidProblem` where there are fewer samples than ranks.
    pub fn own_of(&self, samples: usize) -> Result<Range<usize>> {
        ensure!(
            samples >= self.size(),
            InvalidProblem,
            "there are {} ranks for {samples} {}, and each needs one at least: start fewer ranks",
            self.size(),
            if samples == 1 { "sample" } else { "samples" }
        );
        Ok(self.share_of(samples))
    }

    /// Did any rank want the work to finish, when they last agreed? All get the same answer at the same place of their work, and so take
    /// the same way.
    pub fn is_wished(&self) -> bool {
        self.is_wished.get()
    }

    /// All ranks come here at the same step of their work, and go on if all of them were fine. Where some failed all get the error of the
    /// first of them, with its number in front; where all failed alike, their own.
    ///
    /// # Errors
    /// The ranks'; `DeviceLost` where they are not at the same step, or a rank is gone.
    pub fn agree<T>(&self, meeting: Meeting, found: Result<T>) -> Result<T> {
        if let Some(error) = &*self.over.borrow() {
            return found.and(Err(error.clone()));
        }
        let text = found.as_ref().err().map(|error| serde_json::to_vec(error).expect("an error is plain data"));
        let text = text.unwrap_or_default();
        let word = Word {
            meeting: meeting.0,
            wish: u64::from((self.wish)()),
            length: text.len() as u64,
            error: digest(&text),
        };
        let mut words = self.words.borrow_mut();
        let gathered =
            self.communicator.all_gather(bytemuck::bytes_of(&word), bytemuck::cast_slice_mut(&mut words[..]));
        if let Err(error) = gathered {
            *self.over.borrow_mut() = Some(error.clone());
            return found.and(Err(error));
        }
        self.is_wished.set(self.is_wished.get() || words.iter().any(|word| word.wish != 0));
        let failed = |word: &Word| word.length > 0;
        if let Some(first) = words.iter().position(failed) {
            let is_alike = words.iter().all(|word| (word.length, word.error) == (words[0].length, words[0].error));
            if is_alike {
                return found;
            }
            let error = self.error_of(first, words[first].length as usize, text)?;
            // Who has ended takes no further step.
            let has_ended = |word: &Word| word.meeting == Meeting::END.0;
            if words.iter().any(|word| failed(word) && has_ended(word)) && !words.iter().all(has_ended) {
                *self.over.borrow_mut() = Some(error.clone());
            }
            return Err(error);
        }
        if let Some(other) = words.iter().position(|word| word.meeting != words[0].meeting) {
            let error = Error::new(
                ErrorCode::DeviceLost,
                format!(
                    "rank {other} is at another step than rank 0, or has other numbers: ranks need the same program, the same files and \
                     the same kind of processor"
                ),
            );
            *self.over.borrow_mut() = Some(error.clone());
            return Err(error);
        }
        found
    }

    /// The error of a rank, told to all.
    fn error_of(&self, rank: usize, length: usize, own: Vec<u8>) -> Result<Error> {
        let mut text = if rank == self.rank() { own } else { zeros("an error of another rank", length)? };
        self.communicator.broadcast(rank, &mut text)?;
        let error: Error = serde_json::from_slice(&text)?;
        Ok(Error::new(error.code, format!("rank {rank}: {}", error.message)))
    }

    /// Fails on all ranks unless all have the same `what`, such as the same files.
    ///
    /// # Errors
    /// `InvalidOption`, with the first rank that has another one than rank 0; what [`Ranks::agree`] says.
    pub fn ensure_same(&self, what: &str, parts: &[&[u8]]) -> Result<()> {
        let other = self.first_other(parts)?;
        ensure!(other.is_none(), InvalidOption, "rank {} has not the same {what} as rank 0", other.unwrap_or_default());
        Ok(())
    }

    /// The first rank that has something else than rank 0.
    ///
    /// # Errors
    /// What [`Ranks::agree`] says.
    pub fn first_other(&self, parts: &[&[u8]]) -> Result<Option<usize>> {
        let digests: Vec<u64> = self.gather(&[digest_of(parts)], 1)?;
        Ok(digests.iter().position(|digest| *digest != digests[0]))
    }

    /// The bytes of the first rank, on all of them, or that it has none. What others give is not looked at.
    ///
    /// # Errors
    /// What [`Ranks::agree`] says; `TooLarge`.
    pub fn spread(&self, own: Result<Option<Vec<u8>>>) -> Result<Option<Vec<u8>>> {
        let own = self.agree(Meeting::new("spread", &[]), own)?;
        let length = self.gather(&[own.as_ref().map_or(0, |own| own.len() as u64 + 1)], 1)?[0];
        let Some(length) = length.checked_sub(1) else { return Ok(None) };
        let own = own.filter(|_| self.rank() == 0).map_or_else(|| zeros("the first rank's bytes", length as usize), Ok);
        let mut bytes = self.agree(Meeting::new("spread room", &[]), own)?;
        // As many at once as any way between ranks takes.
        bytes.chunks_mut(1 << 28).try_for_each(|piece| self.communicator.broadcast(0, piece))?;
        Ok(Some(bytes))
    }

    /// The largest of all ranks' numbers.
    ///
    /// # Errors
    /// `DeviceLost` where a rank is gone.
    pub(crate) fn largest(&self, own: f64) -> Result<f64> {
        Ok(self.gather(&[own], 1)?.into_iter().fold(own, f64::max))
    }

    /// Every rank's numbers, one rank's behind the other's: `room` of each, of which it may have fewer; what is missing is 0.
    ///
    /// # Errors
    /// `InvalidOption` where a rank has more; `TooLarge`; `DeviceLost` where a rank is gone.
    pub fn gather<T: bytemuck::Pod + Default>(&self, own: &[T], room: usize) -> Result<Vec<T>> {
        const WHAT: &str = "numbers of all ranks";
        let prepared = (|| {
            ensure!(
                own.len() <= room,
                InvalidOption,
                "there is room for {room} numbers of a rank, which has {}",
                own.len()
            );
            let mut padded = zeros(WHAT, room)?;
            padded[..own.len()].copy_from_slice(own);
            Ok((padded, zeros(WHAT, crate::memory::product::<T>(WHAT, &[room, self.size()])?)?))
        })();
        let (padded, mut all): (Vec<T>, Vec<T>) =
            self.agree(Meeting::new("gather", &[&room.to_ne_bytes()]), prepared)?;
        self.communicator.all_gather(bytemuck::cast_slice(&padded), bytemuck::cast_slice_mut(&mut all))?;
        Ok(all)
    }
}

/// A number that is another one, but for a chance in 2⁶⁴, where the bytes are others (FNV-1a, eight bytes at a time).
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        hash ^= hash >> 32;
    };
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| add(u64::from_ne_bytes(*word)));
    rest.iter().for_each(|&byte| add(u64::from(byte)));
    add(bytes.len() as u64);
    hash
}

/// The same of a list.
fn digest_of(parts: &[&[u8]]) -> u64 {
    let digests: Vec<u64> = parts.iter().map(|part| digest(part)).collect();
    digest(bytemuck::cast_slice(&digests))
}
