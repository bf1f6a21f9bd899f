//! What is wrong, or likely not meant, though each value by itself is right: in one cluster, and over all clusters of the list.

mod allowed;
mod annotations;
mod certificates;
mod emitted;
mod foreign;
mod gateway;
mod headless;
mod hostnames;
mod live;
mod moved;
mod node_ports;
mod route_version;
mod twice;
mod way_in;

use crate::finding::Finding;
use crate::object::Object;
use crate::own::ByCluster;
use crate::validate::{Config, Exposed};

pub use foreign::foreign;
pub use live::left_to_the_controller;
pub use route_version::route_version;

/// All findings over clusters that are valid one by one.
pub fn all(clusters: &[Exposed], config: &Config, objects: &[Object], own: &ByCluster<'_>, findings: &mut Vec<Finding>) {
    twice::clusters(clusters, findings);
    headless::services(clusters, config, objects, findings);
    for cluster in clusters {
        annotations::of_services(cluster, findings);
        gateway::section_name(cluster, config, findings);
        emitted::needs(cluster, config, findings);
        node_ports::pinned_unused(cluster, config, findings);
        way_in::inside_only(cluster, config, findings);
        moved::ports(cluster, config, own, findings);
    }
    gateway::listeners(clusters, config, objects, findings);
    gateway::gateways_in_list(clusters, config, objects, findings);
    allowed::namespaces(clusters, config, objects, findings);
    node_ports::taken(clusters, objects, findings);
    hostnames::overlap(clusters, findings);
    certificates::shared(clusters, config, objects, findings);
    certificates::names(clusters, objects, findings);
}
