//! Ranks that are threads of one process: for tests, and for trying what a cluster will do.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result, ensure};

/// One of the ranks that [`threads`] makes.
pub struct Thread {
    rank: usize,
    /// To every rank, itself too, and from every rank.
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

/// So many ranks, to be moved to a thread each. One whose thread has ended is gone.
pub fn threads(size: usize) -> Vec<Thread> {
    let mut ranks: Vec<Thread> = (0..size).map(|rank| Thread { rank, to: Vec::new(), from: Vec::new() }).collect();
    for from in 0..size {
        for to in 0..size {
            let (sender, receiver) = channel();
            ranks[from].to.push(sender);
            ranks[to].from.push(receiver);
        }
    }
    ranks
}

impl Thread {
    fn send(&self, to: usize, bytes: &[u8]) -> Result<()> {
        self.to[to].send(bytes.to_vec()).map_err(|_| gone(to))
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<()> {
        let message = self.from[from].recv().map_err(|_| gone(from))?;
        ensure!(
            message.len() == bytes.len(),
            DeviceLost,
            "rank {from} has sent {} bytes for {}",
            message.len(),
            bytes.len()
        );
        bytes.copy_from_slice(&message);
        Ok(())
    }
}

fn gone(rank: usize) -> Error {
    Error::new(ErrorCode::DeviceLost, format!("rank {rank} is gone"))
}

impl Communicator for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn on_machine(&self) -> (usize, usize) {
        (self.rank, self.to.len())
    }

    fn all_gather(&self, own: &[u8], all: &mut [u8]) -> Result<()> {
        (0..self.size()).try_for_each(|to| self.send(to, own))?;
        let mut places = all.chunks_mut(own.len().max(1));
        (0..self.size()).try_for_each(|from| self.receive(from, places.next().unwrap_or_default()))
    }

    fn all_to_all(&self, own: &[u8], theirs: &mut [u8]) -> Result<()> {
        let piece = (own.len() / self.size()).max(1);
        let mut pieces = own.chunks(piece);
        (0..self.size()).try_for_each(|to| self.send(to, pieces.next().unwrap_or_default()))?;
        let mut places = theirs.chunks_mut(piece);
        (0..self.size()).try_for_each(|from| self.receive(from, places.next().unwrap_or_default()))
    }

    fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<()> {
        if from == self.rank {
            return (0..self.size()).filter(|&to| to != from).try_for_each(|to| self.send(to, bytes));
        }
        self.receive(from, bytes)
    }
}
