//! The wgpu executor.

/// A vector in device memory.
pub(super) struct GpuVector {}
