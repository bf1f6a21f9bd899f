//! Objects of somebody else where ours would have to be.

use serde_json::Value;

use crate::finding::Finding;
use crate::object::Object;
use crate::render::{CLUSTER_LABEL, EXTENSION_LABEL, EXTENSION_SHARD_LABEL, SHARD_LABEL};
use crate::rule::Rule;

/// `object` has the name of `value`, which is ours, and is none of ours.
pub fn foreign(object: &Object, value: &Value) -> Finding {
    let has = |label: &str| value.pointer("/metadata/labels").is_some_and(|labels| labels.get(label).is_some());
    let (cluster, shard) = if has(EXTENSION_SHARD_LABEL) { (EXTENSION_LABEL, EXTENSION_SHARD_LABEL) } else { (CLUSTER_LABEL, SHARD_LABEL) };
    let message = format!(
        "this object has a name that is ours, but not the labels `{cluster}` and `{shard}` of an earlier output: rename it, or remove it if it is an old output"
    );
    object.finding(Finding::error(Rule::ForeignObject, message).at("metadata.name").current(object.reference.name.clone()))
}
