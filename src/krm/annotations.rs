//! The annotations by which kpt and kustomize keep track of files and objects.

use serde_json::Value;

use crate::finding::FileRef;

/// The two spellings of an object's file: today's and that of older tools.
pub const PATH: [&str; 2] = ["internal.config.kubernetes.io/path", "config.kubernetes.io/path"];
/// The two spellings of an object's place in its file.
pub const INDEX: [&str; 2] = ["internal.config.kubernetes.io/index", "config.kubernetes.io/index"];

/// What the file of a cluster's new objects is called, behind the cluster's name.
pub const FILE_SUFFIX: &str = "-external-access.yaml";

/// Whether an annotation is a runner's bookkeeping about this very object: kept when the object is regenerated, never
/// copied to another.
#[must_use]
pub fn is_bookkeeping(key: &str) -> bool {
    key.starts_with("internal.config.kubernetes.io/")
        || key.starts_with("internal.kpt.dev/")
        || key == "config.k8s.io/id"
        || PATH.contains(&key)
        || INDEX.contains(&key)
}

/// An annotation's text.
#[must_use]
pub fn get<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("annotations")?.get(key)?.as_str()
}

/// The file that an object's annotations name.
#[must_use]
pub fn file(object: &Value) -> Option<FileRef> {
    let path = PATH.iter().find_map(|key| get(object, key))?;
    let index = INDEX.iter().find_map(|key| get(object, key)).and_then(|index| index.parse().ok()).unwrap_or(0);
    Some(FileRef { path: path.to_owned(), index, line: None })
}
