//! A program as one of many: how they find each other, who of them speaks, and how they end together.

use std::rc::Rc;

use super::Ranks;
use crate::error::Result;

/// The ranks that were started together; none without the feature `mpi`, and where there is but one.
#[derive(Debug)]
pub struct Launch {
    ranks: Option<Rc<Ranks>>,
}

impl Launch {
    /// Finds out whether there are others. `wish` says at any time whether this rank was asked to finish.
    ///
    /// # Errors
    /// Those of [`Mpi::begin`](super::Mpi::begin) and of [`Ranks::new`].
    #[cfg(feature = "mpi")]
    pub fn new(wish: fn() -> bool) -> Result<Self> {
        let ranks = Ranks::new(Box::new(super::Mpi::begin()?))?.finish_when(wish);
        Ok(Self { ranks: (ranks.size() > 1).then(|| Rc::new(ranks)) })
    }

    /// There are none.
    ///
    /// # Errors
    /// None without the feature `mpi`.
    #[cfg(not(feature = "mpi"))]
    pub fn new(_wish: fn() -> bool) -> Result<Self> {
        Ok(Self { ranks: None })
    }

    /// The ranks, where there are several.
    pub fn ranks(&self) -> Option<&Rc<Ranks>> {
        self.ranks.as_ref()
    }

    /// Is it this one that prints and writes?
    pub fn is_first(&self) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.rank() == 0)
    }

    /// Ends all ranks after some seconds with this sentence, unless they have ended by then: one that is in the middle of a long pass, and
    /// will hear of the error only at its end, is not waited for.
    #[cfg(feature = "mpi")]
    pub fn end_soon(&self, message: String, status: u8) {
        const SECONDS: u64 = 3;
        let Some(rank) = self.ranks.as_ref().map(|ranks| ranks.rank()) else { return };
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_secs(SECONDS));
            eprintln!("isoflat: rank {rank}: {message}");
            super::Mpi::abort(status)
        });
    }

    /// There are none that could end.
    #[cfg(not(feature = "mpi"))]
    pub fn end_soon(&self, _message: String, _status: u8) {}
}
