//! The manifests that the command line names.

use super::Input;
use super::files::{self, File};
use crate::expose::Exposure;
use crate::finding::{self, Finding};
use crate::manifests;
use crate::rule::Rule;

pub(super) use crate::manifests::read;

/// Reads the manifests, exposes their clusters, and gives each finding its line.
pub(super) fn load(input: &Input) -> (Vec<File>, Exposure) {
    let mut found = Vec::new();
    let files = files::read(&input.files, &mut found);
    let config = input.config.as_ref().map(|path| files::read(std::slice::from_ref(path), &mut found));
    let mut exposure = manifests::expose_all(&files, config.as_deref(), found).exposure;
    if exposure.known.is_empty() && !finding::any_error(&exposure.findings) {
        let names: Vec<String> = input.files.iter().map(|path| format!("`{}`", path.display())).collect();
        exposure.findings.push(Finding::error(Rule::NothingToDo, format!("there is no ValkeyCluster in {}", names.join(", "))));
    }
    (files, exposure)
}
