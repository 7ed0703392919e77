//! The functions that xdslint calls. Only the macro [`plugin!`](crate::plugin) uses this.

use std::alloc::{Layout, alloc as allocate, dealloc, handle_alloc_error};
use std::collections::BTreeSet;
use std::ptr::NonNull;
use std::slice;

use prost::Message;

use crate::abi;
use crate::graph::Snapshot;
use crate::rule::{Pass, Rule};

/// The version of the interface between xdslint and a plugin.
pub const VERSION: i32 = 1;

/// Turns a function `fn() -> Vec<Rule>` into a plugin.
#[macro_export]
macro_rules! plugin {
    ($rules:path) => {
        const _: fn() -> ::std::vec::Vec<$crate::Rule> = $rules;

        #[cfg(target_family = "wasm")]
        const _: () = {
            use $crate::guest;

            #[unsafe(no_mangle)]
            extern "C" fn xdslint_version() -> i32 {
                guest::VERSION
            }

            #[unsafe(no_mangle)]
            extern "C" fn xdslint_alloc(size: usize) -> *mut u8 {
                guest::alloc(size)
            }

            /// # Safety
            ///
            /// The pointer is from `xdslint_alloc` or an answer, and the size is that of the allocation.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn xdslint_free(at: *mut u8, size: usize) {
                unsafe { guest::free(at, size) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn xdslint_describe() -> u64 {
                guest::answer(guest::describe($rules()))
            }

            /// # Safety
            ///
            /// Pointer and size are those of a snapshot that the host has written.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn xdslint_check(at: *const u8, size: usize) -> u64 {
                guest::answer(guest::check($rules(), unsafe { guest::sent(at, size) }))
            }
        };
    };
}

fn layout(size: usize) -> Layout {
    Layout::array::<u8>(size).expect("more than half of all memory")
}

pub fn alloc(size: usize) -> *mut u8 {
    if size == 0 {
        return NonNull::dangling().as_ptr();
    }
    let at = unsafe { allocate(layout(size)) };
    if at.is_null() {
        handle_alloc_error(layout(size));
    }
    at
}

/// # Safety
///
/// The pointer is from `alloc` or `answer`, with this size.
pub unsafe fn free(at: *mut u8, size: usize) {
    if size > 0 {
        unsafe { dealloc(at, layout(size)) }
    }
}

/// # Safety
///
/// The memory is readable for as long as the result is used.
pub unsafe fn sent<'a>(at: *const u8, size: usize) -> &'a [u8] {
    unsafe { slice::from_raw_parts(at, size) }
}

/// Passes bytes to the host, which frees them: pointer << 32 | length.
pub fn answer(bytes: Vec<u8>) -> u64 {
    let bytes = Box::leak(bytes.into_boxed_slice());
    (bytes.as_ptr() as u64) << 32 | bytes.len() as u64
}

pub fn describe(rules: Vec<Rule>) -> Vec<u8> {
    tell_panics();
    let types: BTreeSet<&str> = rules.iter().flat_map(|rule| rule.check.types.iter().copied()).collect();
    abi::Description { rules: rules.iter().map(Rule::describe).collect(), types: types.into_iter().map(str::to_owned).collect() }.encode_to_vec()
}

pub fn check(rules: Vec<Rule>, sent: &[u8]) -> Vec<u8> {
    tell_panics();
    let sent = abi::Snapshot::decode(sent).expect("xdslint sent something that is not a snapshot");
    let runs: BTreeSet<String> = sent.rules.iter().cloned().collect();
    let snapshot = Snapshot::from(sent);
    let mut findings = vec![];
    for rule in rules.iter().filter(|rule| runs.contains(rule.id)) {
        (rule.check.run)(&mut Pass::new(&snapshot, rule, &mut findings));
    }
    abi::Findings { findings }.encode_to_vec()
}

/// Writes the message of a panic to standard error, so that xdslint can report it. Nothing else of WASI is used: the target wasm32-unknown-unknown has no
/// standard error.
#[cfg(target_family = "wasm")]
fn tell_panics() {
    #[repr(C)]
    struct Text {
        at: *const u8,
        size: usize,
    }

    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        fn fd_write(descriptor: i32, texts: *const Text, count: usize, written: *mut usize) -> i32;
    }

    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let message = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        let at = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
        let text = format!("{}{}\n", message.unwrap_or("panic"), at.unwrap_or_default());
        let mut written = 0;
        unsafe { fd_write(2, &Text { at: text.as_ptr(), size: text.len() }, 1, &mut written) };
    }));
}

#[cfg(not(target_family = "wasm"))]
fn tell_panics() {}
