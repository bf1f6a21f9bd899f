//! An object that was read because it may concern us.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::finding::{FileRef, Finding, ObjectRef};

/// Data of an object, and who it is.
#[derive(Clone, Debug)]
pub struct Object {
    /// The data.
    pub value: Value,
    /// Its identity, for findings.
    pub reference: ObjectRef,
    /// Its file, if annotations or the command line name one.
    pub file: Option<FileRef>,
    /// Its place in the input, from 0.
    pub order: usize,
}

impl Object {
    /// Takes an object's data; identity comes from the usual fields, empty where they are missing.
    #[must_use]
    pub fn new(value: Value, file: Option<FileRef>, order: usize) -> Self {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let reference = ObjectRef {
            api_version: text("/apiVersion").unwrap_or_default(),
            kind: text("/kind").unwrap_or_default(),
            namespace: text("/metadata/namespace").filter(|namespace| !namespace.is_empty()),
            name: text("/metadata/name").unwrap_or_default(),
        };
        Object { value, reference, file, order }
    }

    /// API group, empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.reference.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Whether others may call it by this name although it is not its name any more: Kustomize changes names first, and the
    /// references to them when all functions have run.
    fn was_called(&self, name: &str) -> bool {
        let names = self.value.pointer("/metadata/annotations/internal.config.kubernetes.io~1previousNames").and_then(Value::as_str);
        names.is_some_and(|names| names.split(',').any(|before| before == name))
    }

    /// A label's value.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.value.get("metadata")?.get("labels")?.get(key)?.as_str()
    }

    /// Labels that are strings.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<String, String> {
        let labels = self.value.pointer("/metadata/labels").and_then(Value::as_object);
        labels.into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    }

    /// A finding about this object.
    #[must_use]
    pub fn finding(&self, finding: Finding) -> Finding {
        finding.of(self.reference.clone(), self.file.clone(), self.order)
    }
}

/// The Gateway that goes by a name, if it is in the list.
pub(crate) fn find_gateway<'o>(objects: &'o [Object], namespace: Option<&str>, name: &str) -> Option<&'o Object> {
    let is_gateway = |o: &&Object| o.group() == "gateway.networking.k8s.io" && o.reference.kind == "Gateway";
    let gateways = || objects.iter().filter(is_gateway).filter(|o| o.reference.namespace.as_deref() == namespace);
    gateways().find(|o| o.reference.name == name).or_else(|| gateways().find(|o| o.was_called(name)))
}
