//! A ValkeyCluster as written, into an [`Exposed`] one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::access::{self, Fields};
use super::spellings::{self, AccessPlace};
use super::{Config, Exposed, Observed, Origin, announce, server, shape};
use crate::api::{EndpointType, ExternalAccess, Routes, ServiceType, VALKEY_API, extension_fields};
use crate::finding::Finding;
use crate::krm::annotations::PATH;
use crate::object::Object;
use crate::plan::{self, ADVISED_NODES, ClusterName, MAX_NODES, MAX_REPLICAS, MAX_SHARDS, Plan, PortOutOfRange, Ports, Services, Topology};
use crate::rule::Rule;

/// Longest name of a StatefulSet whose pods can carry their revision label (63, less a hash and a hyphen).
const STATEFUL_SET_NAME: usize = 52;

/// Most bytes of JSON that the specs of all ValkeyNodes of a cluster may come to.
const MAX_SPECS: u64 = 256 * 1024 * 1024;

/// What is to be exposed of a cluster: nothing if its external access is off or if anything is wrong, which `findings` says.
pub fn cluster(object: &Object, config: &Config, schema: &Value, observed: &Observed, findings: &mut Vec<Finding>) -> Option<Exposed> {
    let mut own = Vec::new();
    let origin = Origin::new(object, config);
    let exposed = read(object, config, schema, observed, &mut own, &origin);
    let exposed = exposed.filter(|_| !crate::finding::any_error(&own));
    findings.extend(own.into_iter().map(|finding| origin.attribute(object.finding(finding))));
    exposed
}

fn read(
    object: &Object,
    config: &Config,
    schema: &Value,
    observed: &Observed,
    findings: &mut Vec<Finding>,
    origin: &Origin,
) -> Option<Exposed> {
    if object.reference.api_version != VALKEY_API {
        let message = format!(
            "version {} of ValkeyCluster is not known, nothing is rendered for it: only {VALKEY_API} is",
            object.reference.api_version
        );
        findings.push(Finding::warning(Rule::UnknownVersion, message).at("apiVersion"));
        return None;
    }
    for (pointer, field) in [("/metadata/name", "metadata.name"), ("/metadata/namespace", "metadata.namespace")] {
        // `on` and `y` are true in YAML 1.1: a namespace that would be lost in silence.
        if let Some(value) = object.value.pointer(pointer).filter(|value| !value.is_string() && !value.is_null()) {
            let message = format!("must be a string, got {}: put it in quotes", shape::shown(value));
            findings.push(Finding::error(Rule::WrongType, message).at(field).current(value.clone()));
        }
    }
    let spec = &match object.value.get("spec") {
        Some(Value::Object(spec)) => server::without_patch(spec),
        None | Some(Value::Null) => Map::new(),
        Some(other) => {
            let message = format!("must be a mapping, got {}", shape::shown(other));
            findings.push(Finding::error(Rule::WrongType, message).at("spec"));
            return None;
        }
    };
    let place = spellings::external_access(spec, findings);
    let path = place.as_ref().map_or("spec.externalAccess", |place| place.path);
    let written = place.as_ref().map(|place| place.path);
    let access = effective_access(place, config.defaults_for(object).map(|(_, access)| access), schema, findings);
    if access.enabled != Some(true) {
        return None;
    }
    if let (true, Some(written)) = (config.is_operator_managed(), written) {
        let message = format!(
            "an operator without external access, for which `mode: OperatorManaged` is, has no field `{written}`, and the API server drops or refuses it: move it to `spec.clusters[].externalAccess` of the functionConfig"
        );
        findings.push(Finding::warning(Rule::DroppedByCrd, message).at(written));
    }
    let topology = topology(spec, findings);
    spellings::check_places(spec, findings);
    let tls = spellings::tls(spec, findings);
    let sni = config.routes == Routes::Tls && access.gateway.is_some();
    let mut fields = Fields { path, findings };
    let service = access::service(&access, &mut fields);
    let gateway = access::gateway(&access, &mut fields);
    let (domain, hostname_prefix) = access::hostnames(&access, topology, sni, &mut fields);
    let stride = topology.and_then(|topology| access::stride(&access, topology, &mut fields));
    let mut known = observed.node_ports.clone();
    known.extend(config.pinned_for(&object.reference));
    let node_ports = access::node_ports(&access, &service, known, &mut fields);
    let services = if config.is_operator_managed() { Services::PerNode } else { Services::PerShard };
    let name = name(&object.reference.name, topology, services, findings);
    if access.bootstrap_service == Some(true) {
        bootstrap_name(&object.reference.name, findings);
    }
    workload_name(&object.reference.name, spec, topology, findings);
    if sni {
        sni_needs(tls, access.preferred_endpoint_type, config, path, findings);
    }
    let ports = match &gateway {
        Some((_, base)) if sni => base.map(|port| Ports::Sni { port }),
        Some((_, base)) => base.map(|base| Ports::Listeners { base }),
        None if service.service_type == ServiceType::NodePort => Some(Ports::NodePorts { read_back: read_back(object) }),
        None => Some(Ports::ServicePorts),
    };
    let labels = labels(object);
    if let Some(topology) = topology {
        size_of_all_nodes(spec, &access, &labels, topology, findings);
    }
    let prefers_hostnames = access.preferred_endpoint_type == Some(EndpointType::Hostname);
    let (namespace, topology) = (object.reference.namespace.clone(), topology?);
    let cluster = plan::Cluster {
        name: name?,
        namespace,
        topology,
        stride: stride?,
        ports: ports?,
        node_ports: node_ports?,
        domain,
        hostname_prefix,
        services,
    };
    let plan = Plan::new(cluster).map_err(|out| findings.push(port_out_of_range(&out, object, topology.nodes(), path, &access))).ok()?;
    let exposed = Exposed {
        plan,
        service,
        gateway: gateway.and_then(|(gateway, _)| gateway),
        access,
        prefers_hostnames,
        tls,
        tls_secret: spellings::tls_secret(spec),
        origin: origin.clone(),
        labels,
        spec: spec.clone(),
        object: object.reference.clone(),
        file: object.file.clone(),
        file_annotations: PATH
            .iter()
            .filter(|key| crate::krm::annotations::get(&object.value, key).is_some())
            .map(|key| (*key).to_owned())
            .collect(),
        order: object.order,
    };
    if let Some(who) = config.announce {
        announce::needs(&exposed, who, path, findings);
    }
    Some(exposed)
}

/// The cluster's own fields over those of the functionConfig.
fn effective_access(
    place: Option<AccessPlace<'_>>,
    defaults: Option<&Value>,
    schema: &Value,
    findings: &mut Vec<Finding>,
) -> ExternalAccess {
    let mut merged = defaults.cloned().unwrap_or_default();
    if let Some(place) = place {
        let mut faults = Vec::new();
        let own = shape::fit(schema, place.value, place.path, &mut faults).unwrap_or_default();
        if place.on_by_presence {
            // The place is newer than this program: what is unknown to it need not be wrong.
            for fault in faults.iter_mut().filter(|fault| fault.rule == Rule::UnknownField) {
                fault.message = fault.message.replacen("there is no field", "a newer operator may know it, this program has no field", 1);
            }
            merge(&mut merged, Value::Object(Map::from_iter([("enabled".to_owned(), Value::Bool(true))])));
        }
        findings.append(&mut faults);
        for field in extension_fields() {
            let pointer = format!("/{}", field.replace('.', "/"));
            if let Some(value) = own.pointer(&pointer) {
                let message = format!(
                    "the operator's API has no `{field}`, the API server drops it here: set it in the functionConfig, `spec.clusters[].externalAccess.{field}`"
                );
                findings.push(Finding::warning(Rule::DroppedByCrd, message).at(format!("{}.{field}", place.path)).current(value.clone()));
            }
        }
        merge(&mut merged, own);
    }
    serde_json::from_value(merged).unwrap_or_default()
}

fn merge(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                merge(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above,
    }
}

/// Labels of the cluster that its objects have too. Those of this program say what an object of ours is, and a cluster is none.
fn labels(object: &Object) -> BTreeMap<String, String> {
    let mut labels = object.labels();
    labels.retain(|key, _| !key.starts_with("fn.valkey.io/"));
    labels
}

fn topology(spec: &Map<String, Value>, findings: &mut Vec<Finding>) -> Option<Topology> {
    let shards = count(spec, "shards", 1, MAX_SHARDS, None, findings);
    let replicas = count(spec, "replicas", 0, MAX_REPLICAS, Some(0), findings);
    let (shards, replicas) = (shards?, replicas?);
    let topology = Topology::new(shards, replicas);
    let nodes = u64::from(shards).saturating_mul(u64::from(replicas).saturating_add(1));
    if topology.is_none() {
        let message =
            format!("{shards} shards of {} nodes are {nodes} nodes: a cluster must have at most {MAX_NODES}", replicas.saturating_add(1));
        findings.push(Finding::error(Rule::Counts, message).at("spec.shards").current(shards));
    } else if nodes > u64::from(ADVISED_NODES) {
        let message = format!("{nodes} nodes are more than the {ADVISED_NODES} that Valkey is made for");
        findings.push(Finding::warning(Rule::ManyNodes, message).at("spec.shards").current(shards));
    }
    topology
}

fn count(spec: &Map<String, Value>, key: &str, least: u32, most: u32, default: Option<u32>, findings: &mut Vec<Finding>) -> Option<u32> {
    let value = match spec.get(key) {
        None | Some(Value::Null) => {
            if default.is_none() {
                let message = format!("the number of {key} is missing: set it, {least} to {most}");
                findings.push(Finding::error(Rule::Counts, message).at(format!("spec.{key}")));
            }
            return default;
        }
        Some(value) => value,
    };
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| (least..=most).contains(number));
    if number.is_none() {
        let message = format!("must be a whole number from {least} to {most}, got {}", shape::shown(value));
        let nearest = if value.as_f64().is_some_and(|number| number > f64::from(most)) { most } else { least };
        findings.push(Finding::error(Rule::Counts, message).at(format!("spec.{key}")).current(value.clone()).proposed(nearest));
    }
    number
}

fn name(name: &str, topology: Option<Topology>, services: Services, findings: &mut Vec<Finding>) -> Option<ClusterName> {
    let parsed = ClusterName::new(name);
    if parsed.is_none() {
        let message = if name.is_empty() {
            "the cluster has no name".to_owned()
        } else {
            format!(
                "no Service can be named after `{name}`: it must be lower-case letters, digits and hyphens, and begin and end with a letter or digit"
            )
        };
        findings.push(Finding::error(Rule::ClusterName, message).at("metadata.name").current(name));
        return None;
    }
    let topology = topology?;
    let longest = plan::longest_cluster_name(topology, services);
    if name.len() > longest {
        let shards = topology.shards();
        let first = match services {
            Services::PerShard => (0..shards).map(|shard| plan::service_name(name, shard)).find(|service| service.len() > 63),
            Services::PerNode => None,
        };
        let first = first.unwrap_or_else(|| plan::last_service_name(name, topology, services));
        let message = format!(
            "`{name}` has {} characters: Service `{first}` would have {}, and must have at most 63; with {shards} shard{} a name must have at most {longest}",
            name.len(),
            first.len(),
            if shards == 1 { "" } else { "s" }
        );
        findings.push(Finding::error(Rule::NameLength, message).at("metadata.name").current(name));
    }
    parsed
}

/// The Service over all nodes has a name that may be longer than those of the others.
fn bootstrap_name(name: &str, findings: &mut Vec<Finding>) {
    let service = plan::bootstrap_name(name);
    let too_long = service.len().saturating_sub(63);
    let said = findings.iter().any(|finding| finding.rule == Rule::NameLength);
    if too_long > 0 && !said {
        let message = format!(
            "`{name}` has {} characters: Service `{service}` would have {}, and must have at most 63; with `bootstrapService` a name must have at most {}",
            name.len(),
            service.len(),
            name.len().saturating_sub(too_long)
        );
        findings.push(Finding::error(Rule::NameLength, message).at("metadata.name").current(name));
    }
}

/// The operator makes a StatefulSet for each node; a longer name is accepted, and then has no pods.
fn workload_name(name: &str, spec: &Map<String, Value>, topology: Option<Topology>, findings: &mut Vec<Finding>) {
    let Some(topology) = topology else { return };
    if spec.get("workloadType").and_then(Value::as_str) == Some("Deployment") {
        return;
    }
    let last = plan::route_name(name, topology.shards().saturating_sub(1), topology.nodes_per_shard().saturating_sub(1));
    if last.len() > STATEFUL_SET_NAME {
        let longest = STATEFUL_SET_NAME.saturating_sub(last.len().saturating_sub(name.len()));
        let message = format!(
            "StatefulSet `{last}` would have {} characters: above {STATEFUL_SET_NAME} its pods are refused, as their revision label is too long; with these shards and replicas a name must have at most {longest}",
            last.len()
        );
        findings.push(Finding::warning(Rule::WorkloadNameLength, message).at("metadata.name").current(name));
    }
}

/// Each node gets a copy of what the spec hands on: a small file of aliases, many nodes, and memory would run out.
fn size_of_all_nodes(
    spec: &Map<String, Value>,
    access: &ExternalAccess,
    labels: &BTreeMap<String, String>,
    topology: Topology,
    findings: &mut Vec<Finding>,
) {
    let mut counter = Counter(0);
    if serde_json::to_writer(&mut counter, &(spec, access, labels)).is_err()
        || counter.0.saturating_mul(u64::from(topology.nodes())) > MAX_SPECS
    {
        let message = format!(
            "its spec, external access and labels, once for each of {} nodes, are more than {} MiB: take out what the nodes do not need",
            topology.nodes(),
            MAX_SPECS / 1024 / 1024
        );
        findings.push(Finding::error(Rule::Budget, message).at("spec"));
    }
}

/// Counts what is written.
struct Counter(u64);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// NodePorts that the operator has written into the status.
#[must_use]
pub fn read_back(object: &Object) -> BTreeMap<(u32, u32), plan::Port> {
    let mut known = BTreeMap::new();
    for endpoint in object.value.pointer("/status/externalEndpoints").and_then(Value::as_array).into_iter().flatten() {
        let Some(shard) = endpoint.get("shardIndex").and_then(Value::as_u64).and_then(|shard| u32::try_from(shard).ok()) else { continue };
        for (node, port) in (0u32..).zip(endpoint.get("nodePorts").and_then(Value::as_array).into_iter().flatten()) {
            if let Some(port) = port.as_u64().and_then(plan::Port::new) {
                known.insert((shard, node), port);
            }
        }
    }
    known
}

/// What it takes to tell nodes apart by name: TLS, and somebody who announces a name for each.
fn sni_needs(tls: bool, preferred: Option<EndpointType>, config: &Config, path: &str, findings: &mut Vec<Finding>) {
    if !tls {
        let message = "`emit.routes: TLSRoute` needs TLS on the cluster: the Gateway tells nodes apart by the name in the TLS handshake; turn TLS on, or use `TCPRoute`";
        let field = if config.is_operator_managed() { "spec.networking.tls" } else { "spec.tls" };
        findings.push(Finding::error(Rule::SniNeeds, message).at(field));
    }
    if config.is_operator_managed() {
        return;
    }
    let by_address = match preferred {
        Some(EndpointType::Hostname) => "",
        _ => "; without `preferredEndpointType: hostname` clients are sent to addresses, which tell no Gateway where to",
    };
    let message = format!(
        "the operator announces one hostname for each shard, and TLSRoutes need one for each node: it must announce `<hostnamePrefix>-<shard>-<node>.<domain>` for clients to find their way{by_address}"
    );
    findings.push(Finding::warning(Rule::SniAnnouncement, message).at(format!("{path}.gateway")));
}

fn port_out_of_range(out: &PortOutOfRange, object: &Object, nodes: u32, path: &str, access: &ExternalAccess) -> Finding {
    let node = plan::node_name(&object.reference.name, out.shard, out.node);
    let (what, field, base) = if out.is_node_port {
        ("NodePort", "nodePorts.base", access.node_ports.as_ref().and_then(|ports| ports.base))
    } else {
        ("listener port", "gateway.basePort", access.gateway.as_ref().and_then(|gateway| gateway.base_port))
    };
    let base = base.unwrap_or_default();
    let (first, last) = (out.range.first, out.range.last);
    let key = field.rsplit('.').next().unwrap_or_default();
    let way_out = match out.greatest_base {
        Some(greatest) if first.get() > 1 => format!("set `{key}` to {first} to {greatest}"),
        Some(greatest) => format!("set `{key}` to {greatest} or less"),
        None => "there are more nodes than ports".to_owned(),
    };
    let must = if first.get() > 1 { format!("must be {first} to {last}") } else { format!("must be less than or equal to {last}") };
    let message = format!("{what} of node {node} {must}, got {} ({nodes} nodes from {base} on): {way_out}", out.port);
    let mut finding = Finding::error(Rule::PortRange, message).at(format!("{path}.{field}")).current(base);
    finding.proposed = out.greatest_base.map(Value::from);
    finding
}
