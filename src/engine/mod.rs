//! Problems on devices.

mod cpu;
mod executor;
pub mod gpu;
mod plan;
mod vector;

pub use cpu::{cpu_executor, cpu_info};
pub use executor::{AdamStep, BackendInfo, Curvature, Executor, Precision};
pub use plan::{Activation, Plan, Step};
pub use vector::{Segments, Vector};
