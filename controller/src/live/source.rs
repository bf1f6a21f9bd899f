//! What a node is to announce, or what is still waited for. Pure: the same facts give the same answer.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::facts::{Address, CLIENT_PORT, Kind, NodeKey, NodeService, Ref, ServerPod};

/// Where clients are to go for a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The name or the addresses.
    pub host: Host,
    /// The port outside.
    pub port: u16,
    /// Whether the port is that of a cluster with TLS.
    pub tls: bool,
}

/// A name, or an address of either family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A name that clients resolve.
    Name(String),
    /// Addresses, of which one at least is there.
    Addresses {
        /// For clients that come by IPv4.
        v4: Option<Ipv4Addr>,
        /// For clients that come by IPv6.
        v6: Option<Ipv6Addr>,
    },
}

impl fmt::Display for Announcement {
    /// `HOST:PORT`, as a client writes it; both families with `and` between them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = self.port;
        match &self.host {
            Host::Name(name) => write!(f, "{name}:{port}"),
            Host::Addresses { v4: Some(v4), v6: Some(v6) } => write!(f, "{v4}:{port} and [{v6}]:{port}"),
            Host::Addresses { v4: Some(v4), v6: None } => write!(f, "{v4}:{port}"),
            Host::Addresses { v4: None, v6: Some(v6) } => write!(f, "[{v6}]:{port}"),
            Host::Addresses { v4: None, v6: None } => write!(f, ":{port}"),
        }
    }
}

/// What is in the way of an announcement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Something that comes by itself: "load balancer of valkey-cache-0-1 has no address yet".
    Wait(String),
    /// Something that a person has to put right.
    Mistake(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wait(words) | Self::Mistake(words) => f.write_str(words),
        }
    }
}

/// What is known around a node. What was not looked for, as nobody needs it, is empty too.
#[derive(Debug, Clone)]
pub(crate) struct Around<'a> {
    pub(crate) key: &'a NodeKey,
    pub(crate) service: &'a NodeService,
    pub(crate) pod: Option<&'a ServerPod>,
    /// Addresses of the Kubernetes node where the pod runs; `None`: not seen yet.
    pub(crate) machine: Option<&'a [(String, Address)]>,
    /// Addresses of the Gateway; `None`: there is none of that name.
    pub(crate) gateway: Option<&'a [Address]>,
    /// Whether the cluster's servers speak TLS.
    pub(crate) tls: bool,
}

/// Whether a Service needs the address of the Kubernetes node where the pod runs.
pub(crate) fn needs_machine(service: &NodeService) -> bool {
    service.hostname.is_none() && service.gateway.is_none() && service.kind == Kind::NodePort
}

/// The Gateway whose address a Service needs.
pub(crate) fn needed_gateway(service: &NodeService) -> Option<&Ref> {
    service.gateway.as_ref().filter(|_| service.hostname.is_none())
}

/// Works out what a node is to announce.
///
/// # Errors
/// What is missing, in words.
pub(crate) fn wanted(around: &Around<'_>) -> Result<Announcement, Missing> {
    let port = port(around.service)?;
    let host = match &around.service.hostname {
        Some(name) => Host::Name(name.clone()),
        None => address(around)?,
    };
    Ok(Announcement { host, port, tls: around.tls })
}

/// The port that the annotation gives, else that of the Service.
fn port(service: &NodeService) -> Result<u16, Missing> {
    let NodeService { name, port_name, .. } = service;
    if let Some(text) = &service.client_port {
        return text.parse().ok().filter(|port| *port != 0).ok_or_else(|| {
            Missing::Mistake(format!("annotation {CLIENT_PORT} of Service {name}: must be a number from 1 to 65535, got \"{text}\""))
        });
    }
    match service.kind {
        Kind::NodePort => service.node_port.ok_or_else(|| Missing::Wait(format!("port of {name}/{port_name} not allocated yet"))),
        Kind::LoadBalancer => Ok(service.port),
        Kind::Internal => Err(Missing::Mistake(format!(
            "Service {name} is of type ClusterIP and has no annotation {CLIENT_PORT}: no client outside can reach it. Set the annotation to the port of the gateway, or make the Service a NodePort or LoadBalancer"
        ))),
    }
}

fn address(around: &Around<'_>) -> Result<Host, Missing> {
    let name = &around.service.name;
    if let Some(gateway) = &around.service.gateway {
        let addresses = around.gateway.ok_or_else(|| {
            let namespace = &gateway.namespace;
            Missing::Wait(format!(
                "Gateway {gateway} is not there yet, or the controller may not list and watch Gateways in namespace {namespace}"
            ))
        })?;
        return first(addresses).ok_or_else(|| Missing::Wait(format!("Gateway {gateway} has no address yet")));
    }
    match around.service.kind {
        Kind::LoadBalancer => {
            first(&around.service.ingress).ok_or_else(|| Missing::Wait(format!("load balancer of {name} has no address yet")))
        }
        Kind::NodePort => machine_address(around),
        Kind::Internal => Err(Missing::Mistake(format!(
            "Service {name} is of type ClusterIP and names neither a hostname nor a gateway: set the annotation fn.valkey.io/hostname or fn.valkey.io/gateway"
        ))),
    }
}

/// The address of the Kubernetes node where the pod runs.
fn machine_address(around: &Around<'_>) -> Result<Host, Missing> {
    let pod = around.pod.ok_or_else(|| Missing::Wait(format!("there is no pod of {} yet", around.key)))?;
    let machine = pod.machine.as_ref().ok_or_else(|| Missing::Wait(format!("pod {} is not scheduled yet", pod.name)))?;
    let addresses = around.machine.ok_or_else(|| Missing::Wait(format!("Kubernetes node {machine} is not seen yet")))?;
    let types = &around.service.node_address_types;
    // Sorted by the wish for a type; within a type the node's own order stays.
    let wished: Vec<Address> =
        types.iter().flat_map(|kind| addresses.iter().filter(move |(has, _)| has == kind)).map(|(_, address)| address.clone()).collect();
    first(&wished).ok_or_else(|| Missing::Wait(format!("Kubernetes node {machine} has no address of type {}", types.join(" or "))))
}

/// The first name if it comes before any address, else the first address of each family.
fn first(addresses: &[Address]) -> Option<Host> {
    if let Address::Name(name) = addresses.first()? {
        return Some(Host::Name(name.clone()));
    }
    let ips = || addresses.iter().filter_map(|address| if let Address::Ip(ip) = address { Some(*ip) } else { None });
    let v4 = ips().find_map(|ip| if let IpAddr::V4(ip) = ip { Some(ip) } else { None });
    let v6 = ips().find_map(|ip| if let IpAddr::V6(ip) = ip { Some(ip) } else { None });
    Some(Host::Addresses { v4, v6 })
}

#[cfg(test)]
mod tests;
