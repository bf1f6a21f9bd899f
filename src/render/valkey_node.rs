//! One ValkeyNode for each node: what the operator itself would write from the cluster.
//!
//! Fields that are only handed on stay as they were written, unknown ones in them too. The operator's scheduling settings
//! (`spec.scheduling`) are worked out as it does: affinity terms and spread constraints for shards, primaries and pods.

use serde_json::{Map, Value, json};

use super::metadata::{CLUSTER_LABEL, NODE_LABEL, Part, SHARD_LABEL, metadata};
use super::{VALKEY_NODE, gitops};
use crate::plan::Node;
use crate::validate::{Config, Exposed};

const HOSTNAME_KEY: &str = "kubernetes.io/hostname";
const ZONE_KEY: &str = "topology.kubernetes.io/zone";
/// `cluster-manual-failover-timeout` of Valkey, in milliseconds, if the config does not set it.
const FAILOVER_TIMEOUT_MS: u64 = 5_000;
/// Kubernetes' own grace period, in seconds: the operator writes none that equals it.
const GRACE_PERIOD: u64 = 30;

/// What all nodes of a cluster have in common.
pub(super) struct Template<'e> {
    exposed: &'e Exposed,
    common: Map<String, Value>,
    scheduling: &'e Value,
}

impl<'e> Template<'e> {
    pub(super) fn new(exposed: &'e Exposed) -> Self {
        let spec = &exposed.spec;
        let scheduling = spec.get("scheduling").unwrap_or(&Value::Null);
        let mut common = Map::new();
        let mut hand_on = |key: &str, value: Option<Value>| {
            if let Some(value) = value.map(without_nulls).filter(|value| !is_nothing(value)) {
                common.insert(key.to_owned(), value);
            }
        };
        hand_on("containers", spec.get("containers").map(with_port_protocols));
        hand_on("config", spec.get("config").cloned());
        hand_on("exporter", Some(exporter(spec)));
        hand_on("externalAccess", Some(external_access(exposed)));
        hand_on("image", spec.get("image").cloned());
        hand_on("imagePullSecrets", spec.get("imagePullSecrets").cloned());
        hand_on("persistence", spec.get("persistence").map(with_reclaim_policy));
        hand_on("podSecurityContext", spec.get("podSecurityContext").cloned());
        hand_on("priorityClassName", scheduling.get("priorityClassName").cloned());
        hand_on("resources", spec.get("resources").cloned());
        hand_on("serverConfigMapName", Some(format!("valkey-{}", exposed.name()).into()));
        hand_on("terminationGracePeriodSeconds", grace_period(spec));
        hand_on("tls", tls(spec));
        hand_on("tolerations", either(spec, scheduling, "tolerations").cloned());
        hand_on("usersACLSecretName", Some(format!("internal-{}-acl", exposed.name()).into()));
        hand_on("workloadType", Some(spec.get("workloadType").filter(|v| !v.is_null()).cloned().unwrap_or_else(|| "StatefulSet".into())));
        Template { exposed, common, scheduling }
    }

    pub(super) fn node(&self, node: &Node, config: &Config) -> Value {
        let mut spec = self.common.clone();
        if let Some(port) = node.client_port {
            spec.insert("externalAccessClientPort".to_owned(), port.get().into());
        }
        let mut per_node = |key: &str, value: Value| {
            let value = without_nulls(value);
            if !is_nothing(&value) {
                spec.insert(key.to_owned(), value);
            }
        };
        per_node("affinity", self.affinity(node));
        per_node("nodeSelector", self.node_selector(node));
        per_node("topologySpreadConstraints", self.spread_constraints(node));
        // One fixed order, whatever of it is there.
        let mut sorted: Vec<(String, Value)> = spec.into_iter().collect();
        sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut meta = metadata(self.exposed, node.name.clone(), "valkey-node", Part::Node(node.shard, node.index));
        let annotations = gitops::annotations(self.exposed, config, node);
        meta.annotations = (!annotations.is_empty()).then_some(annotations);
        json!({
            "apiVersion": VALKEY_NODE.api_version,
            "kind": VALKEY_NODE.kind,
            "metadata": meta,
            "spec": Map::from_iter(sorted),
        })
    }

    /// The user's affinity, and the shard's nodes kept off each other's Kubernetes node (`node.spread.shard`).
    fn affinity(&self, node: &Node) -> Value {
        let mut affinity = either(&self.exposed.spec, self.scheduling, "affinity").cloned().unwrap_or_default();
        let Some(mode) = spread_mode(self.scheduling, "node", "shard") else { return affinity };
        let term = json!({"labelSelector": {"matchLabels": self.shard_labels(node)}, "topologyKey": HOSTNAME_KEY});
        let (list, term) = match mode {
            Mode::Required => ("requiredDuringSchedulingIgnoredDuringExecution", term),
            Mode::Preferred => ("preferredDuringSchedulingIgnoredDuringExecution", json!({"weight": 100, "podAffinityTerm": term})),
        };
        push(&mut affinity, &["podAntiAffinity", list], term);
        affinity
    }

    fn node_selector(&self, node: &Node) -> Value {
        let mut selector = either(&self.exposed.spec, self.scheduling, "nodeSelector").cloned().unwrap_or_default();
        let zones = self.scheduling.pointer("/zone/pinning/zones").and_then(Value::as_array);
        let Some(zones) = zones.filter(|zones| !zones.is_empty()) else { return selector };
        let turn = usize::try_from(node.shard.saturating_add(node.index)).unwrap_or_default();
        if let Some(zone) = turn.checked_rem(zones.len()).and_then(|turn| zones.get(turn)) {
            if !selector.is_object() {
                selector = json!({});
            }
            if let Some(map) = selector.as_object_mut() {
                map.insert(ZONE_KEY.to_owned(), zone.clone());
            }
        }
        selector
    }

    /// The user's constraints, then those of `spread` in the operator's order.
    fn spread_constraints(&self, node: &Node) -> Value {
        let mut constraints = match either(&self.exposed.spec, self.scheduling, "topologySpreadConstraints") {
            Some(Value::Array(own)) => own.clone(),
            _ => Vec::new(),
        };
        let cluster = json!({CLUSTER_LABEL: self.exposed.name()});
        let primaries = json!({CLUSTER_LABEL: self.exposed.name(), NODE_LABEL: "0"});
        let shard = self.shard_labels(node);
        let is_primary = node.index == 0;
        let wanted = [
            ("node", "primaries", HOSTNAME_KEY, &primaries, is_primary),
            ("node", "pods", HOSTNAME_KEY, &cluster, true),
            ("zone", "shard", ZONE_KEY, &shard, true),
            ("zone", "primaries", ZONE_KEY, &primaries, is_primary),
            ("zone", "pods", ZONE_KEY, &cluster, true),
        ];
        for (domain, group, key, labels, applies) in wanted {
            let Some(mode) = spread_mode(self.scheduling, domain, group).filter(|_| applies) else { continue };
            let unsatisfiable = match mode {
                Mode::Required => "DoNotSchedule",
                Mode::Preferred => "ScheduleAnyway",
            };
            constraints.push(json!({
                "labelSelector": {"matchLabels": labels}, "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": unsatisfiable,
            }));
        }
        Value::Array(constraints)
    }

    fn shard_labels(&self, node: &Node) -> Value {
        json!({CLUSTER_LABEL: self.exposed.name(), SHARD_LABEL: node.shard.to_string()})
    }
}

#[derive(Clone, Copy)]
enum Mode {
    Required,
    Preferred,
}

fn spread_mode(scheduling: &Value, domain: &str, group: &str) -> Option<Mode> {
    match scheduling.get(domain)?.get("spread")?.get(group)?.get("mode")?.as_str()? {
        "Required" => Some(Mode::Required),
        "Preferred" => Some(Mode::Preferred),
        _ => None,
    }
}

/// A field of `spec.scheduling`, or of `spec` itself in the API of pull request 281.
fn either<'v>(spec: &'v Map<String, Value>, scheduling: &'v Value, key: &str) -> Option<&'v Value> {
    scheduling.get(key).or_else(|| spec.get(key)).filter(|value| !value.is_null())
}

fn tls(spec: &Map<String, Value>) -> Option<Value> {
    let new = spec.get("networking").and_then(|networking| networking.get("tls")).filter(|tls| !tls.is_null());
    new.or_else(|| spec.get("tls")).cloned()
}

/// The CRD turns the exporter on only where nothing at all is said about it; `enabled: false` is not written by the operator.
fn exporter(spec: &Map<String, Value>) -> Value {
    let mut exporter = match spec.get("exporter") {
        None | Some(Value::Null) => json!({"enabled": true}),
        Some(exporter) => exporter.clone(),
    };
    if let Some(map) = exporter.as_object_mut()
        && map.get("enabled") == Some(&Value::Bool(false))
    {
        map.shift_remove("enabled");
    }
    exporter
}

/// The operator's own fields of external access, with the CRD's defaults.
fn external_access(exposed: &Exposed) -> Value {
    let mut access = exposed.access.without_extensions();
    access.hostname_prefix = access.hostname_prefix.filter(|prefix| !prefix.is_empty()).or_else(|| Some("shard".to_owned()));
    access.preferred_endpoint_type = access.preferred_endpoint_type.or(Some(crate::api::EndpointType::Ip));
    access.domain = exposed.plan.cluster.domain.as_ref().map(|domain| domain.as_str().to_owned());
    access.service_annotations = access.service_annotations.filter(|annotations| !annotations.is_empty());
    serde_json::to_value(access).unwrap_or_default()
}

/// The operator gives a server time to hand over its slots: the failover timeout and ten seconds, at least 30 in all.
fn grace_period(spec: &Map<String, Value>) -> Option<Value> {
    if let Some(seconds) = spec.get("terminationGracePeriodSeconds").filter(|seconds| !seconds.is_null()) {
        return Some(seconds.clone());
    }
    let timeout = match spec.get("config").and_then(|config| config.get("cluster-manual-failover-timeout")) {
        None => FAILOVER_TIMEOUT_MS,
        Some(Value::String(text)) => text.parse().unwrap_or(FAILOVER_TIMEOUT_MS),
        Some(other) => other.as_u64().unwrap_or(FAILOVER_TIMEOUT_MS),
    };
    let seconds = timeout.div_ceil(1000).saturating_add(10).max(GRACE_PERIOD);
    (seconds != GRACE_PERIOD).then(|| seconds.into())
}

/// The CRD's default of a container port's protocol.
fn with_port_protocols(containers: &Value) -> Value {
    let mut containers = containers.clone();
    for container in containers.as_array_mut().into_iter().flatten() {
        let ports = container.get_mut("ports").and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
            if port.get("protocol").is_none_or(Value::is_null) {
                port.insert("protocol".to_owned(), "TCP".into());
            }
        }
    }
    containers
}

/// The CRD's default of a volume's fate.
fn with_reclaim_policy(persistence: &Value) -> Value {
    let mut persistence = persistence.clone();
    if let Some(map) = persistence.as_object_mut()
        && map.get("reclaimPolicy").is_none_or(Value::is_null)
    {
        map.insert("reclaimPolicy".to_owned(), "Retain".into());
    }
    persistence
}

fn push(value: &mut Value, path: &[&str], entry: Value) {
    let mut slot = value;
    for step in path {
        if !slot.is_object() {
            *slot = json!({});
        }
        let Some(map) = slot.as_object_mut() else { return };
        slot = map.entry(*step).or_insert(Value::Null);
    }
    match slot {
        Value::Array(entries) => entries.push(entry),
        other => *other = json!([entry]),
    }
}

/// A key without a value means "not set" to Kubernetes. Empty mappings further in stay: an empty `labelSelector` is not
/// the same as none.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            map.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key, without_nulls(value))).collect()
        }
        Value::Array(entries) => entries.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        _ => false,
    }
}
