//! What is wrong or worth knowing, for the person who must act: a rule, an object, a field, and what to write instead.
//!
//! The shape is that of a KRM function's result
//! (<https://github.com/kubernetes-sigs/kustomize/blob/master/cmd/config/docs/api-conventions/functions-spec.md>).

use std::fmt;

use serde_json::{Map, Value, json};

use crate::rule::Rule;

/// How much a finding weighs. An error means exit code 1 and no output of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is rendered until this is put right.
    Error,
    /// Rendered, but likely not what was meant.
    Warning,
    /// Something was done that the user should know of.
    Info,
}

impl Severity {
    /// The word that KRM results use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// The object that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// `apiVersion` as written.
    pub api_version: String,
    /// `kind` as written.
    pub kind: String,
    /// `metadata.namespace`, where there is one.
    pub namespace: Option<String>,
    /// `metadata.name`, or nothing if the object has none.
    pub name: String,
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/", self.api_version, self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

/// The file that an object came from: kpt's and kustomize's path and index annotations, or a file of the command line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileRef {
    /// Path, relative to the package or to the working directory.
    pub path: String,
    /// Which document of the file, from 0.
    pub index: u64,
    /// Line of the object in that file, from 1, where it is known.
    pub line: Option<usize>,
}

/// One thing to tell the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Stable identifier; `docs/errors.md` has a heading for each.
    pub rule: Rule,
    /// What it means for the exit code.
    pub severity: Severity,
    /// The object, if it is about one.
    pub object: Option<ObjectRef>,
    /// Path of the field, as in `spec.externalAccess.domain`.
    pub field: Option<String>,
    /// The value that the field has.
    pub current: Option<Value>,
    /// A value that works.
    pub proposed: Option<Value>,
    /// Where the object lies.
    pub file: Option<FileRef>,
    /// In plain words: what is wrong, and what to write instead. Lower case, no full stop.
    pub message: String,
    /// Place of the object in the input, for the order of findings.
    pub order: usize,
}

impl Finding {
    fn new(rule: Rule, severity: Severity, message: impl Into<String>) -> Self {
        Finding {
            rule,
            severity,
            object: None,
            field: None,
            current: None,
            proposed: None,
            file: None,
            message: message.into(),
            order: usize::MAX,
        }
    }

    /// A finding that stops the rendering.
    #[must_use]
    pub fn error(rule: Rule, message: impl Into<String>) -> Self {
        Finding::new(rule, Severity::Error, message)
    }

    /// A finding that does not stop the rendering.
    #[must_use]
    pub fn warning(rule: Rule, message: impl Into<String>) -> Self {
        Finding::new(rule, Severity::Warning, message)
    }

    /// Something that was done.
    #[must_use]
    pub fn info(rule: Rule, message: impl Into<String>) -> Self {
        Finding::new(rule, Severity::Info, message)
    }

    /// Names the field.
    #[must_use]
    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Shows the value that the field has.
    #[must_use]
    pub fn current(mut self, value: impl Into<Value>) -> Self {
        self.current = Some(value.into());
        self
    }

    /// Proposes a value that works.
    #[must_use]
    pub fn proposed(mut self, value: impl Into<Value>) -> Self {
        self.proposed = Some(value.into());
        self
    }

    /// Names the object, its file, and its place in the input.
    #[must_use]
    pub fn of(mut self, object: ObjectRef, file: Option<FileRef>, order: usize) -> Self {
        self.object = Some(object);
        self.file = file;
        self.order = order;
        self
    }

    /// As an entry of a ResourceList's `results`.
    #[must_use]
    pub fn to_result(&self) -> Value {
        let mut result = Map::new();
        result.insert("message".into(), json!(self.message));
        result.insert("severity".into(), json!(self.severity.as_str()));
        if let Some(object) = &self.object {
            let mut reference = Map::new();
            reference.insert("apiVersion".into(), json!(object.api_version));
            reference.insert("kind".into(), json!(object.kind));
            reference.insert("name".into(), json!(object.name));
            if let Some(namespace) = &object.namespace {
                reference.insert("namespace".into(), json!(namespace));
            }
            result.insert("resourceRef".into(), reference.into());
        }
        if let Some(path) = &self.field {
            let mut field = Map::new();
            field.insert("path".into(), json!(path));
            if let Some(value) = &self.current {
                field.insert("currentValue".into(), value.clone());
            }
            if let Some(value) = &self.proposed {
                field.insert("proposedValue".into(), value.clone());
            }
            result.insert("field".into(), field.into());
        }
        if let Some(file) = &self.file {
            result.insert("file".into(), json!({"path": file.path, "index": file.index}));
        }
        result.insert("tags".into(), json!({"rule": self.rule.id()}));
        result.into()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.severity.as_str())?;
        if let Some(object) = &self.object {
            write!(f, " {object}")?;
        }
        if let Some(field) = &self.field {
            write!(f, " {field}")?;
        }
        if self.object.is_some() || self.field.is_some() {
            f.write_str(":")?;
        }
        write!(f, " {}", self.message)?;
        if let Some(file) = &self.file {
            match file.line {
                Some(line) => write!(f, " ({}:{line})", file.path)?,
                None => write!(f, " ({})", file.path)?,
            }
        }
        Ok(())
    }
}

/// Puts findings in the order in which they are shown: by object as they lie in the input, errors first in each.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| (finding.order, finding.severity));
}

/// Whether any finding is an error.
#[must_use]
pub fn any_error(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
