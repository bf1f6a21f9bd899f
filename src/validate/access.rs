//! `externalAccess`: fields that are right one by one, and whether they go together.

use std::collections::BTreeMap;

use super::{Gateway, Service};
use crate::api::{EndpointType, ExternalAccess, ServiceType};
use crate::finding::Finding;
use crate::plan::{Domain, Hostname, HostnamePrefix, NodePortSource, Port, PortRange, Stride, Topology};
use crate::rule::Rule;

/// Gives findings the path of a field below `externalAccess`.
pub(super) struct Fields<'f> {
    pub(super) path: &'static str,
    pub(super) findings: &'f mut Vec<Finding>,
}

impl Fields<'_> {
    fn push(&mut self, finding: Finding, field: &str) {
        self.findings.push(finding.at(format!("{}.{field}", self.path)));
    }

    /// Reports a field as missing, unless it was there and its value was refused: that has been said.
    fn missing(&mut self, finding: Finding, field: &str) {
        let path = format!("{}.{field}", self.path);
        let refused = |found: &Finding| {
            found.field.as_deref().and_then(|at| path.strip_prefix(at)).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if !self.findings.iter().any(refused) {
            self.findings.push(finding.at(path));
        }
    }
}

/// The Services' settings.
pub(super) fn service(access: &ExternalAccess, fields: &mut Fields<'_>) -> Service {
    let default = if access.gateway.is_some() { ServiceType::ClusterIp } else { ServiceType::NodePort };
    let service_type = access.service_type.unwrap_or(default);
    let inside_only = service_type == ServiceType::ClusterIp;
    if let (true, Some(policy)) = (inside_only, access.external_traffic_policy) {
        let why = if access.service_type.is_none() { " because a gateway is set" } else { "" };
        let message = format!("the Services are of type ClusterIP{why}, and have no use for an `externalTrafficPolicy`: left out");
        fields.push(Finding::warning(Rule::TrafficPolicyUnused, message).current(policy.as_str()), "externalTrafficPolicy");
    }
    if service_type != ServiceType::LoadBalancer {
        let knobs = [
            ("loadBalancerClass", access.load_balancer_class.is_some()),
            ("loadBalancerSourceRanges", access.load_balancer_source_ranges.is_some()),
            ("allocateLoadBalancerNodePorts", access.allocate_load_balancer_node_ports.is_some()),
        ];
        for (knob, _) in knobs.iter().filter(|(_, is_set)| *is_set) {
            let message =
                format!("the Services are of type {}, and only LoadBalancers have a use for `{knob}`: left out", service_type.as_str());
            fields.push(Finding::warning(Rule::LoadBalancerOnly, message), knob);
        }
    }
    Service {
        service_type,
        traffic_policy: access.external_traffic_policy.filter(|_| !inside_only),
        annotations: access.service_annotations.clone().unwrap_or_default(),
    }
}

/// The Gateway and its base port; `None` inside where it is not complete.
pub(super) fn gateway(access: &ExternalAccess, fields: &mut Fields<'_>) -> Option<(Option<Gateway>, Option<Port>)> {
    let gateway = access.gateway.as_ref()?;
    let reference = gateway.gateway_ref.clone().unwrap_or_default();
    let name = reference.name.filter(|name| !name.is_empty());
    if name.is_none() {
        let message = "a gateway needs the name of the Gateway that routes attach to";
        fields.missing(Finding::error(Rule::GatewayIncomplete, message), "gateway.gatewayRef.name");
    }
    let base = gateway.base_port.and_then(|port| Port::new(u64::from(port)));
    if base.is_none() {
        let message = "a gateway needs the listener port of the first node: a number from 1 to 65535";
        fields.missing(Finding::error(Rule::GatewayIncomplete, message), "gateway.basePort");
    }
    let gateway = name.map(|name| Gateway {
        name,
        namespace: reference.namespace.filter(|namespace| !namespace.is_empty()),
        section_name: reference.section_name.filter(|name| !name.is_empty()),
    });
    Some((gateway, base))
}

/// The NodePorts that Services ask for: by the formula, else those that are pinned or known.
pub(super) fn node_ports(
    access: &ExternalAccess,
    service: &Service,
    known: BTreeMap<(u32, u32), Port>,
    fields: &mut Fields<'_>,
) -> Option<NodePortSource> {
    let Some(settings) = &access.node_ports else { return Some(NodePortSource::Known(known)) };
    if service.service_type == ServiceType::ClusterIp {
        let message = "the Services are of type ClusterIP, and have no NodePorts: left out";
        fields.push(Finding::warning(Rule::NodePortsUnused, message), "nodePorts");
        return Some(NodePortSource::Known(BTreeMap::new()));
    }
    let range = match settings.range.as_deref() {
        None => Some(PortRange::NODE_PORTS),
        Some(text) => PortRange::parse(text),
    };
    if range.is_none() {
        let message = "must be two ports, as in `30000-32767`: what the API server's `--service-node-port-range` says";
        fields.push(Finding::error(Rule::OutOfRange, message).current(settings.range.clone().unwrap_or_default()), "nodePorts.range");
    }
    let base = settings.base.and_then(|base| Port::new(u64::from(base)));
    if base.is_none() {
        fields.push(Finding::error(Rule::OutOfRange, "static NodePorts need the port of the first node"), "nodePorts.base");
    }
    Some(NodePortSource::Formula { base: base?, range: range? })
}

/// Domain and prefix, and whether hostnames can be preferred.
pub(super) fn hostnames(
    access: &ExternalAccess,
    topology: Option<Topology>,
    by_name: bool,
    fields: &mut Fields<'_>,
) -> (Option<Domain>, HostnamePrefix) {
    let text = access.domain.as_deref().filter(|domain| !domain.is_empty());
    let domain = text.map(Domain::new);
    if let (Some(text), Some(Err(problem))) = (text, &domain) {
        fields.push(Finding::error(Rule::Domain, format!("`{text}` {problem}")).current(text), "domain");
    }
    if let (Some(text), Some(Ok(domain))) = (text, &domain)
        && domain.as_str() != text
    {
        let message = format!("the dot at the end of `{text}` is left out here, but the operator would announce it: take it out");
        fields.push(Finding::warning(Rule::Domain, message).current(text).proposed(domain.as_str()), "domain");
    }
    if text.is_none() && by_name {
        let message = "`emit.routes: TLSRoute` tells nodes apart by their hostnames, and needs a domain";
        fields.push(Finding::error(Rule::SniNeeds, message), "domain");
    }
    if text.is_none() && access.preferred_endpoint_type == Some(EndpointType::Hostname) {
        let message = "`preferredEndpointType: hostname` needs a domain: without one, nodes answer with no address at all";
        fields.missing(Finding::error(Rule::HostnameWithoutDomain, message), "domain");
    }
    let prefix = match access.hostname_prefix.as_deref().filter(|prefix| !prefix.is_empty()) {
        None => HostnamePrefix::default(),
        Some(text) => HostnamePrefix::new(text).unwrap_or_else(|| {
            let message = format!("`{text}` must be lower-case letters, digits and hyphens, and begin and end with a letter or digit");
            fields.push(Finding::error(Rule::HostnamePrefix, message).current(text), "hostnamePrefix");
            HostnamePrefix::default()
        }),
    };
    let domain = domain.and_then(Result::ok);
    if let (Some(domain), Some(topology)) = (&domain, topology) {
        let (shard, node) = (topology.shards().saturating_sub(1), topology.nodes_per_shard().saturating_sub(1));
        let last = if by_name { Hostname::of_node(&prefix, shard, node, domain) } else { Hostname::of_shard(&prefix, shard, domain) };
        if !last.fits() {
            let message = format!(
                "hostname `{last}` must have at most 253 characters, and at most 63 before the first dot: shorten it or the domain"
            );
            fields.push(Finding::error(Rule::HostnameLength, message), "hostnamePrefix");
        }
    }
    (domain, prefix)
}

/// Ports of each shard.
pub(super) fn stride(access: &ExternalAccess, topology: Topology, fields: &mut Fields<'_>) -> Option<Stride> {
    let Some(ports) = access.ports_per_shard else { return Some(Stride::tight(topology)) };
    let stride = Stride::new(ports, topology);
    if stride.is_none() {
        let needed = topology.nodes_per_shard();
        let message = format!("must be {needed} or more, as each shard has {needed} nodes (`replicas` + 1), got {ports}");
        fields.push(Finding::error(Rule::PortsPerShard, message).current(ports).proposed(needed), "portsPerShard");
    }
    stride
}
