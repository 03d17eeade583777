//! The wgpu executor: WebGPU in a browser, Vulkan, Metal or DX12 natively. Single precision.
//!
//! `context` holds the device, `kernel` the table of shaders, `recorder` collects dispatches and submits them, `readback`
//! brings values to the host; `executor` walks the plan with the parts in `matmul`, `passes`, `tangent` and `vectors`.

mod context;
mod executor;
mod kernel;
mod matmul;
mod passes;
mod readback;
mod recorder;
mod tangent;
mod uniforms;
mod vectors;

use std::rc::Rc;

pub use context::{GpuContext, GpuOptions};
pub use executor::GpuExecutor;
#[doc(hidden)]
pub use kernel::{Access, Kernel, KernelSpec, SHARED_SOURCES};

/// A vector in device memory, column after column.
pub(super) struct GpuVector {
    buffer: Rc<context::DeviceBuffer>,
}
