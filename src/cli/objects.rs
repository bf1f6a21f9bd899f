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
    if let Some(rendered) = rendered {
        let (mut earlier, sources): (Vec<File>, Vec<File>) =
            files.into_iter().partition(|file| files::same(rendered, Path::new(&file.name)));
        found.extend(lost(&earlier, &sources));
        earlier.iter_mut().for_each(|file| file.text = without_clusters(&file.text));
        files = sources;
        files.append(&mut earlier);
    }
    let config_files = input.config.as_ref().map(|path| files::read(std::slice::from_ref(path), &mut found));
    let manifests::Exposed { mut exposure, config, .. } = manifests::expose_all(&files, config_files.as_deref(), found);
    if exposure.known.is_empty() && !finding::any_error(&exposure.findings) {
        let names: Vec<String> = input.files.iter().map(|path| format!("`{}`", path.display())).collect();
        exposure.findings.push(Finding::error(Rule::NothingToDo, format!("there is no ValkeyCluster in {}", names.join(", "))));
    }
    Loaded { files, config, exposure }
}

/// What would be lost if `render` wrote to a file that is there: whatever in it is neither an output of an earlier run nor, as
/// clusters whose servers announce themselves are, a copy of what one of the sources has.
fn lost(earlier: &[File], sources: &[File]) -> Option<Finding> {
    let file = earlier.first()?;
    let mut unreadable = Vec::new();
    let (objects, _) = read(&[File { explicit: true, ..file.clone() }], &mut unreadable);
    let mut others = objects.iter().filter(|object| !object.value.is_null() && Own::new(object).is_none()).peekable();
    let originals = if others.peek().is_some() { read(sources, &mut Vec::new()).0 } else { Vec::new() };
    let is_copy = |object: &Object| {
        object.reference.kind == "ValkeyCluster" && originals.iter().any(|original| original.reference == object.reference)
    };
    let first = match others.find(|object| !is_copy(object)) {
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
