//! The `server` container as `announce: Command` has it: the operator's own command, and behind it what the node announces.

use serde_json::{Value, json};

use super::metadata::{NODE_LABEL, SHARD_LABEL};
use crate::plan::ClientPorts;
use crate::validate::Exposed;
use crate::validate::server::{ADDED_ENV, Added, NODE_ENV, SERVER, SHARD_ENV};

/// What the operator starts servers with. It writes `$(POD_IP)` and `$(PRIMARY_AUTH)`, and Kubernetes puts the values in their
/// place. Here that would put them into the text of a script, where a password with a quote in it is code; so the shell reads
/// the same two variables itself, in double quotes, and takes whatever is in them for one word.
const OPERATOR: [&str; 2] =
    ["valkey-server /config/valkey.conf", r#"--cluster-announce-ip "$POD_IP" --primaryuser _replication --primaryauth "$PRIMARY_AUTH""#];

/// Command and environment of the servers of a cluster; nothing for one whose hostnames or ports are not known. `added` is said
/// in the environment: see [`Added`].
#[must_use]
pub fn server_container(exposed: &Exposed, added: Added) -> Option<Value> {
    let field = |label: &str| json!({"fieldRef": {"fieldPath": format!("metadata.labels['{label}']")}});
    Some(json!({
        "name": SERVER,
        "command": ["/bin/sh", "-c", script(exposed)?],
        "env": [
            {"name": ADDED_ENV, "value": added.as_str()},
            {"name": SHARD_ENV, "valueFrom": field(SHARD_LABEL)},
            {"name": NODE_ENV, "valueFrom": field(NODE_LABEL)},
        ],
    }))
}

/// The script is the same for all nodes, and says nothing of how many there are: a shard more leaves it as it is. Kubernetes
/// replaces `$(NAME)` in commands where there is a variable NAME; `$((…))` is none, and stays.
fn script(exposed: &Exposed) -> Option<String> {
    let cluster = &exposed.plan.cluster;
    let (prefix, domain) = (cluster.hostname_prefix.as_str(), cluster.domain.as_ref()?.as_str());
    let indexes = if cluster.has_node_hostnames() { format!("${SHARD_ENV}-${NODE_ENV}") } else { format!("${SHARD_ENV}") };
    let (before, port) = port(&exposed.plan.client_ports()?);
    let port_option = if exposed.tls { "--cluster-announce-client-tls-port" } else { "--cluster-announce-client-port" };
    let [program, options] = OPERATOR;
    Some(format!(
        "{before}exec {program} \\\n  {options} \\\n  --cluster-preferred-endpoint-type hostname \\\n  --cluster-announce-hostname \"{prefix}-{indexes}.{domain}\" \\\n  {port_option} \"{port}\""
    ))
}

/// What must come before the command, and the client port in it.
fn port(ports: &ClientPorts) -> (String, String) {
    match ports {
        ClientPorts::Same(port) => (String::new(), port.to_string()),
        ClientPorts::Formula { base, stride: 0 } => (String::new(), format!("$(({base} + {NODE_ENV}))")),
        ClientPorts::Formula { base, stride } => (String::new(), format!("$(({base} + {SHARD_ENV} * {stride} + {NODE_ENV}))")),
        ClientPorts::Listed(ports) => {
            let mut text = format!(
                "# These ports follow no formula. A node more is a line more here, and all nodes restart for it.\ncase \"${SHARD_ENV}-${NODE_ENV}\" in\n"
            );
            for (shard, node, port) in ports {
                text.push_str(&format!("{shard}-{node}) port={port} ;;\n"));
            }
            // 0 is no announcement: a node that is not listed yet must start all the same.
            text.push_str("*) port=0 ;;\nesac\n");
            (text, "$port".to_owned())
        }
    }
}
