//! What an adapter is: whether there can be one, its name, and whether it is a GPU at all.

use crate::engine::{BackendInfo, Precision};
use crate::error::Result;
#[cfg(target_arch = "wasm32")]
use crate::error::ensure;

/// What is said where there is no other adapter.
pub(super) fn only_software(adapter: &str) -> String {
    let adapter = if adapter.is_empty() { "the only adapter" } else { adapter };
    format!("there is no hardware GPU; {adapter} runs on the CPU")
}

/// `BackendUnavailable` where asking for an adapter would make wgpu panic: a JavaScript context that is neither window
/// nor dedicated worker (Node).
pub(super) fn ensure_gpu_api() -> Result<()> {
    #[cfg(target_arch = "wasm32")]
    {
        let global = js_sys::global();
        let has = |name: &str| js_sys::Reflect::get(&global, &name.into()).is_ok_and(|value| !value.is_undefined());
        ensure!(has("Window") || has("WorkerGlobalScope"), BackendUnavailable, "there is no WebGPU outside a browser");
        let gpu = js_sys::Reflect::get(&global, &"navigator".into())
            .and_then(|navigator| js_sys::Reflect::get(&navigator, &"gpu".into()));
        ensure!(
            gpu.is_ok_and(|gpu| !gpu.is_undefined() && !gpu.is_null()),
            BackendUnavailable,
            "this browser, or this page (it must come over https or from localhost), has no WebGPU"
        );
    }
    Ok(())
}

/// What a device says of itself.
pub(super) fn describe(info: &wgpu::AdapterInfo, device: &wgpu::Device) -> BackendInfo {
    let api = match info.backend {
        wgpu::Backend::Vulkan => "vulkan",
        wgpu::Backend::Metal => "metal",
        wgpu::Backend::Dx12 => "dx12",
        wgpu::Backend::Gl => "gl",
        wgpu::Backend::BrowserWebGpu => "webgpu",
        wgpu::Backend::Noop => "noop",
    };
    let name = adapter_name(info, device);
    let lower = name.to_lowercase();
    let known = ["swiftshader", "llvmpipe", "lavapipe", "basic render"];
    let is_software = info.device_type == wgpu::DeviceType::Cpu || known.iter().any(|part| lower.contains(part));
    BackendInfo {
        backend: "gpu",
        adapter: name,
        api: api.into(),
        precision: Precision::F32,
        is_software,
        threads: 1,
        threads_reason: None,
        ranks: None,
        adapters: None,
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn adapter_name(info: &wgpu::AdapterInfo, _: &wgpu::Device) -> String {
    info.name.clone()
}

/// Browsers tend to leave the description empty, so vendor and architecture join it.
#[cfg(target_arch = "wasm32")]
fn adapter_name(info: &wgpu::AdapterInfo, device: &wgpu::Device) -> String {
    let js: Option<&wasm_bindgen::JsValue> = device.as_webgpu().map(AsRef::as_ref);
    let fields = js.and_then(|device| js_sys::Reflect::get(device, &"adapterInfo".into()).ok());
    let field = |name: &str| -> Option<String> {
        js_sys::Reflect::get(fields.as_ref()?, &name.into()).ok()?.as_string().filter(|text| !text.is_empty())
    };
    let mut parts: Vec<String> = ["vendor", "architecture", "device"].into_iter().filter_map(field).collect();
    if !info.name.is_empty() {
        parts.push(info.name.clone());
    }
    if parts.is_empty() { "unnamed adapter".into() } else { parts.join(" ") }
}
