//! Which version TCPRoutes are written in: what is set, else what the list shows of the cluster that it is for.

use serde_json::Value;

use crate::api::TcpRouteVersion;
use crate::finding::Finding;
use crate::object::Object;
use crate::own::ByCluster;
use crate::render::{Gvk, TCP_ROUTE_V1, TCP_ROUTE_V1ALPHA2};
use crate::rule::Rule;

/// Decides the version, with a warning where the list's own CustomResourceDefinition does not serve it.
pub fn route_version(setting: TcpRouteVersion, objects: &[Object], own: &ByCluster<'_>, findings: &mut Vec<Finding>) -> Gvk {
    let definition = objects
        .iter()
        .find(|o| o.reference.kind == "CustomResourceDefinition" && o.reference.name == "tcproutes.gateway.networking.k8s.io");
    let served = definition.map(served_versions);
    let version = match setting {
        TcpRouteVersion::V1 => TCP_ROUTE_V1,
        TcpRouteVersion::V1Alpha2 => TCP_ROUTE_V1ALPHA2,
        TcpRouteVersion::Auto => match &served {
            Some(served) if served.iter().any(|v| v == "v1") => TCP_ROUTE_V1,
            Some(served) if served.iter().any(|v| v == "v1alpha2") => TCP_ROUTE_V1ALPHA2,
            _ if own.values().flatten().any(|own| own.object.reference.api_version == TCP_ROUTE_V1ALPHA2.api_version) => TCP_ROUTE_V1ALPHA2,
            _ => TCP_ROUTE_V1,
        },
    };
    if let (Some(definition), Some(served)) = (definition, served) {
        let short = version.api_version.rsplit('/').next().unwrap_or_default();
        if !served.is_empty() && !served.iter().any(|v| v == short) {
            let message = format!(
                "TCPRoutes are written as {short}, and this definition serves {} only: set `gatewayAPI.tcpRoute`",
                served.join(", ")
            );
            findings.push(definition.finding(Finding::warning(Rule::RouteVersion, message).at("spec.versions")));
        }
    }
    version
}

fn served_versions(definition: &Object) -> Vec<String> {
    let versions = definition.value.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    let served = versions.filter(|version| version.get("served").and_then(Value::as_bool) == Some(true));
    served.filter_map(|version| Some(version.get("name")?.as_str()?.to_owned())).collect()
}
