//! The way to a team's helpers. One pass at a time is on it, from its command to the last reply, while the event loop may run.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use super::message::{Command, Reply, Request, beginning};
use super::team::Team;
use crate::control::LocalFuture;
use crate::error::{Result, ensure};
use crate::event_loop::{turn, wanted};

/// What the engines of a device have in common where helpers compute.
pub struct Channel {
    team: Rc<dyn Team>,
    is_taken: Cell<bool>,
    /// Problems that nobody needs any more since a pass was begun, and how many helpers have them.
    unneeded: RefCell<Vec<(u32, usize)>>,
}

impl Channel {
    /// The way to this team.
    pub fn new(team: Rc<dyn Team>) -> Self {
        Self { team, is_taken: Cell::new(false), unneeded: RefCell::default() }
    }

    /// The helpers.
    pub fn team(&self) -> &dyn Team {
        &*self.team
    }

    /// The way, as soon as it is free.
    ///
    /// # Errors
    /// `InvalidOption` where it is not, and nobody can be waited for.
    pub async fn take(&self, problem: u32) -> Result<Taken<'_>> {
        while self.is_taken.get() && turn().await {}
        self.take_now(problem)
    }

    /// The way, if it is free.
    ///
    /// # Errors
    /// `InvalidOption` where it is not.
    pub fn take_now(&self, problem: u32) -> Result<Taken<'_>> {
        ensure!(!self.is_taken.get(), InvalidOption, "another engine of this device is in the middle of a pass");
        self.is_taken.set(true);
        Ok(Taken { channel: self, problem, owed: 0..0 })
    }

    /// Has the first `helpers` forget a problem: at once, or when the pass that is on the way has ended.
    pub fn unload(&self, problem: u32, helpers: usize) {
        self.unneeded.borrow_mut().push((problem, helpers));
        // Nothing to do but to let it go again.
        drop(self.take_now(problem));
    }

    fn send(&self, problem: u32, to: Range<usize>, command: Command, parts: &[&[u8]]) -> Result<()> {
        let beginning = beginning(&Request { problem, command }, parts);
        let pieces: Vec<&[u8]> = std::iter::once(&beginning[..]).chain(parts.iter().copied()).collect();
        self.team.send(to, &pieces)
    }

    /// A team that is gone has forgotten all problems too.
    fn forget_unneeded(&self) {
        for (problem, helpers) in self.unneeded.take() {
            if self.send(problem, 0..helpers, Command::Unload, &[]).is_ok() {
                (0..helpers).for_each(|helper| drop(self.team.receive(helper)));
            }
        }
    }
}

/// The way, taken by one pass over one problem.
pub struct Taken<'a> {
    channel: &'a Channel,
    problem: u32,
    /// Helpers that have been asked and not been heard yet.
    owed: Range<usize>,
}

impl Taken<'_> {
    /// Sends a command to these helpers, who follow those that were asked before.
    ///
    /// # Errors
    /// [`Team::send`]'s.
    pub fn send(&mut self, to: Range<usize>, command: Command, parts: &[&[u8]]) -> Result<()> {
        self.channel.send(self.problem, to.clone(), command, parts)?;
        self.owed.end = to.end;
        Ok(())
    }

    /// Nobody needs the replies any more, which come all the sooner.
    pub fn stop(&self) {
        if !self.owed.is_empty() {
            self.channel.team.stop();
        }
    }

    /// The replies of all that were asked. All are taken before the first error is told.
    ///
    /// # Errors
    /// A helper's; [`Team::receive`]'s; `Aborted` if the caller stops the work.
    pub fn replies(&mut self) -> LocalFuture<'_, Result<Vec<Reply>>> {
        Box::pin(async move {
            let team = self.channel.team();
            let mut is_wanted = Ok(());
            let mut replies = Vec::new();
            while !self.owed.is_empty() {
                while !team.is_answered(self.owed.start) {
                    // The event loop has its turn in any case: a helper that is gone is waited for a while.
                    let now = wanted().await;
                    if is_wanted.is_ok() && now.is_err() {
                        self.stop();
                        is_wanted = now;
                    }
                }
                replies.push(self.take_reply());
            }
            is_wanted?;
            replies.into_iter().collect()
        })
    }

    fn take_reply(&mut self) -> Result<Reply> {
        let helper = self.owed.start;
        self.owed.start += 1;
        self.channel.team.receive(helper).and_then(Reply::new)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.stop();
        while !self.owed.is_empty() {
            let _ = self.take_reply();
        }
        self.channel.forget_unneeded();
        self.channel.is_taken.set(false);
    }
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::engine::sharded::message::open;
    use crate::error::ErrorCode;

    /// Helpers of whom nobody computes, and what they were told.
    #[derive(Default)]
    struct Scribes(RefCell<Vec<String>>);

    impl Team for Scribes {
        fn helpers(&self) -> usize {
            2
        }

        fn send(&self, to: Range<usize>, message: &[&[u8]]) -> Result<()> {
            let (request, _) = open::<Request>(&message.concat())?;
            self.0.borrow_mut().push(format!("{:?} of {} to {to:?}", request.command, request.problem));
            Ok(())
        }

        fn receive(&self, from: usize) -> Result<Vec<u8>> {
            self.0.borrow_mut().push(format!("heard {from}"));
            Ok(Reply::encode(Ok(Vec::new())))
        }

        fn stop(&self) {
            self.0.borrow_mut().push("stop".into());
        }

        fn is_worthwhile(&self, _: f64, _: usize) -> bool {
            true
        }
    }

    #[test]
    fn a_problem_that_is_freed_during_a_pass_is_forgotten_after_it() {
        let scribes = Rc::new(Scribes::default());
        let channel = Channel::new(scribes.clone());
        let mut taken = channel.take_now(7).expect("the way is free");
        taken.send(0..2, Command::Loss, &[]).expect("they hear");
        channel.unload(5, 1);
        let busy = channel.take_now(6).err().expect("one pass at a time");
        assert_eq!(busy.code, ErrorCode::InvalidOption);
        assert_eq!(block_on(taken.replies()).expect("replies").len(), 2);
        drop(taken);
        channel.unload(7, 2);
        let told = ["Loss of 7 to 0..2", "heard 0", "heard 1", "Unload of 5 to 0..1", "heard 0"];
        let then = ["Unload of 7 to 0..2", "heard 0", "heard 1"];
        assert_eq!(*scribes.0.borrow(), [&told[..], &then[..]].concat());
    }

    #[test]
    fn who_leaves_takes_the_replies_that_are_owed() {
        let scribes = Rc::new(Scribes::default());
        let channel = Channel::new(scribes.clone());
        let mut taken = block_on(channel.take(7)).expect("the way is free");
        taken.send(0..2, Command::Loss, &[]).expect("they hear");
        drop(taken);
        assert_eq!(*scribes.0.borrow(), ["Loss of 7 to 0..2", "stop", "heard 0", "heard 1"]);
        assert!(channel.take_now(8).is_ok(), "the way is free again");
    }
}
