//! The wgpu executor: WebGPU in a browser, Vulkan, Metal or DX12 natively. Single precision.
//!
//! `context` holds the device, `kernel` the table of shaders, `recorder` collects dispatches and submits them, `readback`
//! brings values to the host; `geometry` says how a plan lies in memory and `data` cuts the samples into chunks. The steps are
//! in `affine`, `grouped`, `plain` (`pool` and `place`) and `smooth`, a parameter space's maps in `chart`. `passes` walks the steps forward and `walk` back, for the prepared
//! `point`, for `tangent`s, `evaluate`, a `plane`'s points, a `sweep` and `squares`. `tiling` chooses a step's tile by what tiles take, which
//! `tune` measures and a `tuning` keeps.

mod adapter;
mod affine;
mod chart;
mod choice;
mod context;
mod data;
mod evaluate;
mod executor;
mod geometry;
mod gradient;
mod grouped;
mod kernel;
mod passes;
mod place;
mod plain;
mod plane;
mod point;
mod pool;
mod readback;
mod recorder;
mod sample_gradient;
mod slide;
mod smooth;
mod squares;
mod sweep;
mod tangent;
mod template;
mod tiling;
mod tune;
mod tuning;
mod uniforms;
mod vectors;
mod walk;

pub use choice::AdapterChoice;
pub use context::{GpuContext, GpuOptions};
pub use executor::GpuExecutor;
pub(super) use executor::usual_budget;
#[doc(hidden)]
pub use kernel::{Access, Kernel, KernelSpec, SHARED_SOURCES};
pub use tiling::{TileTime, TileTimes, Tiles};
pub use tune::tune;
pub use tuning::{Tune, Tuning};
#[doc(hidden)]
pub use uniforms::UniformLayout;
