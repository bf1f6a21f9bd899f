//! One pass over one node: what is to be announced, and the server told so.

use std::net::SocketAddr;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::facts::{ClusterFacts, Login, NodeKey, NodeService, Ref, ServerPod, TlsFacts};
use super::record::{Run, Told};
use super::secrets::Secrets;
use super::server::{Failure, Server};
use super::settings::{Change, Settings};
use super::source::{Around, Missing, wanted};
use super::state::Outcome;
use super::trust::Trust;
use super::world::{Seen, World};

/// Where a server listens when the Service does not say.
const USUAL_PORT: u16 = 6379;

/// Makes passes. Shared by all of them.
#[derive(Clone)]
pub(crate) struct Passes {
    pub(crate) world: Arc<World>,
    pub(crate) secrets: Arc<Secrets>,
    /// Whether servers are told; otherwise it is only found out what they would be told.
    pub(crate) set: bool,
}

/// What stops a pass.
enum Stop {
    Missing(Missing),
    Failure(Failure),
}

impl From<Missing> for Stop {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl Passes {
    /// Makes one node's announcement right, or takes it back where its Service is gone; `told` is what its server was told before.
    pub(crate) async fn pass(&self, key: &NodeKey, told: Option<&Told>) -> Outcome {
        let seen = self.world.seen(key);
        let outcome = match &seen.service {
            Some(Ok(service)) => self.announce(key, service, &seen).await,
            Some(Err(words)) => Err(Missing::Mistake(words.clone()).into()),
            None => self.withdraw(key, &seen, told).await,
        };
        outcome.unwrap_or_else(|stop| match stop {
            Stop::Missing(missing) => Outcome::Waits(missing),
            Stop::Failure(failure) => Outcome::Fails(failure),
        })
    }

    async fn announce(&self, key: &NodeKey, service: &NodeService, seen: &Seen) -> Result<Outcome, Stop> {
        let cluster = seen.cluster.as_ref().ok_or_else(|| Missing::Wait(format!("there is no ValkeyCluster {} yet", key.cluster)))?;
        let announcement = wanted(&around(key, service, seen))?;
        let pod = seen.pod.as_ref().ok_or_else(|| Missing::Wait(format!("there is no pod of {key} yet")))?;
        let port = target_port(service.target.as_ref(), pod);
        let changes = self.settle(key, &service.login, cluster, pod, port, &Settings::of(&announcement)).await?;
        Ok(Outcome::Announces { announcement, changes, pod: pod.name.clone(), run: Run::of(pod), login: service.login.clone() })
    }

    /// Back to the defaults, but only in the very run of the server that we told: another one has forgotten it, and may announce
    /// what its own command says.
    async fn withdraw(&self, key: &NodeKey, seen: &Seen, told: Option<&Told>) -> Result<Outcome, Stop> {
        let ours = told.zip(seen.pod.as_ref()).zip(seen.cluster.as_ref()).filter(|((told, pod), _)| told.run == Run::of(pod));
        let Some(((told, pod), cluster)) = ours else { return Ok(Outcome::Withdrawn { changes: Vec::new() }) };
        let port = target_port(None, pod);
        let changes = self.settle(key, &told.login, cluster, pod, port, &Settings::defaults()).await?;
        Ok(Outcome::Withdrawn { changes })
    }

    /// Once more where a password or certificate is refused that may have been replaced a moment ago.
    async fn settle(
        &self,
        key: &NodeKey,
        login: &Login,
        cluster: &ClusterFacts,
        pod: &ServerPod,
        port: u16,
        settings: &Settings,
    ) -> Result<Vec<Change>, Stop> {
        let result = self.settle_with_what_is_known(key, login, cluster, pod, port, settings).await;
        let namespace = &key.cluster.namespace;
        match (&result, &cluster.tls) {
            (Err(Stop::Failure(Failure::Login(_))), _) => self.secrets.forget(&Ref::new(namespace, &login.secret)),
            (Err(Stop::Failure(Failure::Certificate(_))), Some(TlsFacts { secret: Some(name) })) => {
                self.secrets.forget(&Ref::new(namespace, name));
            }
            _ => return result,
        }
        self.settle_with_what_is_known(key, login, cluster, pod, port, settings).await
    }

    async fn settle_with_what_is_known(
        &self,
        key: &NodeKey,
        login: &Login,
        cluster: &ClusterFacts,
        pod: &ServerPod,
        port: u16,
        settings: &Settings,
    ) -> Result<Vec<Change>, Stop> {
        let ip = pod.ip.ok_or_else(|| Missing::Wait(format!("pod {} has no address yet", pod.name)))?;
        let namespace = &key.cluster.namespace;
        let secret = Ref::new(namespace, &login.secret);
        let password = self.secrets.value(&secret, &login.key).await?;
        let password = String::from_utf8(password)
            .map_err(|_| Missing::Mistake(format!("key {} of Secret {secret}: must hold a password in UTF-8", login.key)))?;
        let trust = match &cluster.tls {
            None => None,
            Some(tls) => Some(self.trust(key, tls).await?),
        };
        let server = Server { address: SocketAddr::new(ip, port), trust, username: login.username.clone(), password };
        Ok(server.settle(settings, self.set).await?)
    }

    async fn trust(&self, key: &NodeKey, tls: &TlsFacts) -> Result<Trust, Missing> {
        let Ref { namespace, name: cluster } = &key.cluster;
        let name = tls.secret.as_ref().ok_or_else(|| {
            Missing::Mistake(format!("ValkeyCluster {} has TLS on and names no Secret with the certificate", key.cluster))
        })?;
        let ca = self.secrets.value(&Ref::new(namespace, name), "ca.crt").await?;
        Trust::new(namespace, cluster, name, &ca).map_err(Missing::Mistake)
    }
}

/// What decides about a node's announcement.
pub(crate) fn around<'a>(key: &'a NodeKey, service: &'a NodeService, seen: &'a Seen) -> Around<'a> {
    Around {
        key,
        service,
        pod: seen.pod.as_ref(),
        machine: seen.machine.as_deref(),
        gateway: seen.gateway.as_deref(),
        tls: seen.cluster.as_ref().is_some_and(|cluster| cluster.tls.is_some()),
    }
}

/// The port of the pod that the Service leads to. Without a Service the one that is called `client`, as the operator has it.
fn target_port(target: Option<&IntOrString>, pod: &ServerPod) -> u16 {
    let named = |name: &str| pod.ports.iter().find(|(has, _)| has == name).map(|(_, port)| *port);
    match target {
        Some(IntOrString::Int(port)) => u16::try_from(*port).ok().filter(|port| *port != 0),
        Some(IntOrString::String(name)) => named(name),
        None => named("client"),
    }
    .unwrap_or(USUAL_PORT)
}
