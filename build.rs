//! Two things the compiler cannot be told otherwise: which parts of the crate there are, and shaders without what people alone read.

use std::fs;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(computes)");
    let set = |name: &str| std::env::var_os(name);
    // The module for files, which the npm package loads beside the one that computes, is this crate without all that computes.
    let is_wasm = set("CARGO_CFG_TARGET_ARCH").is_some_and(|arch| arch == "wasm32");
    if !(is_wasm && set("CARGO_FEATURE_FILES").is_some()) {
        println!("cargo::rustc-cfg=computes");
    }
    println!("cargo::rerun-if-changed=shaders");
    let out = set("OUT_DIR").expect("Cargo sets OUT_DIR");
    copy_shaders(Path::new("shaders"), &Path::new(&out).join("shaders"));
}

/// A folder of WGSL without comments and indentation, which browsers would fetch: they are the larger part.
fn copy_shaders(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder for shaders");
    for entry in fs::read_dir(from).expect("the folder of shaders") {
        let path = entry.expect("a shader").path();
        let copy = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_shaders(&path, &copy);
        } else {
            fs::write(copy, code_of(&fs::read_to_string(&path).expect("a shader's text"))).expect("a shader's copy");
        }
    }
}

/// The lines with something in them, comments apart: those that begin with `//:` are for `src/engine/gpu/template.rs`.
fn code_of(text: &str) -> String {
    let code = |line: &str| match line.trim() {
        line if line.starts_with("//:") => line.to_owned(),
        line => line.split("//").next().unwrap_or_default().trim_end().to_owned(),
    };
    text.lines().map(code).filter(|line| !line.is_empty()).map(|line| line + "\n").collect()
}
