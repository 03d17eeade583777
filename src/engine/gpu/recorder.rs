//! Commands on their way to the device: collected, then submitted many at a time.

use std::collections::VecDeque;

use super::context::{DeviceBuffer, GpuContext};
use super::kernel::Kernel;
use super::uniforms::Uniform;
use crate::error::{Result, ensure};

/// Most dispatches in one submission. Enough that submitting costs little beside them, few enough that a browser's own
/// drawing gets its turns.
const MAX_DISPATCHES: usize = 64;

/// Most arithmetic in one submission, in floating-point operations: half a second on a software adapter, a tenth of one on the slowest
/// hardware. Less would have a fast GPU wait for its next submission: in Chrome that takes a millisecond.
const fn max_cost(is_software: bool) -> f64 {
    if is_software { 2e9 } else { 2e10 }
}

/// Submissions under way before the host waits for the oldest (natively; in a page the readbacks keep the pace).
#[cfg_attr(target_arch = "wasm32", allow(dead_code))]
const MAX_IN_FLIGHT: usize = 4;

/// Dynamic offsets of uniforms must be multiples of this on every device.
const SLOT: usize = 256;

enum Command {
    Dispatch { pipeline: wgpu::ComputePipeline, bind_group: wgpu::BindGroup, slot: u32, grid: [u32; 3] },
    Copy { from: wgpu::Buffer, from_byte: u64, to: wgpu::Buffer, to_byte: u64, bytes: u64 },
}

/// The commands not yet submitted, with the parameters of their kernels: a slot each of one uniform buffer, which is
/// written whole right before the submission that reads it.
pub(super) struct Recorder {
    commands: Vec<Command>,
    slots: Vec<u8>,
    parameters: wgpu::Buffer,
    cost: f64,
    #[cfg_attr(target_arch = "wasm32", allow(dead_code))]
    in_flight: VecDeque<wgpu::SubmissionIndex>,
}

impl Recorder {
    pub fn new(device: &wgpu::Device) -> Self {
        let parameters = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("kernel parameters"),
            size: (MAX_DISPATCHES * SLOT) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self { commands: Vec::new(), slots: Vec::new(), parameters, cost: 0.0, in_flight: VecDeque::new() }
    }
}

/// The size of a dispatch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    /// Workgroups of work in one dimension; folded into x and y.
    pub groups: u64,
    /// Extent of z: columns, directions or slabs.
    pub layers: usize,
    /// Floating-point operations, roughly.
    pub cost: f64,
}

impl Grid {
    /// An elementwise kernel over `layers` columns of `len`, 64 elements a workgroup.
    pub fn elements(len: usize, layers: usize) -> Self {
        Self { groups: (len as u64).div_ceil(64), layers, cost: len as f64 * layers as f64 }
    }

    /// A workgroup an item.
    pub fn workgroups(groups: usize, layers: usize) -> Self {
        Self { groups: groups as u64, layers, cost: 4096.0 * groups as f64 * layers as f64 }
    }
}

impl GpuContext {
    /// Records a dispatch. `parameters` and `buffers` as the kernel's [`super::KernelSpec`] says.
    pub(super) fn dispatch<U: Uniform>(
        &self,
        kernel: Kernel,
        parameters: &U,
        buffers: &[&DeviceBuffer],
        grid: Grid,
    ) -> Result<()> {
        debug_assert_eq!(U::LAYOUT, kernel.spec().uniform, "{kernel:?}");
        debug_assert_eq!(buffers.len(), kernel.spec().storage.len(), "{kernel:?}");
        self.record(kernel, bytemuck::bytes_of(parameters), buffers, grid)
    }

    /// The same of a kernel's parameters as bytes: once, and not once for each kernel's.
    fn record(&self, kernel: Kernel, parameters: &[u8], buffers: &[&DeviceBuffer], grid: Grid) -> Result<()> {
        self.check()?;
        if grid.groups == 0 || grid.layers == 0 {
            return Ok(());
        }
        let max = u64::from(self.max_groups());
        let x = grid.groups.min(max);
        let y = grid.groups.div_ceil(x);
        ensure!(
            y <= max && grid.layers as u64 <= max,
            TooLarge,
            "{} needs a dispatch of {x} × {y} × {} workgroups, but {} allows {max} in each dimension; \
             use fewer samples or directions",
            kernel.spec().label,
            grid.layers,
            self.info().adapter
        );
        let pipeline = self.pipeline(kernel)?;
        let is_full = {
            let recorder = self.recorder.borrow();
            recorder.slots.len() + SLOT > MAX_DISPATCHES * SLOT
                || recorder.cost + grid.cost > max_cost(self.info().is_software)
        };
        if is_full {
            self.flush()?;
        }
        let mut recorder = self.recorder.borrow_mut();
        let bind_group = self.bind_group(kernel, &pipeline, &recorder.parameters, buffers);
        let slot = recorder.slots.len();
        recorder.slots.extend_from_slice(parameters);
        recorder.slots.resize(slot + SLOT, 0);
        recorder.cost += grid.cost;
        recorder.commands.push(Command::Dispatch {
            pipeline: pipeline.pipeline.clone(),
            bind_group,
            slot: slot as u32,
            grid: [x as u32, y as u32, grid.layers as u32],
        });
        Ok(())
    }

    /// Records `to[to_element..][..count] = from[from_element..][..count]`.
    pub(super) fn copy(
        &self,
        from: &DeviceBuffer,
        from_element: usize,
        to: &wgpu::Buffer,
        to_element: usize,
        count: usize,
    ) -> Result<()> {
        self.check()?;
        if count > 0 {
            self.recorder.borrow_mut().commands.push(Command::Copy {
                from: from.buffer.clone(),
                from_byte: 4 * from_element as u64,
                to: to.clone(),
                to_byte: 4 * to_element as u64,
                bytes: 4 * count as u64,
            });
        }
        Ok(())
    }

    /// Submits what was recorded.
    pub(super) fn flush(&self) -> Result<()> {
        self.check()?;
        let (commands, slots) = {
            let mut recorder = self.recorder.borrow_mut();
            recorder.cost = 0.0;
            (std::mem::take(&mut recorder.commands), std::mem::take(&mut recorder.slots))
        };
        if !commands.is_empty() {
            if !slots.is_empty() {
                self.queue.write_buffer(&self.recorder.borrow().parameters, 0, &slots);
            }
            let submission = self.queue.submit([encode(&self.device, &commands)]);
            self.keep_pace(submission);
        }
        self.destroy_garbage();
        self.check()
    }

    #[cfg(target_arch = "wasm32")]
    fn keep_pace(&self, _: wgpu::SubmissionIndex) {}

    /// Waits for the oldest submission when too many are under way: their memory would grow without bound.
    #[cfg(not(target_arch = "wasm32"))]
    fn keep_pace(&self, submission: wgpu::SubmissionIndex) {
        let oldest = {
            let in_flight = &mut self.recorder.borrow_mut().in_flight;
            in_flight.push_back(submission);
            if in_flight.len() > MAX_IN_FLIGHT { in_flight.pop_front() } else { None }
        };
        if oldest.is_some() {
            self.poll(wgpu::PollType::Wait { submission_index: oldest, timeout: None });
        }
    }
}

/// All commands in one command buffer; neighbouring dispatches share a pass.
fn encode(device: &wgpu::Device, commands: &[Command]) -> wgpu::CommandBuffer {
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("isoflat") });
    let is_dispatch = |command: &Command| matches!(command, Command::Dispatch { .. });
    for run in commands.chunk_by(|a, b| is_dispatch(a) && is_dispatch(b)) {
        if let [Command::Copy { from, from_byte, to, to_byte, bytes }] = run {
            encoder.copy_buffer_to_buffer(from, *from_byte, to, *to_byte, *bytes);
            continue;
        }
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for command in run {
            if let Command::Dispatch { pipeline, bind_group, slot, grid: [x, y, z] } = command {
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, bind_group, &[*slot]);
                pass.dispatch_workgroups(*x, *y, *z);
            }
        }
    }
    encoder.finish()
}
