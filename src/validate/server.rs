//! The `server` container in a cluster's `spec.containers`: what of it `announce: Command` has put there, and what is the user's.
//!
//! What is ours is known by its data, as comments do not outlive every tool: environment variables of our names, and a command
//! that uses them. One of them says how much was added, so that exactly that can be taken out again.

use serde_json::{Map, Value};

/// Name of the container that the operator runs the server in.
pub const SERVER: &str = "server";
/// The server's shard index, from its pod's label.
pub const SHARD_ENV: &str = "EXPOSE_VALKEY_SHARD";
/// The server's node index, from its pod's label.
pub const NODE_ENV: &str = "EXPOSE_VALKEY_NODE";
/// How much was added, one of [`Added`].
pub const ADDED_ENV: &str = "EXPOSE_VALKEY_ADDED";

/// How much `announce: Command` has added to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// `spec.containers` itself.
    Containers,
    /// An entry of it.
    Container,
    /// `command` and `env` of an entry.
    Env,
    /// `command`, and entries of `env`.
    Command,
}

impl Added {
    const ALL: [Added; 4] = [Added::Containers, Added::Container, Added::Env, Added::Command];

    /// As the variable has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Added::Containers => "containers",
            Added::Container => "container",
            Added::Env => "env",
            Added::Command => "command",
        }
    }
}

/// What is ours in a cluster's spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Index of the `server` entry in `containers`.
    pub entry: usize,
    /// Whether the command is ours.
    pub command: bool,
    /// Indexes of the entries of `env` that are ours.
    pub env: Vec<usize>,
    /// What was added, as it is said in `env`.
    pub added: Added,
    /// What can go as a whole: what was added, unless something of the user's is in it by now.
    pub whole: Added,
}

impl Patch {
    /// Finds what is ours, if anything is.
    #[must_use]
    pub fn find(spec: &Map<String, Value>) -> Option<Self> {
        let containers = spec.get("containers")?.as_array()?;
        let entry = entry(containers)?;
        let container = containers.get(entry)?.as_object()?;
        let command = container.get("command").is_some_and(is_own_command);
        let variables = container.get("env").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let env: Vec<usize> = (0..).zip(variables).filter(|(_, variable)| is_own_variable(variable)).map(|(index, _)| index).collect();
        let said = variables.iter().find(|variable| name(variable) == ADDED_ENV).and_then(|variable| variable.get("value")?.as_str());
        let added = match Added::ALL.into_iter().find(|added| said == Some(added.as_str())) {
            Some(added) => added,
            // Somebody has edited what was added; variables alone that have our names are the user's.
            None if command => Added::Containers,
            None => return None,
        };
        let all_env = env.len() == variables.len();
        let own_key = |key: &String| match key.as_str() {
            "name" => true,
            "command" => command,
            "env" => all_env,
            _ => false,
        };
        let only_ours = container.keys().all(own_key);
        let whole = match added {
            Added::Command => Added::Command,
            _ if !all_env => Added::Command,
            Added::Env => Added::Env,
            _ if !only_ours => Added::Env,
            Added::Containers if containers.len() == 1 => Added::Containers,
            Added::Containers | Added::Container => Added::Container,
        };
        Some(Patch { entry, command, env, added, whole })
    }
}

/// The spec as the user wrote it.
#[must_use]
pub fn without_patch(spec: &Map<String, Value>) -> Map<String, Value> {
    let mut spec = spec.clone();
    let Some(patch) = Patch::find(&spec) else { return spec };
    if patch.whole == Added::Containers {
        spec.shift_remove("containers");
        return spec;
    }
    let Some(containers) = spec.get_mut("containers").and_then(Value::as_array_mut) else { return spec };
    if patch.whole == Added::Container {
        containers.remove(patch.entry);
        return spec;
    }
    let Some(container) = containers.get_mut(patch.entry).and_then(Value::as_object_mut) else { return spec };
    if patch.command {
        container.shift_remove("command");
    }
    if patch.whole == Added::Env {
        container.shift_remove("env");
    } else if let Some(variables) = container.get_mut("env").and_then(Value::as_array_mut) {
        variables.retain(|variable| !is_own_variable(variable));
    }
    spec
}

/// The user's `server` entry and its index.
#[must_use]
pub fn container(spec: &Map<String, Value>) -> Option<(usize, &Map<String, Value>)> {
    let containers = spec.get("containers")?.as_array()?;
    let index = entry(containers)?;
    Some((index, containers.get(index)?.as_object()?))
}

/// A variable of the user's that has one of our names, and the index of the entry that it is in.
#[must_use]
pub fn variable_of_our_name(spec: &Map<String, Value>) -> Option<(usize, &str)> {
    let (index, container) = container(spec)?;
    let variables = container.get("env")?.as_array()?;
    Some((index, name(variables.iter().find(|variable| is_own_variable(variable))?)))
}

fn entry(containers: &[Value]) -> Option<usize> {
    containers.iter().position(|container| name(container) == SERVER)
}

fn name(entry: &Value) -> &str {
    entry.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn is_own_variable(variable: &Value) -> bool {
    [SHARD_ENV, NODE_ENV, ADDED_ENV].contains(&name(variable))
}

fn is_own_command(command: &Value) -> bool {
    let script = match command.as_array().map(Vec::as_slice) {
        Some([shell, option, script]) if shell == "/bin/sh" && option == "-c" => script.as_str(),
        _ => None,
    };
    script.is_some_and(|script| script.contains(SHARD_ENV))
}
