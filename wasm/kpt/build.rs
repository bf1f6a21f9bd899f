//! kpt looks for the memory under the name that Go gives it.
#![allow(clippy::disallowed_methods)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--export-memory=mem");
    }
}
