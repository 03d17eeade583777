//! The program `isoflat`: the door of `isoflat::cli`. It reads and writes files, has the terminal, and hears Ctrl-C.

#[cfg(not(target_arch = "wasm32"))]
mod files;
#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(not(target_arch = "wasm32"))]
mod terminal;
#[cfg(not(target_arch = "wasm32"))]
mod tunings;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    native::main()
}

/// The package's command stands in the program's place there.
#[cfg(target_arch = "wasm32")]
fn main() {}
