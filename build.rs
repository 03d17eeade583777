//! The module for files, which the npm package loads beside the one that computes, is this crate without all that computes.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(computes)");
    let set = |name: &str| std::env::var_os(name);
    let is_wasm = set("CARGO_CFG_TARGET_ARCH").is_some_and(|arch| arch == "wasm32");
    if !(is_wasm && set("CARGO_FEATURE_FILES").is_some()) {
        println!("cargo::rustc-cfg=computes");
    }
}
