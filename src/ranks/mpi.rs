//! Ranks that are processes, connected by MPI.

use std::fmt;

use mpi::Threading;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives, Root};

use super::communicator::Communicator;
use crate::error::{Result, bail};

/// All processes that `mpirun`, or whatever takes its place, has started. A fault of MPI's own ends all of them, as MPI does by default.
pub struct Mpi {
    world: SimpleCommunicator,
    /// Of the processes that could share memory.
    on_machine: (usize, usize),
    /// MPI is there as long as this is.
    _universe: Universe,
}

impl fmt::Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mpi").field("on_machine", &self.on_machine).finish_non_exhaustive()
    }
}

impl Mpi {
    /// Begins to speak MPI, which a process does once.
    ///
    /// # Errors
    /// `BackendUnavailable` where it has been begun before.
    pub fn begin() -> Result<Self> {
        // Only the thread that begins it makes calls; an executor's threads compute meanwhile.
        let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
            bail!(BackendUnavailable, "MPI has been begun already, and a process begins it once")
        };
        let world = universe.world();
        let near = world.split_shared(world.rank());
        Ok(Self { on_machine: (near.rank() as usize, near.size() as usize), world, _universe: universe })
    }

    /// Ends the processes of all ranks at once, with this status.
    pub fn abort(status: u8) -> ! {
        SimpleCommunicator::world().abort(status.into())
    }
}

impl Communicator for Mpi {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn on_machine(&self) -> (usize, usize) {
        self.on_machine
    }

    fn all_gather(&self, own: &[u8], all: &mut [u8]) -> Result<()> {
        self.world.all_gather_into(own, all);
        Ok(())
    }

    fn all_to_all(&self, own: &[u8], theirs: &mut [u8]) -> Result<()> {
        self.world.all_to_all_into(own, theirs);
        Ok(())
    }

    fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<()> {
        self.world.process_at_rank(from as i32).broadcast_into(bytes);
        Ok(())
    }
}
