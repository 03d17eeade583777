//! Values from the device to the host.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::context::{DeviceBuffer, GpuContext};
use crate::error::{Error, ErrorCode, Result};

/// Staging buffers kept for the next readback.
const MAX_POOLED: usize = 4;

/// The largest staging buffer worth keeping, in bytes.
const MAX_POOLED_BYTES: u64 = 16 << 20;

impl GpuContext {
    /// Submits what was recorded, then reads `count` numbers from `first` on.
    pub(super) async fn read(&self, source: &DeviceBuffer, first: usize, count: usize) -> Result<Vec<f32>> {
        self.check()?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let bytes = 4 * count as u64;
        let staging = self.take_staging(bytes)?;
        self.copy(source, first, &staging, 0, count)?;
        self.flush()?;
        let mapping = Arc::new(Mutex::new(Mapping::default()));
        let writer = mapping.clone();
        staging.map_async(wgpu::MapMode::Read, 0..bytes, move |result| {
            let mut mapping = writer.lock().unwrap_or_else(PoisonError::into_inner);
            mapping.result = Some(result);
            if let Some(waker) = mapping.waker.take() {
                waker.wake();
            }
        });
        Mapped { context: self, mapping }.await?;
        let values = {
            let view = staging
                .get_mapped_range(0..bytes)
                .map_err(|error| self.fault_or(format!("a readback could not be mapped: {error}")))?;
            // Byte by byte: nothing says how the view is aligned.
            let numbers = view.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
            crate::memory::collected("numbers read back", numbers)
        };
        let values: Vec<f32> = values.inspect_err(|_| staging.unmap())?;
        staging.unmap();
        let mut pool = self.staging.borrow_mut();
        if pool.len() < MAX_POOLED && staging.size() <= MAX_POOLED_BYTES {
            pool.push(staging);
        } else {
            staging.destroy();
        }
        drop(pool);
        self.check()?;
        Ok(values)
    }

    /// A buffer to map, of at least this size: a pooled one where it fits.
    fn take_staging(&self, bytes: u64) -> Result<wgpu::Buffer> {
        let pooled = {
            let mut pool = self.staging.borrow_mut();
            let found = pool.iter().position(|buffer| buffer.size() >= bytes);
            found.map(|i| pool.swap_remove(i))
        };
        match pooled {
            Some(buffer) => Ok(buffer),
            None => {
                let size = bytes.next_power_of_two().clamp(256, self.max_buffer_bytes().max(256)).max(bytes);
                self.create_buffer("readback", size, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)
            }
        }
    }

    /// The device's fault, or a fault with this message where it has none.
    fn fault_or(&self, message: String) -> Error {
        self.check().err().unwrap_or_else(|| Error::new(ErrorCode::Gpu, message))
    }

    /// Lets the device work; a failure shows in [`GpuContext::check`].
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn poll(&self, poll_type: wgpu::PollType) {
        // wgpu panics here where the driver reports a lost device; the device-lost callback has run by then.
        let poll = std::panic::AssertUnwindSafe(|| self.device.poll(poll_type));
        if !matches!(std::panic::catch_unwind(poll), Ok(Ok(_))) && self.check().is_ok() {
            self.destroy();
        }
    }
}

#[derive(Default)]
struct Mapping {
    result: Option<std::result::Result<(), wgpu::BufferAsyncError>>,
    waker: Option<Waker>,
}

/// Completes when the staging buffer is mapped. Natively polling it drives the device; a browser drives itself.
struct Mapped<'a> {
    context: &'a GpuContext,
    mapping: Arc<Mutex<Mapping>>,
}

impl Mapped<'_> {
    fn result(&self) -> Option<Result<()>> {
        let result = self.mapping.lock().unwrap_or_else(PoisonError::into_inner).result.take()?;
        Some(result.map_err(|error| self.context.fault_or(format!("a readback failed: {error}"))))
    }
}

impl Future for Mapped<'_> {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.mapping.lock().unwrap_or_else(PoisonError::into_inner).waker = Some(context.waker().clone());
        #[cfg(not(target_arch = "wasm32"))]
        if self.mapping.lock().unwrap_or_else(PoisonError::into_inner).result.is_none() {
            self.context.poll(wgpu::PollType::wait_indefinitely());
        }
        match self.result() {
            Some(result) => Poll::Ready(result),
            None => match self.context.check() {
                Err(error) => Poll::Ready(Err(error)),
                Ok(()) => {
                    // Natively the wait has ended without the callback: try again when asked again.
                    #[cfg(not(target_arch = "wasm32"))]
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
            },
        }
    }
}
