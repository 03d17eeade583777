//! What never waits, without an executor: the plain forms of functions that let an event loop run where a caller has one.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// What a future gives that is ready at once. So is all host arithmetic under `Control::default()`, which has nobody to wait for.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("work on the host waits for nobody but its control"),
    }
}
