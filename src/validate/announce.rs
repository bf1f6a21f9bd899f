//! Who tells clients the nodes' addresses in OperatorManaged mode, and what that takes.

use serde_json::{Map, Value};

use super::{Exposed, LiveSettings, server};
use crate::api::{Announce, EndpointType, Live, Mode, ServiceType};
use crate::finding::Finding;
use crate::rule::Rule;

/// The first major version of Valkey whose nodes can announce client ports.
const FIRST_MAJOR: u64 = 9;
/// What the servers are told to prefer.
const ENDPOINT_TYPE: &str = "cluster-preferred-endpoint-type";

/// Settings of the functionConfig that go together, and those of `live`.
pub(super) fn settings(mode: Mode, announce: Option<Announce>, live: Option<Live>, findings: &mut Vec<Finding>) -> LiveSettings {
    let mode_refused = findings.iter().any(|finding| finding.field.as_deref().is_some_and(|field| field.ends_with(".mode")));
    if mode == Mode::Rendered && announce.is_some() && !mode_refused {
        let message = "with `mode: Rendered` the operator announces the nodes: set `mode: OperatorManaged`, or take `announce` out";
        findings.push(Finding::error(Rule::AnnounceUnused, message).at("spec.announce"));
    }
    let Some(live) = live else { return LiveSettings::default() };
    let announce_refused = findings.iter().any(|finding| finding.field.as_deref() == Some("spec.announce"));
    if announce != Some(Announce::Live) && !announce_refused && !mode_refused {
        let message = "only the controller reads this: set `mode: OperatorManaged` and `announce: Live`, or take `live` out";
        findings.push(Finding::error(Rule::AnnounceUnused, message).at("spec.live"));
    }
    let credentials = live.credentials.and_then(|credentials| {
        let secret = credentials.password_secret.unwrap_or_default();
        let mut given = |value: Option<String>, field: &str| {
            let value = value.filter(|value| !value.is_empty());
            if value.is_none() {
                let field = format!("spec.live.credentials.{field}");
                findings
                    .push(Finding::error(Rule::WrongValue, "must be given: a user name, and the Secret and key of its password").at(field));
            }
            value
        };
        let (username, name, key) =
            (given(credentials.username, "username"), given(secret.name, "passwordSecret.name"), given(secret.key, "passwordSecret.key"));
        Some((username?, name?, key?))
    });
    LiveSettings { node_address_types: live.node_address_types.unwrap_or_default(), credentials }
}

/// What a cluster needs for its nodes to be announced. `path`: where its external access is set.
pub(super) fn needs(exposed: &Exposed, announce: Announce, path: &str, findings: &mut Vec<Finding>) {
    match announce {
        Announce::Command => command_needs(exposed, path, findings),
        Announce::Live => live_needs(exposed, path, findings),
    }
    valkey_version(&exposed.spec, findings);
}

fn command_needs(exposed: &Exposed, path: &str, findings: &mut Vec<Finding>) {
    if exposed.plan.cluster.domain.is_none() {
        let message =
            "`announce: Command` announces hostnames, and needs a domain: set it, or `announce: Live`, which announces addresses too";
        findings.push(Finding::error(Rule::CommandNeeds, message).at(format!("{path}.domain")));
    }
    let unknown: Vec<&str> = exposed.plan.nodes().filter(|node| node.client_port.is_none()).map(|node| node.name.as_str()).collect();
    if !unknown.is_empty() && unknown.len() < exposed.plan.nodes().count() {
        let message = format!(
            "`announce: Command` must know every port before the servers start, and those of {} are not known, though the others are: add them to `nodePorts` of the cluster's entry in `spec.pinned`, or set `announce: Live`",
            unknown.join(", ")
        );
        findings.push(Finding::error(Rule::CommandNeeds, message).at(format!("{path}.nodePorts")));
    } else if !unknown.is_empty() {
        let message = "`announce: Command` must know every port before the servers start, and Kubernetes allocates these NodePorts: set `nodePorts.base`, or `announce: Live`, or use `serviceType: LoadBalancer` with hostnames, or a gateway";
        findings.push(Finding::error(Rule::CommandNeeds, message).at(format!("{path}.nodePorts.base")));
    }
    if let Some((index, container)) = server::container(&exposed.spec) {
        for key in ["command", "args"] {
            if let Some(own) = container.get(key).filter(|own| !own.is_null()) {
                let message = format!(
                    "`announce: Command` replaces the server's command, and this cluster has its own `{key}` there: the two cannot be merged; take it out, or set `announce: Live`, which leaves the cluster as it is"
                );
                findings.push(Finding::error(Rule::OwnCommand, message).at(format!("spec.containers[{index}].{key}")).current(own.clone()));
            }
        }
    }
    if let Some((index, name)) = server::variable_of_our_name(&exposed.spec) {
        let message = format!(
            "`announce: Command` adds a variable of this name itself, and knows by it what is its own: give `{name}` another name, or set `announce: Live`"
        );
        findings.push(Finding::error(Rule::OwnCommand, message).at(format!("spec.containers[{index}].env")).current(name));
    }
    if exposed.access.preferred_endpoint_type == Some(EndpointType::Ip) {
        let message =
            "`announce: Command` sends clients to hostnames: take it out, or set `announce: Live` and no domain, which announces addresses";
        let finding = Finding::error(Rule::CommandNeeds, message).at(format!("{path}.preferredEndpointType"));
        findings.push(finding.current("ip").proposed("hostname"));
    }
    let preferred = exposed.spec.get("config").and_then(|config| config.get(ENDPOINT_TYPE)).filter(|preferred| !preferred.is_null());
    if let Some(other) = preferred.filter(|preferred| preferred.as_str() != Some("hostname")) {
        let message = "`announce: Command` sends clients to hostnames, and this sends them elsewhere: take it out, or set `announce: Live`";
        let finding = Finding::error(Rule::CommandNeeds, message).at(format!("spec.config.{ENDPOINT_TYPE}"));
        findings.push(finding.current(other.clone()).proposed("hostname"));
    }
}

fn live_needs(exposed: &Exposed, path: &str, findings: &mut Vec<Finding>) {
    if exposed.access.gateway.is_none() && exposed.service.service_type == ServiceType::ClusterIp {
        let message = "`announce: Live` needs a way in from outside, and Services of type ClusterIP are none: use NodePort, LoadBalancer or a gateway";
        findings.push(Finding::error(Rule::LiveNeeds, message).at(format!("{path}.serviceType")).current("ClusterIP"));
    }
}

/// The image of a cluster is the operator's own where none is given, and that is new enough.
fn valkey_version(spec: &Map<String, Value>, findings: &mut Vec<Finding>) {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).filter(|image| !image.is_empty()).map(str::to_owned);
    let own = server::container(spec)
        .and_then(|(index, container)| Some((text(container.get("image"))?, format!("spec.containers[{index}].image"))));
    let Some((image, field)) = own.or_else(|| Some((text(spec.get("image"))?, "spec.image".to_owned()))) else { return };
    match major(&image) {
        Some(major) if major < FIRST_MAJOR => {
            let message = format!(
                "`{image}` is a Valkey before {FIRST_MAJOR}.0, whose nodes cannot announce a port to clients: use {FIRST_MAJOR}.0 or later"
            );
            findings.push(Finding::error(Rule::ValkeyVersion, message).at(field).current(image));
        }
        Some(_) => {}
        None => {
            let message = format!(
                "the version of Valkey cannot be told from `{image}`: it must be {FIRST_MAJOR}.0 or later, for nodes to announce a port to clients"
            );
            findings.push(Finding::warning(Rule::ValkeyVersion, message).at(field).current(image));
        }
    }
}

/// The first number of an image's tag.
fn major(image: &str) -> Option<u64> {
    let name = image.split('@').next()?.rsplit('/').next()?;
    let (_, tag) = name.split_once(':')?;
    let tag = tag.strip_prefix('v').unwrap_or(tag);
    let digits = tag.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = tag.split_at_checked(digits)?;
    if rest.is_empty() || rest.starts_with(['.', '-', '_']) { number.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn versions_of_images() {
        for (image, version) in [
            ("valkey/valkey:9.1.2", Some(9)),
            ("docker.io/valkey/valkey:8.1.3-alpine", Some(8)),
            ("registry.example.org:5000/valkey:v9", Some(9)),
            ("valkey:10-bookworm@sha256:00", Some(10)),
            ("registry.example.org:5000/valkey", None),
            ("valkey@sha256:00", None),
            ("valkey:latest", None),
            ("valkey:9a", None),
            ("valkey", None),
        ] {
            assert_eq!(major(image), version, "{image}");
        }
    }
}
