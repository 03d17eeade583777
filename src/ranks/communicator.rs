//! What ranks need of what connects them.

use crate::error::Result;

/// The way from rank to rank: MPI, or threads of one process. All ranks make the same calls in the same order, with the same lengths;
/// each call returns when this rank has what it is to get.
///
/// An implementation of one's own makes ranks of it with [`super::Ranks::new`].
pub trait Communicator {
    /// Which of the ranks this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Which of the ranks on its machine this is, from 0, and how many of them there are: they share its memory and its GPUs.
    fn on_machine(&self) -> (usize, usize);

    /// Every rank gets all ranks' bytes, in the order of ranks: `all` is `size` times as long as `own`.
    ///
    /// # Errors
    /// `DeviceLost` where a rank is gone.
    fn all_gather(&self, own: &[u8], all: &mut [u8]) -> Result<()>;

    /// Every rank sends piece k of `own` to rank k, and gets its piece of each rank's, in the order of ranks. There are `size` pieces of
    /// the same length in both.
    ///
    /// # Errors
    /// `DeviceLost` where a rank is gone.
    fn all_to_all(&self, own: &[u8], theirs: &mut [u8]) -> Result<()>;

    /// All ranks get the bytes of rank `from`.
    ///
    /// # Errors
    /// `DeviceLost` where a rank is gone.
    fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<()>;
}
