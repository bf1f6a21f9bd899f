//! The function in kpt's WebAssembly runtimes.
//!
//! kpt has two of them, one on wasmtime and one on Node.js, and both load what Go's compiler makes for `GOOS=js`. This module
//! speaks the same: it leaves two functions with the host (`run`), and is woken up when one is called (`resume`).
//! `docs/wasm.md` has the rules of the hosts.

#[cfg(any(test, target_arch = "wasm32"))]
mod answer;
#[cfg(target_arch = "wasm32")]
mod go;

#[cfg(target_arch = "wasm32")]
mod exports {
    use std::cell::Cell;

    use crate::answer::{self, Host};
    use crate::go::{self, Ref};

    /// What the host calls with the list, and then, if the answer was none, to learn why. The numbers come back in the events.
    const FUNCTIONS: [(&str, f64); 2] = [("processResourceList", 1.0), ("processResourceListErrors", 2.0)];

    thread_local! {
        /// Why the last run failed; a panic leaves its message here too.
        static WHY: Cell<String> = const { Cell::new(String::new()) };
        static HOST: Cell<Host> = const { Cell::new(Host::Wasmtime) };
    }

    /// The host's first call.
    // SAFETY: no other symbol of the module has this name.
    #[allow(unsafe_code)]
    #[unsafe(no_mangle)]
    pub(crate) extern "C" fn run(argc: i32, argv: i32) {
        let host = if go::first_argument(argc, argv) == b"js" { Host::Node } else { Host::Wasmtime };
        HOST.set(host);
        go::start(host == Host::Node);
        std::panic::set_hook(Box::new(move |panic| {
            let why = answer::panicked(&panic.to_string());
            if host == Host::Node {
                go::write_to_stderr(&format!("{why}\n"));
            }
            WHY.set(why);
        }));
        for (name, id) in FUNCTIONS {
            let function = go::call(Ref::GO, "_makeFuncWrapper", Ref::number(id));
            go::set(Ref::GLOBAL, name, function);
        }
    }

    /// A function of ours was called: the event says which.
    // SAFETY: no other symbol of the module has this name.
    #[allow(unsafe_code)]
    #[unsafe(no_mangle)]
    pub(crate) extern "C" fn resume() {
        let event = go::get(Ref::GO, "_pendingEvent");
        go::set(Ref::GO, "_pendingEvent", Ref::NULL);
        let [(_, process), _] = FUNCTIONS;
        let result = if go::get(event, "id") == Ref::number(process) { process_list(event) } else { Err(why()) };
        let result = result.unwrap_or_else(|text| go::string(&[&text]).unwrap_or(Ref::NULL));
        go::set(event, "result", result);
    }

    /// Where the host reads the stack pointer: it writes results of calls relative to it.
    // SAFETY: no other symbol of the module has this name.
    #[allow(unsafe_code)]
    #[unsafe(no_mangle)]
    pub(crate) extern "C" fn getsp() -> i32 {
        go::stack_pointer()
    }

    /// The list with what exposes its clusters; or, kept for the second call, why there is none.
    fn process_list(event: Ref) -> Result<Ref, String> {
        // Should the module end without another word, this was it.
        WHY.set(answer::STOPPED.to_owned());
        let list = answer::of(go::text(go::index(go::get(event, "args"), 0)), |pieces| go::string(pieces));
        list.map_err(|why| {
            WHY.set(why);
            answer::FAILED.to_owned()
        })
    }

    fn why() -> String {
        answer::as_message(&WHY.take(), HOST.get())
    }
}
