//! Who owns a field, by `metadata.managedFields`: ours is ours to change, another's is left alone.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};

use crate::NAME;

/// Owners of one field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Owners {
    /// This controller applied it, at that time (RFC 3339, empty if the API server does not say).
    pub(super) ours: Option<Box<str>>,
    /// A manager that is not this controller has it too, or alone.
    pub(super) other: Option<Box<str>>,
}

/// Owners of the field `path`, in the subresource that it is written by (empty for the object itself).
///
/// An `Update` by our own name is another's too: only what was applied can be released.
pub(super) fn owners(meta: &ObjectMeta, subresource: &str, path: &[&str]) -> Owners {
    let mut owners = Owners::default();
    for entry in meta.managed_fields.iter().flatten() {
        if !holds(entry, path) {
            continue;
        }
        let manager = entry.manager.as_deref().unwrap_or("unknown");
        let applied_here = entry.operation.as_deref() == Some("Apply") && entry.subresource.as_deref().unwrap_or_default() == subresource;
        if manager == NAME && applied_here {
            owners.ours = Some(entry.time.as_ref().map(|time| time.0.to_string()).unwrap_or_default().into());
        } else {
            owners.other = Some(manager.into());
        }
    }
    owners
}

fn holds(entry: &ManagedFieldsEntry, path: &[&str]) -> bool {
    let Some(mut fields) = entry.fields_v1.as_ref().map(|fields| &fields.0) else { return false };
    for step in path {
        match fields.get(format!("f:{step}")) {
            Some(inner) => fields = inner,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn meta(manager: &str, operation: &str, subresource: &str) -> ObjectMeta {
        serde_json::from_value(json!({"managedFields": [{
            "manager": manager, "operation": operation, "subresource": subresource, "time": "2026-01-02T03:04:05Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {"f:externalEndpoints": {"k:{\"shardIndex\":0}": {}}}},
        }]}))
        .unwrap()
    }

    const PATH: [&str; 2] = ["status", "externalEndpoints"];

    #[test]
    fn what_we_applied_is_ours() {
        let found = owners(&meta(NAME, "Apply", "status"), "status", &PATH);
        assert_eq!(found, Owners { ours: Some("2026-01-02T03:04:05Z".into()), other: None });
    }

    #[test]
    fn what_an_operator_wrote_is_anothers() {
        let found = owners(&meta("valkey-operator", "Update", "status"), "status", &PATH);
        assert_eq!(found, Owners { ours: None, other: Some("valkey-operator".into()) });
    }

    #[test]
    fn owners_of_other_fields_do_not_matter() {
        assert_eq!(owners(&meta("somebody", "Apply", "status"), "status", &["status", "message"]), Owners::default());
    }
}
