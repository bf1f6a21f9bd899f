//! The functionConfig as a ConfigMap: `kpt fn eval … -- key=value`. Values are strings there, whatever they mean.

use serde_json::{Value, json};

use super::shape;
use crate::api::{CONFIG_API, ExposeValkey};
use crate::finding::Finding;
use crate::rule::Rule;

/// The flat keys, and the field of `spec` that each sets.
pub(crate) const KEYS: [(&str, &str); 29] = [
    ("mode", "mode"),
    ("announce", "announce"),
    ("enabled", "clusters.externalAccess.enabled"),
    ("serviceType", "clusters.externalAccess.serviceType"),
    ("externalTrafficPolicy", "clusters.externalAccess.externalTrafficPolicy"),
    ("hostnamePrefix", "clusters.externalAccess.hostnamePrefix"),
    ("domain", "clusters.externalAccess.domain"),
    ("preferredEndpointType", "clusters.externalAccess.preferredEndpointType"),
    ("gatewayName", "clusters.externalAccess.gateway.gatewayRef.name"),
    ("gatewayNamespace", "clusters.externalAccess.gateway.gatewayRef.namespace"),
    ("sectionName", "clusters.externalAccess.gateway.gatewayRef.sectionName"),
    ("basePort", "clusters.externalAccess.gateway.basePort"),
    ("portsPerShard", "clusters.externalAccess.portsPerShard"),
    ("tcpRoute", "gatewayAPI.tcpRoute"),
    ("emitServices", "emit.services"),
    ("emitValkeyNodes", "emit.valkeyNodes"),
    ("emitRoutes", "emit.routes"),
    ("emitListeners", "emit.listeners"),
    ("emitDNS", "emit.dns"),
    ("emitCertificates", "emit.certificates"),
    ("nodePortBase", "clusters.externalAccess.nodePorts.base"),
    ("nodePortRange", "clusters.externalAccess.nodePorts.range"),
    ("loadBalancerClass", "clusters.externalAccess.loadBalancerClass"),
    ("ipFamilyPolicy", "clusters.externalAccess.ipFamilyPolicy"),
    ("bootstrapService", "clusters.externalAccess.bootstrapService"),
    ("prune", "gitops.prune"),
    ("order", "gitops.order"),
    ("issuerName", "certManager.issuerRef.name"),
    ("issuerKind", "certManager.issuerRef.kind"),
];

/// The `ExposeValkey` that a ConfigMap stands for.
pub(super) fn to_expose_valkey(config_map: &Value, findings: &mut Vec<Finding>) -> Value {
    let schema = shape::schema_of::<ExposeValkey>();
    let mut spec = json!({});
    for (key, value) in config_map.get("data").and_then(Value::as_object).into_iter().flatten() {
        let field = format!("data.{key}");
        let Some((_, path)) = KEYS.iter().find(|(name, _)| name == key) else {
            findings.push(shape::unknown_field(&field, key, KEYS.iter().map(|(name, _)| *name)));
            continue;
        };
        let schema = schema_at(&schema, path);
        let typed = match value.as_str() {
            Some(text) => typed(schema, text),
            None => value.clone(),
        };
        if let Some(fitted) = shape::fit(schema, &typed, &field, findings) {
            set(&mut spec, path, fitted);
        }
    }
    if let Some(access) = spec.get_mut("clusters").map(Value::take) {
        set(&mut spec, "clusters", json!([access]));
    }
    if config_map.get("binaryData").is_some_and(|data| !data.is_null()) {
        let message = "settings must be under `data`";
        findings.push(Finding::error(Rule::UnknownField, message).at("binaryData"));
    }
    json!({"apiVersion": CONFIG_API, "kind": "ExposeValkey", "spec": spec})
}

/// The flat key that sets a field below `externalAccess`.
pub(super) fn key_of(field: &str) -> Option<&'static str> {
    KEYS.iter().find(|(_, path)| path.strip_prefix("clusters.externalAccess.") == Some(field)).map(|(key, _)| *key)
}

/// The schema of a field below `spec`; `clusters` goes on into its entries.
fn schema_at<'a>(root: &'a Value, path: &str) -> &'a Value {
    let mut schema = shape::property(root, "spec");
    for step in path.split('.') {
        schema = shape::property(schema, step);
    }
    schema
}

/// A string as what its field wants; text that is something else stays text, and `fit` says so.
fn typed(schema: &Value, text: &str) -> Value {
    let parsed = match shape::type_of(schema) {
        "boolean" => text.parse::<bool>().ok().map(Value::from),
        "integer" => text.parse::<i64>().ok().map(Value::from),
        "" => text.parse::<bool>().ok().map(Value::from),
        _ => None,
    };
    parsed.unwrap_or_else(|| Value::from(text))
}

fn set(target: &mut Value, path: &str, value: Value) {
    let mut slot = target;
    for step in path.split('.') {
        if !slot.is_object() {
            *slot = json!({});
        }
        let Some(map) = slot.as_object_mut() else { return };
        slot = map.entry(step).or_insert(Value::Null);
    }
    *slot = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flat_key_names_a_field() {
        let schema = shape::schema_of::<ExposeValkey>();
        for (key, path) in KEYS {
            assert!(!schema_at(&schema, path).is_null(), "{key}");
        }
    }

    #[test]
    fn strings_become_what_the_field_wants() {
        let data = json!({"data": {"basePort": "9000", "gatewayName": "gw", "emitRoutes": "true", "serviceTyp": "NodePort", "portsPerShard": "four"}});
        let mut findings = Vec::new();
        let value = to_expose_valkey(&data, &mut findings);
        let expected = json!({"clusters": [{"externalAccess": {"gateway": {"basePort": 9000, "gatewayRef": {"name": "gw"}}}}], "emit": {"routes": true}});
        assert_eq!(value["spec"], expected);
        let messages: Vec<String> = findings.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(messages.join("\n"));
    }
}
