//! How a program that Go compiled for `GOOS=js` talks with its host: imports of module `go`, and values of the host by number.
//!
//! Every import takes the address of a frame: arguments lie in it from the second word on, the first being Go's return address.
//! Only imports that every host has are used. The wasmtime host sees the memory as large as it was before `run`: whatever it
//! shall read or write must lie in a static or on the stack, never on the heap.
#![allow(unsafe_code)] // The imports, and the memory that they share with the host: nothing else of the module.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::Relaxed};

use crate::answer::{LIMIT, Unreadable};

/// A value of the host: a number, or a number that stands for something that the host holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ref(u64);

impl Ref {
    /// Every value but a number is one of the many bit patterns of "not a number".
    const HELD: u64 = 0x7ff8_0000 << 32;
    const OBJECT: u64 = 1 << 32;

    pub(crate) const NULL: Ref = Ref(Self::HELD | 2);
    pub(crate) const GLOBAL: Ref = Ref(Self::HELD | Self::OBJECT | 5);
    /// The host's side of this program.
    pub(crate) const GO: Ref = Ref(Self::HELD | Self::OBJECT | 6);

    /// Not zero: the host writes that in another way.
    pub(crate) const fn number(number: f64) -> Ref {
        Ref(number.to_bits())
    }
}

#[repr(C, align(8))]
struct Frame([u64; 9]);

#[link(wasm_import_module = "go")]
unsafe extern "C" {
    #[link_name = "syscall/js.valueGet"]
    fn value_get(frame: *mut Frame);
    #[link_name = "syscall/js.valueSet"]
    fn value_set(frame: *mut Frame);
    #[link_name = "syscall/js.valueIndex"]
    fn value_index(frame: *mut Frame);
    #[link_name = "syscall/js.valueCall"]
    fn value_call(frame: *mut Frame);
    #[link_name = "syscall/js.stringVal"]
    fn string_val(frame: *mut Frame);
    #[link_name = "syscall/js.valuePrepareString"]
    fn value_prepare_string(frame: *mut Frame);
    #[link_name = "syscall/js.valueLoadString"]
    fn value_load_string(frame: *mut Frame);
    #[link_name = "runtime.wasmWrite"]
    fn wasm_write(frame: *mut Frame);
    #[link_name = "runtime.resetMemoryDataView"]
    fn reset_memory_data_view(frame: *mut Frame);
}

/// Where texts are handed over. Pages that were never touched cost nothing, in the file or in memory.
struct Exchange(UnsafeCell<[u8; LIMIT]>);

// SAFETY: the module has one thread, as no host of it has another to run it on.
unsafe impl Sync for Exchange {}

static EXCHANGE: Exchange = Exchange(UnsafeCell::new([0; LIMIT]));

/// Address of the frame that the host works on.
static FRAME: AtomicI32 = AtomicI32::new(0);
/// The host reads the memory through a view that is lost when the memory grows (Node.js).
static HAS_VIEW: AtomicBool = AtomicBool::new(false);
/// Pages of the memory when the view was made.
static PAGES: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn start(has_view: bool) {
    HAS_VIEW.store(has_view, Relaxed);
}

pub(crate) fn stack_pointer() -> i32 {
    FRAME.load(Relaxed)
}

/// The first of the arguments that the host wrote into the memory, or nothing.
pub(crate) fn first_argument(argc: i32, argv: i32) -> &'static [u8] {
    if argc < 1 {
        return b"";
    }
    // SAFETY: before its first call the host writes `argc` addresses of texts to `argv`, each text ending in a zero; both lie
    // below 12288, at the far end of a stack that is not deep yet, and are read here before it gets deeper.
    unsafe {
        let text = std::ptr::with_exposed_provenance::<u64>(argv as usize).read_unaligned();
        std::ffi::CStr::from_ptr(std::ptr::with_exposed_provenance(text as usize)).to_bytes()
    }
}

pub(crate) fn get(value: Ref, property: &str) -> Ref {
    let (at, len) = address(property);
    Ref(import(value_get, [0, value.0, at, len, 0, 0, 0, 0, 0])[4])
}

pub(crate) fn set(value: Ref, property: &str, to: Ref) {
    let (at, len) = address(property);
    import(value_set, [0, value.0, at, len, to.0, 0, 0, 0, 0]);
}

pub(crate) fn index(value: Ref, index: u64) -> Ref {
    Ref(import(value_index, [0, value.0, index, 0, 0, 0, 0, 0, 0])[3])
}

pub(crate) fn call(value: Ref, method: &str, argument: Ref) -> Ref {
    let (at, len) = address(method);
    let arguments = [argument.0];
    Ref(import(value_call, [0, value.0, at, len, arguments.as_ptr().expose_provenance() as u64, 1, 1, 0, 0])[7])
}

/// A text of the host.
pub(crate) fn text(value: Ref) -> Result<String, Unreadable> {
    let prepared = import(value_prepare_string, [0, value.0, 0, 0, 0, 0, 0, 0, 0]);
    let (held, size) = (prepared[2], prepared[3]);
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if size > LIMIT {
        return Err(Unreadable::TooLarge(size));
    }
    let exchange = EXCHANGE.0.get().cast::<u8>();
    import(value_load_string, [0, held, exchange.expose_provenance() as u64, size as u64, size as u64, 0, 0, 0, 0]);
    // SAFETY: `size` is within the buffer, and nothing writes to it while the slice lives: it is copied at once.
    let bytes = unsafe { std::slice::from_raw_parts(exchange, size) };
    String::from_utf8(bytes.to_vec()).map_err(|_| Unreadable::NotUtf8)
}

/// A text as a value of the host; nothing if it is larger than the buffer.
pub(crate) fn string(pieces: &[&str]) -> Option<Ref> {
    let exchange = EXCHANGE.0.get().cast::<u8>();
    let mut end = 0_usize;
    for piece in pieces {
        let start = end;
        end = end.checked_add(piece.len()).filter(|end| *end <= LIMIT)?;
        // SAFETY: `start..end` is within the buffer, to which nothing else refers: pieces are text of the program's own.
        unsafe { exchange.add(start).copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
    }
    Some(Ref(import(string_val, [0, exchange.expose_provenance() as u64, end as u64, 0, 0, 0, 0, 0, 0])[3]))
}

/// Only for a host with a view, which reads all of the memory.
pub(crate) fn write_to_stderr(text: &str) {
    let (at, len) = address(text);
    import(wasm_write, [0, 2, at, len, 0, 0, 0, 0, 0]);
}

fn address(text: &str) -> (u64, u64) {
    (text.as_ptr().expose_provenance() as u64, text.len() as u64)
}

/// Calls the host with a frame, and returns what became of it.
fn import(function: unsafe extern "C" fn(*mut Frame), words: [u64; 9]) -> [u64; 9] {
    let pages = core::arch::wasm32::memory_size(0);
    if PAGES.swap(pages, Relaxed) != pages && HAS_VIEW.load(Relaxed) {
        with_frame(reset_memory_data_view, [0; 9]);
    }
    with_frame(function, words)
}

fn with_frame(function: unsafe extern "C" fn(*mut Frame), words: [u64; 9]) -> [u64; 9] {
    let mut frame = Frame(words);
    let at = &raw mut frame;
    let before = FRAME.swap(at.expose_provenance() as i32, Relaxed);
    // SAFETY: the host writes to the frame, within its nine words, and to no other memory but what the frame names.
    unsafe { function(at) };
    FRAME.store(before, Relaxed);
    frame.0
}
