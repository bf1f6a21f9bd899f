//! The function for a web page.

use wasm_bindgen::prelude::wasm_bindgen;

/// Runs.
#[wasm_bindgen]
pub fn run(text: &str) -> String {
    expose_valkey::run(text).text.to_string()
}
