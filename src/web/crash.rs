//! What a crash leaves behind for the package's JavaScript: it reads these when the module can no longer be called.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasm_bindgen::prelude::*;

thread_local! {
    /// What the last panic said, and a 0 behind it.
    static PANIC: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Size of the last allocation that failed; 0 if none has.
static FAILED_ALLOCATION: AtomicUsize = AtomicUsize::new(0);

/// Runs when the module is loaded: a panic, which would be a fault of isoflat, then says where it happened.
#[wasm_bindgen(start)]
fn start() {
    keep_panics(true);
}

/// `crash()`: ends the module as a fault of isoflat would.
#[wasm_bindgen(skip_typescript)]
pub fn crash() {
    panic!("crash() was called");
}

/// Keeps what a panic says, and prints it where there is a console.
pub fn keep_panics(has_console: bool) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(move |fault| {
            // No panic inside a panic: it would say nothing at all.
            PANIC.with(|text| {
                if let Ok(mut text) = text.try_borrow_mut() {
                    *text = format!("{fault}\0").into_bytes();
                }
            });
            if has_console {
                console_error_panic_hook::hook(fault);
            }
        }));
    });
}

/// Where the last panic's text is, which ends with a 0.
#[allow(unsafe_code)] // An exported name; nothing else is unsafe about it.
#[unsafe(no_mangle)]
pub extern "C" fn isoflat_last_panic() -> usize {
    static NOTHING: u8 = 0;
    PANIC.with(|text| match text.try_borrow() {
        Ok(text) if !text.is_empty() => text.as_ptr() as usize,
        _ => &raw const NOTHING as usize,
    })
}

/// Size of the last allocation that failed.
#[allow(unsafe_code)] // As above.
#[unsafe(no_mangle)]
pub extern "C" fn isoflat_failed_allocation() -> usize {
    FAILED_ALLOCATION.load(Ordering::Relaxed)
}

/// The system's allocator, which keeps in mind what it could not give.
struct Noting;

#[global_allocator]
static ALLOCATOR: Noting = Noting;

fn noted(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        FAILED_ALLOCATION.store(size, Ordering::Relaxed);
    }
    pointer
}

// SAFETY: every call is the system allocator's, with the arguments that came in.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        noted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        noted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        noted(unsafe { System.realloc(pointer, layout, size) }, size)
    }
}
