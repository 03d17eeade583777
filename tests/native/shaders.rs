//! Every shader on disk is valid WGSL, fits the limits that every WebGPU device has, and agrees with the table of kernels.

use std::collections::BTreeSet;
use std::path::Path;

use isoflat::engine::gpu::{Kernel, SHARED_SOURCES};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, StorageAccess, TypeInner};

// The limits of a WebGPU device that promises no more than it must (WebGPU, section 3.6.2).
const MAX_STORAGE_BUFFERS: usize = 8;
const MAX_INVOCATIONS: u32 = 256;
const MAX_WORKGROUP_BYTES: u32 = 16384;
const MAX_UNIFORM_BYTES: u32 = 64 << 10;

/// The `.wgsl` files below `folder`, as paths in it without the extension.
fn files(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_stem().unwrap().to_str().unwrap());
        if path.is_dir() {
            files(&path, &format!("{name}/"), found);
        } else if path.extension().is_some_and(|extension| extension == "wgsl") {
            found.insert(name);
        }
    }
}

/// Name, type and first byte of a struct's members.
fn members_of<'a>(module: &'a naga::Module, wgsl: &'a naga::Type) -> Vec<(&'a str, &'static str, usize)> {
    let TypeInner::Struct { members, .. } = &wgsl.inner else { return Vec::new() };
    let kind = |ty| match module.types[ty].inner {
        TypeInner::Scalar(naga::Scalar::U32) => "u32",
        TypeInner::Scalar(naga::Scalar::F32) => "f32",
        _ => "something else",
    };
    let members = members.iter();
    members.map(|m| (m.name.as_deref().unwrap_or_default(), kind(m.ty), m.offset as usize)).collect()
}

/// What is wrong with a kernel's source.
fn faults(kernel: Kernel) -> Vec<String> {
    let spec = kernel.spec();
    let source = spec.source();
    let module = match naga::front::wgsl::parse_str(&source) {
        Ok(module) => module,
        Err(error) => return vec![error.emit_to_string_with_path(&source, spec.path)],
    };
    let mut faults = Vec::new();
    if let Err(error) = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module) {
        faults.push(error.emit_to_string_with_path(&source, spec.path));
    }
    let mut expect = |holds: bool, what: String| {
        if !holds {
            faults.push(what);
        }
    };
    let for_people = |line: &str| line.contains("//") || line.trim() != line || line.is_empty();
    expect(!source.lines().any(for_people), "comments, indentation or empty lines, which browsers would fetch".into());
    match module.entry_points.as_slice() {
        [entry] if entry.name == "main" => {
            let invocations: u32 = entry.workgroup_size.iter().product();
            expect(invocations <= MAX_INVOCATIONS, format!("a workgroup has {invocations} invocations"));
        }
        entries => expect(false, format!("{} entry points; one, main, is expected", entries.len())),
    }
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).unwrap();
    let mut storage = Vec::new();
    let mut workgroup_bytes = 0;
    let mut uniforms = 0;
    for (_, global) in module.global_variables.iter() {
        let size = layouter[global.ty].size;
        match global.space {
            AddressSpace::Storage { access } => {
                let binding = global.binding.map_or(u32::MAX, |place| place.binding);
                storage.push((binding, access.contains(StorageAccess::STORE)));
            }
            AddressSpace::WorkGroup => workgroup_bytes += size,
            AddressSpace::Uniform => {
                uniforms += 1;
                expect(size <= MAX_UNIFORM_BYTES, format!("the parameters take {size} bytes"));
                let rust = spec.uniform;
                let bytes = rust.size;
                expect(
                    size as usize == bytes,
                    format!("the parameters have {size} bytes in WGSL, but {bytes} in Rust"),
                );
                let wgsl = &module.types[global.ty];
                let name = wgsl.name.as_deref().unwrap_or_default();
                expect(name == rust.name, format!("the parameters are {name} in WGSL, but {} in Rust", rust.name));
                let members: Vec<_> = rust.members.to_vec();
                let found = members_of(&module, wgsl);
                expect(found == members, format!("the parameters are {found:?} in WGSL, but {members:?} in Rust"));
                expect(
                    global.binding.is_some_and(|place| place.binding == 0),
                    "the parameters are not binding 0".into(),
                );
            }
            _ => {}
        }
    }
    storage.sort_unstable();
    let table: Vec<(u32, bool)> =
        (1..).zip(spec.storage.iter().map(|&access| access == isoflat::engine::gpu::Access::Write)).collect();
    expect(
        storage == table,
        format!("the storage buffers (binding, writable) are {storage:?}, but the table has {table:?}"),
    );
    expect(storage.len() <= MAX_STORAGE_BUFFERS, format!("{} storage buffers", storage.len()));
    expect(workgroup_bytes <= MAX_WORKGROUP_BYTES, format!("{workgroup_bytes} bytes of workgroup memory"));
    expect(uniforms == 1, format!("{uniforms} uniforms; one is expected"));
    faults
}

#[test]
fn shaders_are_valid_and_in_the_table() {
    let mut on_disk = BTreeSet::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders"), "", &mut on_disk);
    let mut in_table: BTreeSet<String> = Kernel::ALL.iter().map(|kernel| kernel.spec().path.to_string()).collect();
    in_table.extend(SHARED_SOURCES.iter().map(|name| format!("shared/{name}")));

    let mut report: Vec<String> = Vec::new();
    report.extend(on_disk.difference(&in_table).map(|path| format!("{path}: on disk, but not in the table")));
    report.extend(in_table.difference(&on_disk).map(|path| format!("{path}: in the table, but not on disk")));
    for &kernel in Kernel::ALL {
        report.extend(faults(kernel).into_iter().map(|fault| format!("{}: {fault}", kernel.spec().label)));
    }
    assert!(report.is_empty(), "{} faults\n{}", report.len(), report.join("\n"));
}
