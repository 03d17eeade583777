//! What passes over the data have found, kept in files, so that work that was cut off goes on.
//!
//! All that an iteration does follows from what the passes over the data give it: Lanczos' basis and coefficients are made of products, and
//! a report of what its sections were given. So the passes' results are a checkpoint of whatever asks for them. Work that begins again is
//! given what it was given before, without a pass, until it comes to where it was cut off, and goes on from there to the same bits. With
//! another number of ranks the passes that are left are added up elsewhere, which changes results by rounding.
//!
//! A journal's files are pieces of a list of records. Each is written whole, and never again. Training, whose passes are many and whose
//! state is small, keeps that state instead ([`Journal::keep_state`]).

mod executor;

use std::cell::RefCell;
use std::rc::Rc;

pub(super) use self::executor::journaled;
use crate::control::now;
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::memory::{copied, make_room};
use crate::ranks::{Meeting, Ranks, digest};

/// Bytes of records after which a piece is written, however short the time.
const MOST: usize = 1 << 26;

/// What stands for the length of what a pass has found that has failed.
const FAILED: u64 = u64::MAX;

/// Bytes before what a pass has found: what was asked, and the length.
const HEAD: usize = 16;

/// What a run is of, and the state of a training.
const ABOUT: &str = "about.json";
const STATE: &str = "state.json";

/// Where a journal's files are. A name has been written as a whole or not at all.
pub trait Store {
    /// What people call it.
    fn name(&self) -> &str;

    /// A file's bytes; `None` where there is none of this name.
    ///
    /// # Errors
    /// Where it cannot be read, with its name.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// Writes a file in one's place.
    ///
    /// # Errors
    /// Where it cannot be written, with its name; what was there before is there still.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<()>;

    /// Removes a file; none of this name is no fault.
    ///
    /// # Errors
    /// Where it cannot be removed, with its name.
    fn remove(&self, name: &str) -> Result<()>;
}

/// The journal of one run. All ranks have one, of which the first rank's has the files.
pub struct Journal {
    store: Option<Box<dyn Store>>,
    ranks: Option<Rc<Ranks>>,
    /// Seconds between two pieces.
    every: f64,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    engines: usize,
    /// The piece that is being read, and how far it was.
    piece: Vec<u8>,
    at: usize,
    /// The number of the next one, to be read or written.
    number: usize,
    /// Have all pieces been read?
    is_read: bool,
    /// Records that are not written yet, and when the last ones were.
    pending: Vec<u8>,
    written: f64,
}

/// What a journal says of a pass.
#[derive(Debug)]
enum Entry {
    /// It is not in there.
    New,
    /// It has failed, and will again.
    Failed,
    /// What it has found.
    Found(Vec<u8>),
}

impl Journal {
    /// Opens one, or begins it where there are no files yet. `about` says of what the run is, a text for each name, and `every` after how
    /// many seconds files are written. Only the first of the ranks has a store, which may have failed.
    ///
    /// # Errors
    /// `InvalidOption` for a journal of another run, with the first name whose text is another; any rank's; the store's.
    pub fn open(
        store: Result<Option<Box<dyn Store>>>,
        ranks: Option<Rc<Ranks>>,
        about: &[(String, String)],
        every: f64,
    ) -> Result<Rc<Self>> {
        let store = store.and_then(|store| {
            store.as_deref().map(|store| begin(store, about)).transpose()?;
            Ok(store)
        });
        let store = match &ranks {
            Some(ranks) => ranks.agree(Meeting::new("journal", &[]), store)?,
            None => store?,
        };
        let state = RefCell::new(State { written: now(), ..State::default() });
        Ok(Rc::new(Self { store, ranks, every, state }))
    }

    /// The state that was kept last.
    ///
    /// # Errors
    /// The store's; `Parse` for a damaged one; `DeviceLost` where a rank is gone.
    pub fn state<T: serde::de::DeserializeOwned>(&self) -> Result<Option<T>> {
        let Some(bytes) = self.read(STATE)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| self.damaged(STATE, &error.to_string()))
    }

    /// Keeps a state in the last one's place. All ranks keep the same.
    ///
    /// # Errors
    /// The store's, of the first rank.
    pub fn keep_state(&self, state: &impl serde::Serialize) -> Result<()> {
        let written = match &self.store {
            Some(store) => serde_json::to_vec(state).map_err(Error::from).and_then(|bytes| store.write(STATE, &bytes)),
            None => Ok(()),
        };
        self.together("state", written)
    }

    /// Forgets what passes have found that the work has not come to yet, where it takes another way from here on than when it was kept.
    ///
    /// # Errors
    /// The store's, of the first rank; `DeviceLost` where a rank is gone.
    pub fn forget_rest(&self) -> Result<()> {
        if !self.has_more()? {
            return Ok(());
        }
        let forgotten = self.cut();
        self.together("forget", forgotten)
    }

    /// What of the piece that is being read was read already is the last one.
    fn cut(&self) -> Result<()> {
        {
            let mut state = self.state.borrow_mut();
            // It is there to be read on, so that its number is the one before the next.
            state.number -= 1;
            let (first, mut read) = (state.number, std::mem::take(&mut state.piece));
            read.truncate(state.at);
            (state.at, state.is_read) = (0, true);
            let Some(store) = &self.store else { return Ok(()) };
            state.pending = read;
            let mut last = first + 1;
            while store.read(&piece(last))?.is_some() {
                last += 1;
            }
            // The last first, so that those that are left are always the beginning.
            let kept = usize::from(!state.pending.is_empty());
            (first + kept..last).rev().try_for_each(|number| store.remove(&piece(number)))?;
        }
        self.flush()
    }

    /// How many of something fill the time between two checkpoints, where so many have taken these seconds: the first rank's clock says it
    /// to all.
    ///
    /// # Errors
    /// `DeviceLost` where a rank is gone.
    pub fn as_many(&self, count: usize, seconds: f64) -> Result<usize> {
        let many = (count as f64 * (self.every / seconds.max(1e-6)).clamp(0.1, 10.0)).ceil().max(1.0);
        let many = match &self.ranks {
            Some(ranks) => ranks.gather(&[many], 1)?[0],
            None => many,
        };
        Ok(many as usize)
    }

    /// Writes what is not written yet.
    ///
    /// # Errors
    /// The store's.
    pub fn flush(&self) -> Result<()> {
        let mut state = self.state.borrow_mut();
        let Some(store) = self.store.as_ref().filter(|_| !state.pending.is_empty()) else { return Ok(()) };
        let sum = digest(&state.pending);
        state.pending.extend(sum.to_le_bytes());
        let written = store.write(&piece(state.number), &state.pending);
        let length = state.pending.len() - size_of_val(&sum);
        state.pending.truncate(length);
        written?;
        state.pending.clear();
        state.number += 1;
        state.written = now();
        Ok(())
    }

    /// A number for one more engine, in the order in which they are made.
    fn engine(&self) -> usize {
        let mut state = self.state.borrow_mut();
        state.engines += 1;
        state.engines
    }

    /// What is known of the next pass, of which this is asked.
    ///
    /// # Errors
    /// `InvalidOption` where another one was asked; `Parse` for a damaged piece; the store's; `DeviceLost` where a rank is gone.
    fn next(&self, asked: u64) -> Result<Entry> {
        if !self.has_more()? {
            return Ok(Entry::New);
        }
        let mut state = self.state.borrow_mut();
        let record = &state.piece[state.at..];
        let number = |at: usize| {
            record.get(at..at + 8).map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
        };
        let (found, length) = (number(0), number(8));
        if found != asked {
            bail!(
                InvalidOption,
                "the checkpoint has other numbers than this run comes to: it is of another kind of processor or another program, so begin \
                 anew in another folder"
            );
        }
        if length == FAILED {
            state.at += HEAD;
            return Ok(Entry::Failed);
        }
        let bytes = usize::try_from(length).ok().and_then(|length| record.get(HEAD..)?.get(..length));
        let Some(bytes) = bytes else { bail!(Parse, "{}", self.damaged("a piece", "it ends too early").message) };
        let bytes = copied("what a pass has found", bytes)?;
        state.at += HEAD + bytes.len();
        Ok(Entry::Found(bytes))
    }

    /// Is there another record? Reads the next piece where this one is over.
    fn has_more(&self) -> Result<bool> {
        let (is_read, is_over, number) = {
            let state = self.state.borrow();
            (state.is_read, state.at == state.piece.len(), state.number)
        };
        if is_read || !is_over {
            return Ok(!is_read);
        }
        let found = self.read(&piece(number))?;
        let mut state = self.state.borrow_mut();
        (state.piece, state.at) = (Vec::new(), 0);
        let Some(mut bytes) = found else {
            state.is_read = true;
            state.written = now();
            return Ok(false);
        };
        let sum = bytes.len().checked_sub(8).map(|length| bytes.split_off(length));
        let is_whole = sum.is_some_and(|sum| sum == digest(&bytes).to_le_bytes()) && bytes.len() >= HEAD;
        ensure!(is_whole, Parse, "{}", self.damaged(&piece(number), "its checksum is another").message);
        state.piece = bytes;
        state.number += 1;
        Ok(true)
    }

    /// Keeps what a pass has found, of which this was asked; nothing where it has failed.
    ///
    /// # Errors
    /// The store's; `TooLarge`.
    fn keep(&self, asked: u64, found: Option<&[u8]>) -> Result<()> {
        if self.store.is_none() {
            return Ok(());
        }
        let is_due = {
            let mut state = self.state.borrow_mut();
            let length = found.map_or(FAILED, |bytes| bytes.len() as u64);
            make_room("a journal of passes", &mut state.pending, 2 * HEAD + found.map_or(0, <[u8]>::len))?;
            state.pending.extend(asked.to_le_bytes());
            state.pending.extend(length.to_le_bytes());
            state.pending.extend(found.unwrap_or_default());
            state.pending.len() >= MOST || now() - state.written >= self.every
        };
        if is_due { self.flush() } else { Ok(()) }
    }

    /// A file of the first rank's store, on all ranks.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let own = self.store.as_ref().map_or(Ok(None), |store| store.read(name));
        match &self.ranks {
            Some(ranks) => ranks.spread(own),
            None => own,
        }
    }

    fn together(&self, step: &str, found: Result<()>) -> Result<()> {
        match &self.ranks {
            Some(ranks) => ranks.agree(Meeting::new(step, &[]), found),
            None => found,
        }
    }

    fn damaged(&self, name: &str, why: &str) -> Error {
        let folder = self.store.as_ref().map_or("the checkpoint", |store| store.name());
        Error::new(ErrorCode::Parse, format!("{folder}: {name} is damaged ({why}): begin anew in another folder"))
    }
}

/// The name of a piece.
fn piece(number: usize) -> String {
    format!("{number:06}.passes")
}

/// Says of what the run is, or compares that with what was said.
fn begin(store: &dyn Store, about: &[(String, String)]) -> Result<()> {
    let Some(bytes) = store.read(ABOUT)? else {
        return store.write(ABOUT, &serde_json::to_vec_pretty(about)?);
    };
    let folder = store.name();
    let before: Vec<(String, String)> = serde_json::from_slice(&bytes)
        .map_err(|error| Error::new(ErrorCode::Parse, format!("{folder} is no checkpoint of isoflat's: {error}")))?;
    let of = |list: &[(String, String)], name: &str| {
        list.iter().find(|(other, _)| other == name).map_or_else(|| "not said".into(), |(_, said)| said.clone())
    };
    for (name, _) in about.iter().chain(&before) {
        let (then, now) = (of(&before, name), of(about, name));
        ensure!(
            then == now,
            InvalidOption,
            "the checkpoint in {folder} is of another run: {name} was {then} there and is {now} here"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
