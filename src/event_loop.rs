//! Letting an event loop run in the middle of work, and doing without where nobody may wait.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// What a future gives that is made to be ready at once: host arithmetic under `Control::default()`, which has nobody to
/// wait for, and the CPU executor's passes, which do not let the event loop run in here.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    #[cfg(target_arch = "wasm32")]
    let _held = page::Held::new();
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("work on the host waits for nobody but its control"),
    }
}

/// Lets the event loop run, where there is one that has waited for long. To be called after every so many multiplications, or
/// what takes as long; natively it does nothing.
///
/// # Errors
/// `Aborted`, if the work is [`Stoppable`] and has been stopped meanwhile.
#[cfg(not(target_arch = "wasm32"))]
#[inline(always)]
pub(crate) async fn worked(_multiplications: f64) -> crate::error::Result<()> {
    Ok(())
}

/// Lets the event loop run if it has waited for long, and says whether work is still wanted: for who waits where others work.
///
/// # Errors
/// As [`worked`].
#[cfg(not(target_arch = "wasm32"))]
pub(crate) async fn wanted() -> crate::error::Result<()> {
    Ok(())
}

/// Lets the event loop run; false where there is none, or nobody may wait for it.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) async fn turn() -> bool {
    false
}

#[cfg(target_arch = "wasm32")]
pub(crate) use page::{Stoppable, obeying, run_if_due, turn, wanted, worked};

#[cfg(target_arch = "wasm32")]
mod page {
    use std::cell::{Cell, RefCell};
    use std::future::Future;
    use std::pin::Pin;
    use std::rc::Rc;
    use std::task::{Context, Poll};

    use js_sys::{Date, Function, Promise, Reflect};
    use wasm_bindgen::prelude::*;
    use wasm_bindgen_futures::JsFuture;
    use web_sys::MessageChannel;

    use crate::error::{Result, bail};

    /// Longest time without a turn of the event loop, in milliseconds: half a frame at 60 Hz.
    const SLICE: f64 = 8.0;

    /// Multiplications between two looks at the clock: a millisecond or two.
    const LOOK: f64 = 5e6;

    thread_local! {
        /// When the event loop last had its turn.
        static LAST: Cell<f64> = const { Cell::new(0.0) };
        /// Multiplications since the last look at the clock.
        static DONE: Cell<f64> = const { Cell::new(0.0) };
        static IS_HELD: Cell<bool> = const { Cell::new(false) };
        /// Has the caller of what is being worked on stopped it?
        static STOPPED: RefCell<Option<Rc<dyn Fn() -> bool>>> = const { RefCell::new(None) };
        /// The same in a thread that has no event loop, for work that is done on another one's behalf.
        static OBEYED: Cell<Option<fn() -> bool>> = const { Cell::new(None) };
    }

    /// Work that ends within a pass once its caller has stopped it. Several may take turns.
    pub struct Stoppable<F> {
        pub work: F,
        pub stopped: Rc<dyn Fn() -> bool>,
    }

    impl<F: Future + Unpin> Future for Stoppable<F> {
        type Output = F::Output;

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
            let before = STOPPED.replace(Some(self.stopped.clone()));
            let found = Pin::new(&mut self.work).poll(context);
            STOPPED.set(before);
            found
        }
    }

    /// While this lives, the event loop waits.
    pub struct Held {
        before: bool,
    }

    impl Held {
        pub fn new() -> Self {
            Self { before: IS_HELD.replace(true) }
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            IS_HELD.set(self.before);
        }
    }

    /// Does work that ends within a pass once this says so, which needs no turn of the event loop.
    pub fn obeying<T>(is_stopped: fn() -> bool, work: impl FnOnce() -> T) -> T {
        OBEYED.set(Some(is_stopped));
        let found = work();
        OBEYED.set(None);
        found
    }

    pub async fn worked(multiplications: f64) -> Result<()> {
        let done = DONE.get() + multiplications;
        DONE.set(done);
        if done < LOOK {
            return Ok(());
        }
        DONE.set(0.0);
        if OBEYED.get().is_some_and(|is_stopped| is_stopped()) {
            return stopped();
        }
        wanted().await
    }

    pub async fn wanted() -> Result<()> {
        if is_due() {
            run().await;
            if STOPPED.with_borrow(|stopped| stopped.as_ref().is_some_and(|stopped| stopped())) {
                return stopped();
            }
        }
        Ok(())
    }

    fn stopped() -> Result<()> {
        bail!(Aborted, "stopped by the caller");
    }

    /// Lets the event loop run if it has waited for long.
    pub async fn run_if_due() {
        if is_due() {
            run().await;
        }
    }

    fn is_due() -> bool {
        !IS_HELD.get() && Date::now() - LAST.get() >= SLICE
    }

    /// Lets the event loop run; false where nobody may wait for it.
    pub async fn turn() -> bool {
        let may = !IS_HELD.get();
        if may {
            run().await;
        }
        may
    }

    /// Lets everything that waits in the event loop run once.
    async fn run() {
        let _ = JsFuture::from(next_turn()).await;
        LAST.set(Date::now());
    }

    /// Resolves at the next turn. By a message to oneself, since timers are held back by 4 ms; but where messages go before timers as long as
    /// there are any, as in Deno and Bun, by what those have instead. Where there are neither, as in jsdom, by a timer.
    fn next_turn() -> Promise {
        let global = js_sys::global();
        let method = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).ok()?.dyn_into::<Function>().ok();
        let has = |name: &str| Reflect::has(&global, &name.into()).unwrap_or(false);
        let called = |name: &str| {
            let function = method(&global, name)?;
            Some(Promise::new(&mut |resolve, _| {
                let _ = function.call1(&JsValue::UNDEFINED, &resolve);
            }))
        };
        if (has("Deno") || has("Bun"))
            && let Some(turn) = called("setImmediate")
        {
            return turn;
        }
        let Ok(channel) = MessageChannel::new() else {
            return called("setTimeout").unwrap_or_else(|| Promise::resolve(&JsValue::UNDEFINED));
        };
        let (here, there) = (channel.port1(), channel.port2());
        let arrived = Promise::new(&mut |resolve, _| {
            here.set_onmessage(Some(&resolve));
            let _ = there.post_message(&JsValue::NULL);
        });
        // An open port would keep Node from exiting. JavaScript closes it by itself, since nothing enters a module that has crashed meanwhile.
        if let (Some(close), Some(then)) = (method(&here, "close"), method(&arrived, "then")) {
            let _ = then.call1(&arrived, &close.bind0(&here));
        }
        arrived
    }
}
