//! The manifests that the command line names.

use std::path::Path;

use super::Input;
use super::files::{self, File};
use crate::expose::Exposure;
use crate::finding::{self, Finding};
use crate::krm::manifests::documents;
use crate::manifests;
use crate::object::Object;
use crate::own::Own;
use crate::rule::Rule;
use crate::validate::server::ADDED_ENV;

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
    load_beside(input, None)
}

/// The same; what was rendered before may be among the manifests, and is no source of clusters.
pub(super) fn load_beside(input: &Input, rendered: Option<&Path>) -> Loaded {
    let mut found = Vec::new();
    let mut files = files::read(&input.files, &mut found);
    let earlier = files.iter().position(|file| rendered.is_some_and(|path| files::same(path, Path::new(&file.name))));
    if let Some(earlier) = earlier {
        found.extend(lost(&files, earlier));
        files.iter_mut().skip(earlier).take(1).for_each(|file| file.text = without_clusters(&file.text));
    }
    let config_files = input.config.as_ref().map(|path| files::read(std::slice::from_ref(path), &mut found));
    let manifests::Exposed { mut exposure, config, .. } = manifests::expose_all(&files, config_files.as_deref(), found);
    if exposure.known.is_empty() && !finding::any_error(&exposure.findings) {
        let names: Vec<String> = input.files.iter().map(|path| format!("`{}`", path.display())).collect();
        exposure.findings.push(Finding::error(Rule::NothingToDo, format!("there is no ValkeyCluster in {}", names.join(", "))));
    }
    Loaded { files, config, exposure }
}

/// What would be lost if `render` wrote to this file: whatever in it is neither an output of an earlier run nor, as clusters whose
/// servers announce themselves are, a copy of what another file has.
fn lost(files: &[File], rendered: usize) -> Option<Finding> {
    let file = files.get(rendered)?;
    let mut unreadable = Vec::new();
    let (objects, _) = read(&[File { explicit: true, ..file.clone() }], &mut unreadable);
    let others: Vec<File> = files.iter().enumerate().filter(|(index, _)| *index != rendered).map(|(_, file)| file.clone()).collect();
    let (others, _) = read(&others, &mut Vec::new());
    let is_safe = |object: &&Object| {
        let is_copy = object.reference.kind == "ValkeyCluster" && others.iter().any(|other| other.reference == object.reference);
        object.value.is_null() || Own::new(object).is_some() || is_copy
    };
    let first = match objects.iter().find(|object| !is_safe(object)) {
        Some(object) => object.reference.to_string(),
        None if !unreadable.is_empty() => "text that cannot be read".to_owned(),
        None => return None,
    };
    let message =
        format!("`--output` is `{}`, one of the manifests, and what is in it would be lost: {first}; write to another file", file.name);
    Some(Finding::error(Rule::File, message))
}

/// A file of ours without the clusters that it has because their servers announce themselves.
fn without_clusters(text: &str) -> String {
    let is_source = |document: &&str| !(document.contains("kind: ValkeyCluster") && document.contains(ADDED_ENV));
    documents(text).into_iter().filter_map(|range| text.get(range)).filter(is_source).collect()
}
