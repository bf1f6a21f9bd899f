//! The manifests that the command line names.

use super::Input;
use super::files::{self, File};
use crate::expose::Exposure;
use crate::finding::{self, Finding};
use crate::manifests;
use crate::object::Object;
use crate::rule::Rule;

pub(super) use crate::manifests::read;

/// Manifests that were read, and what exposes their clusters.
pub(super) struct Loaded {
    pub(super) files: Vec<File>,
    /// The functionConfig, given or found.
    pub(super) config: Option<Object>,
    pub(super) exposure: Exposure,
}

/// Reads the manifests, exposes their clusters, and gives each finding its line.
pub(super) fn load(input: &Input) -> Loaded {
    let mut found = Vec::new();
    let files = files::read(&input.files, &mut found);
    let config_files = input.config.as_ref().map(|path| files::read(std::slice::from_ref(path), &mut found));
    let manifests::Exposed { mut exposure, config, .. } = manifests::expose_all(&files, config_files.as_deref(), found);
    if exposure.known.is_empty() && !finding::any_error(&exposure.findings) {
        let names: Vec<String> = input.files.iter().map(|path| format!("`{}`", path.display())).collect();
        exposure.findings.push(Finding::error(Rule::NothingToDo, format!("there is no ValkeyCluster in {}", names.join(", "))));
    }
    Loaded { files, config, exposure }
}
