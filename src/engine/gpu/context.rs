//! The device: how it is found, what it allows, its buffers, and what went wrong on it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::adapter::{describe, ensure_gpu_api, only_software};
use super::choice::{AdapterChoice, Seen, chosen, of_best_kind};
use super::kernel::{Access, Kernel};
use super::recorder::Recorder;
use super::tiling::Tiles;
use crate::engine::BackendInfo;
use crate::error::{Error, ErrorCode, Result, bail, ensure};

/// What [`GpuContext::request`] may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpuOptions {
    /// Take an adapter that runs on the CPU (SwiftShader, llvmpipe, WARP) where there is no hardware one?
    pub allow_software: bool,
    /// Which one, where there are several.
    pub adapter: AdapterChoice,
    /// What its tiles take, where they are not to be chosen by what is usual of such adapters.
    pub tiles: Option<Tiles>,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self { allow_software: true, adapter: AdapterChoice::Best, tiles: None }
    }
}

/// A GPU device with what is shared by everything that computes on it: compiled pipelines, the commands not yet
/// submitted, and the first fault, after which every call fails.
pub struct GpuContext {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) recorder: RefCell<Recorder>,
    pub(super) staging: RefCell<Vec<wgpu::Buffer>>,
    info: BackendInfo,
    choice: AdapterChoice,
    tiles: Cell<Tiles>,
    max_bytes: u64,
    max_groups: u32,
    fault: Fault,
    pipelines: RefCell<HashMap<Kernel, Rc<Pipeline>>>,
    bind_groups: RefCell<HashMap<(Kernel, Vec<u64>), wgpu::BindGroup>>,
    garbage: Garbage,
    next_id: Cell<u64>,
}

/// A browser gives a device's memory and threads back when it collects its garbage, which may be late: a page that makes engines
/// one after the other would hold a thousand devices.
impl Drop for GpuContext {
    fn drop(&mut self) {
        self.device.destroy();
    }
}

/// A compiled kernel.
pub(super) struct Pipeline {
    pub pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

/// The first fault of the device. Behind a lock because wgpu wants callbacks that could run on any thread.
#[derive(Clone, Default)]
struct Fault(Arc<Mutex<Option<Error>>>);

impl Fault {
    /// The first fault that this device will report.
    fn of(device: &wgpu::Device) -> Self {
        let fault = Self::default();
        let lost = fault.clone();
        device.set_device_lost_callback(move |_, message| {
            lost.set(ErrorCode::DeviceLost, format!("the GPU device was lost: {message}"));
        });
        let uncaptured = fault.clone();
        device.on_uncaptured_error(Arc::new(move |error| match error {
            wgpu::Error::OutOfMemory { .. } => uncaptured
                .set(ErrorCode::TooLarge, "the GPU is out of memory; use fewer samples or a smaller network".into()),
            other => uncaptured.set(ErrorCode::Gpu, format!("the GPU refused a command: {other}")),
        }));
        fault
    }

    fn set(&self, code: ErrorCode, message: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| Error::new(code, message));
    }

    fn get(&self) -> Option<Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets a fault of this kind and returns it.
    fn take(&self, code: ErrorCode) -> Option<Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take_if(|error| error.code == code)
    }
}

/// Buffers nobody holds any more. They are destroyed after the next submission, as commands in the recorder may use them.
type Garbage = Rc<RefCell<Vec<(u64, wgpu::Buffer)>>>;

/// Bytes of garbage above which a new buffer first submits, so that memory is given back.
const MAX_GARBAGE: u64 = 128 << 20;

/// A storage buffer of 4-byte elements. Dropping it gives the memory back at once, where a browser would wait for its
/// garbage collector.
pub(super) struct DeviceBuffer {
    pub buffer: wgpu::Buffer,
    pub elements: u64,
    id: u64,
    garbage: Garbage,
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        self.garbage.borrow_mut().push((self.id, self.buffer.clone()));
    }
}

/// What an adapter may come from.
const APIS: &str = if cfg!(target_arch = "wasm32") { "WebGPU" } else { "Vulkan, Metal or DX12" };

/// The adapter of a choice, and among how many turns were taken. A browser gives one and no choice.
async fn adapter_of(choice: AdapterChoice) -> Result<(wgpu::Adapter, Option<usize>)> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    if choice != AdapterChoice::Best && !cfg!(target_arch = "wasm32") {
        let mut all = instance.enumerate_adapters(wgpu::Backends::all()).await;
        let seen: Vec<Seen> = all.iter().map(|adapter| adapter.get_info().into()).collect();
        if let Some(place) = chosen(&seen, choice)? {
            let among = matches!(choice, AdapterChoice::Turn(_)).then(|| of_best_kind(&seen).len());
            return Ok((all.swap_remove(place), among));
        }
    }
    Ok((best_adapter(&instance).await?, None))
}

async fn best_adapter(instance: &wgpu::Instance) -> Result<wgpu::Adapter> {
    let ask = |force_fallback_adapter| wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        force_fallback_adapter,
        ..Default::default()
    };
    if let Ok(adapter) = instance.request_adapter(&ask(false)).await {
        return Ok(adapter);
    }
    // wgpu's own sentence lists what was compiled in; which API is missing is what a person can act on.
    let missing = |_| Error::new(ErrorCode::BackendUnavailable, format!("there is no {APIS} adapter here"));
    instance.request_adapter(&ask(true)).await.map_err(missing)
}

impl GpuContext {
    /// The best adapter there is, hardware before software, or another choice of them, with a device.
    ///
    /// # Errors
    /// `InvalidOption` where there is no adapter of the number that was chosen; `BackendUnavailable` where there is no adapter that `options` allow, or it gives no device.
    pub async fn request(options: GpuOptions) -> Result<Self> {
        ensure_gpu_api()?;
        let (adapter, adapters) = adapter_of(options.adapter).await?;
        // Browsers say so of an adapter in its flags, or only in the name of its device.
        if !options.allow_software && adapter.get_info().device_type == wgpu::DeviceType::Cpu {
            bail!(BackendUnavailable, "{}", only_software(&adapter.get_info().name));
        }
        let offered = adapter.limits();
        // Baseline limits, so that what runs here runs everywhere, but as much memory as there is. An adapter below the
        // baseline may still do: what isoflat needs of it is checked where it is used.
        let limits = wgpu::Limits {
            max_buffer_size: offered.max_buffer_size,
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
            ..wgpu::Limits::default().or_worse_values_from(&offered)
        };
        let descriptor =
            wgpu::DeviceDescriptor { label: Some("isoflat"), required_limits: limits.clone(), ..Default::default() };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(|error| {
            Error::new(ErrorCode::BackendUnavailable, format!("the GPU adapter gives no device: {error}"))
        })?;
        let info = BackendInfo { adapters, ..describe(&adapter.get_info(), &device) };
        if !options.allow_software && info.is_software {
            device.destroy();
            bail!(BackendUnavailable, "{}", only_software(&info.adapter));
        }
        let fault = Fault::of(&device);
        let tiles = Cell::new(options.tiles.unwrap_or_else(|| Tiles::usual(info.is_software)));
        // Element numbers are 32-bit in the kernels; 2³¹ leaves room for rounding up.
        let max_bytes = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size).min(4 << 31);
        Ok(Self {
            recorder: RefCell::new(Recorder::new(&device)),
            device,
            queue,
            staging: RefCell::default(),
            info,
            choice: options.adapter,
            tiles,
            max_bytes,
            max_groups: limits.max_compute_workgroups_per_dimension,
            fault,
            pipelines: RefCell::default(),
            bind_groups: RefCell::default(),
            garbage: Garbage::default(),
            next_id: Cell::new(0),
        })
    }

    /// What computes.
    pub fn info(&self) -> &BackendInfo {
        &self.info
    }

    /// What chose its adapter.
    pub(in crate::engine) fn choice(&self) -> AdapterChoice {
        self.choice
    }

    /// What its tiles take.
    pub fn tiles(&self) -> Tiles {
        self.tiles.get()
    }

    /// From now on steps choose theirs by this table.
    pub(in crate::engine) fn take(&self, tiles: Tiles) {
        self.tiles.set(tiles);
    }

    /// The largest buffer, in bytes.
    pub fn max_buffer_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Most workgroups in one dimension of a dispatch.
    pub(super) fn max_groups(&self) -> u32 {
        self.max_groups
    }

    /// Destroys the device: every later call, and every readback under way, fails with `DeviceLost`.
    pub fn destroy(&self) {
        self.fault.set(ErrorCode::DeviceLost, "the GPU device was lost: it was destroyed".into());
        self.device.destroy();
    }

    /// Fails if anything went wrong on the device before.
    pub(super) fn check(&self) -> Result<()> {
        self.fault.get().map_or(Ok(()), Err)
    }

    /// `TooLarge` unless a buffer may have this many elements; `what` names it.
    pub(super) fn check_size(&self, what: &str, elements: u64) -> Result<()> {
        let limit = self.max_bytes / 4;
        ensure!(
            elements <= limit,
            TooLarge,
            "{what}: {elements} numbers ({} MiB) are needed in one buffer, but {} takes {limit} ({} MiB); \
             use fewer samples or a smaller network",
            elements >> 18,
            self.info.adapter,
            limit >> 18
        );
        Ok(())
    }

    /// A buffer of zeros; `what` names it in an error.
    pub(super) fn buffer(&self, what: &str, elements: u64) -> Result<Rc<DeviceBuffer>> {
        self.check()?;
        self.check_size(what, elements)?;
        self.collect_garbage()?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        // An empty binding is not allowed; 16 bytes hold any element.
        let size = (elements * 4).max(16);
        let buffer = self.create_buffer(what, size, usage)?;
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        Ok(Rc::new(DeviceBuffer { buffer, elements, id, garbage: self.garbage.clone() }))
    }

    /// A buffer of these values.
    pub(super) fn buffer_of<T: bytemuck::Pod>(&self, what: &str, values: &[T]) -> Result<Rc<DeviceBuffer>> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let buffer = self.buffer(what, bytes.len() as u64 / 4)?;
        if !bytes.is_empty() {
            // It comes before all commands not yet submitted, and none of them knows the new buffer.
            self.queue.write_buffer(&buffer.buffer, 0, bytes);
        }
        Ok(buffer)
    }

    /// A wgpu buffer, or `TooLarge` where memory ran out. That fault is not kept: the device still works.
    pub(super) fn create_buffer(&self, what: &str, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        let descriptor = wgpu::BufferDescriptor { label: Some(what), size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&descriptor);
        if self.fault.take(ErrorCode::TooLarge).is_some() {
            bail!(TooLarge, "{what}: the GPU has no {} MiB of memory left for it", size >> 20);
        }
        self.check()?;
        Ok(buffer)
    }

    fn collect_garbage(&self) -> Result<()> {
        let bytes: u64 = self.garbage.borrow().iter().map(|(_, buffer)| buffer.size()).sum();
        if bytes > MAX_GARBAGE { self.flush() } else { Ok(()) }
    }

    /// Destroys what nobody holds. Only right after a submission, when no recorded command can use it.
    pub(super) fn destroy_garbage(&self) {
        let garbage = std::mem::take(&mut *self.garbage.borrow_mut());
        if garbage.is_empty() {
            return;
        }
        self.bind_groups.borrow_mut().retain(|(_, ids), _| !garbage.iter().any(|(id, _)| ids.contains(id)));
        for (_, buffer) in garbage {
            buffer.destroy();
        }
    }

    /// The kernel's pipeline, compiled at its first use.
    pub(super) fn pipeline(&self, kernel: Kernel) -> Result<Rc<Pipeline>> {
        if let Some(found) = self.pipelines.borrow().get(&kernel) {
            return Ok(found.clone());
        }
        let spec = kernel.spec();
        let label = Some(spec.label);
        let entry = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        };
        let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform, true)];
        entries.extend(spec.storage.iter().zip(1..).map(|(&access, binding)| {
            entry(binding, wgpu::BufferBindingType::Storage { read_only: access == Access::Read }, false)
        }));
        let layout =
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(spec.source().into()),
        });
        let pipeline_layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        self.check()?;
        let pipeline = Rc::new(Pipeline { pipeline, layout });
        self.pipelines.borrow_mut().insert(kernel, pipeline.clone());
        Ok(pipeline)
    }

    /// The bind group of these buffers for this kernel, made at its first use and kept while all of them live.
    pub(super) fn bind_group(
        &self,
        kernel: Kernel,
        pipeline: &Pipeline,
        parameters: &wgpu::Buffer,
        buffers: &[&DeviceBuffer],
    ) -> wgpu::BindGroup {
        let key = (kernel, buffers.iter().map(|buffer| buffer.id).collect::<Vec<_>>());
        if let Some(found) = self.bind_groups.borrow().get(&key) {
            return found.clone();
        }
        let spec = kernel.spec();
        let parameters = wgpu::BufferBinding {
            buffer: parameters,
            offset: 0,
            size: wgpu::BufferSize::new(spec.uniform.size as u64),
        };
        let mut entries =
            vec![wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(parameters) }];
        entries.extend(
            buffers
                .iter()
                .zip(1..)
                .map(|(buffer, binding)| wgpu::BindGroupEntry { binding, resource: buffer.buffer.as_entire_binding() }),
        );
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(spec.label),
            layout: &pipeline.layout,
            entries: &entries,
        });
        self.bind_groups.borrow_mut().insert(key, group.clone());
        group
    }
}
