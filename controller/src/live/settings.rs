//! From an announcement to settings of the server, and what of them has to change.

use std::collections::HashMap;

use super::source::{Announcement, Host};

/// The settings that are ours, with what a server has when nobody set them. Never `cluster-announce-ip`: the nodes talk to each other
/// by it.
pub const DEFAULTS: [(&str, &str); 6] = [
    ("cluster-announce-hostname", ""),
    ("cluster-preferred-endpoint-type", "ip"),
    ("cluster-announce-client-ipv4", ""),
    ("cluster-announce-client-ipv6", ""),
    ("cluster-announce-client-port", "0"),
    ("cluster-announce-client-tls-port", "0"),
];

/// A value for each of the settings, in the order of [`DEFAULTS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings([(&'static str, String); 6]);

/// One setting that has to change, and to what.
pub type Change = (&'static str, String);

impl Settings {
    /// What a server has that was told nothing.
    pub fn defaults() -> Self {
        Self(DEFAULTS.map(|(key, value)| (key, value.to_owned())))
    }

    /// What makes a server announce this, and nothing else.
    pub fn of(announcement: &Announcement) -> Self {
        let (name, v4, v6) = match &announcement.host {
            Host::Name(name) => (name.clone(), String::new(), String::new()),
            Host::Addresses { v4, v6 } => (String::new(), text(v4.as_ref()), text(v6.as_ref())),
        };
        let endpoint = if name.is_empty() { "ip" } else { "hostname" };
        let port = |tls: bool| if announcement.tls == tls { announcement.port } else { 0 }.to_string();
        let values = [name, endpoint.to_owned(), v4, v6, port(false), port(true)];
        let mut pairs = DEFAULTS.map(|(key, _)| key).into_iter().zip(values);
        Self(DEFAULTS.map(|(key, default)| pairs.next().unwrap_or((key, default.to_owned()))))
    }

    /// What has to change on a server that has these values.
    ///
    /// # Errors
    /// The settings that this server does not know at all, though a value is wanted for them.
    pub fn difference(&self, current: &HashMap<String, String>) -> Result<Vec<Change>, Vec<&'static str>> {
        let unknown: Vec<&'static str> = self
            .0
            .iter()
            .zip(DEFAULTS)
            .filter(|((key, wanted), (_, default))| wanted != default && !current.contains_key(*key))
            .map(|((key, _), _)| *key)
            .collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let differs = |(key, wanted): &&Change| current.get(*key).is_some_and(|value| value != wanted);
        Ok(self.0.iter().filter(differs).cloned().collect())
    }
}

fn text(value: Option<&impl ToString>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests;
