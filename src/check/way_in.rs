//! Whether anybody gets to the Services from outside.

use crate::api::{Announce, ServiceType};
use crate::finding::Finding;
use crate::rule::Rule;
use crate::validate::{Config, Exposed};

/// Something else may lead to Services of type ClusterIP, such as a proxy, so that this is no error; but the controller finds no
/// address then, and for it that is one.
pub(super) fn inside_only(cluster: &Exposed, config: &Config, findings: &mut Vec<Finding>) {
    if config.announce == Some(Announce::Live) || cluster.gateway.is_some() || cluster.service.service_type != ServiceType::ClusterIp {
        return;
    }
    let message = "Services of type ClusterIP lead nobody in from outside the Kubernetes cluster: use NodePort, LoadBalancer or a gateway, unless routes or proxies of your own lead to them";
    findings.push(cluster.finding(Finding::warning(Rule::InsideOnly, message).at("spec.externalAccess.serviceType").current("ClusterIP")));
}
