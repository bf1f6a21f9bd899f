//! Whether this Kubernetes cluster has the routes of Gateway API that lead to Valkey nodes.

use std::sync::Arc;
use std::time::Duration;

use kube::{Client, Error};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Versions that serve, or served, TCPRoute or TLSRoute.
const VERSIONS: [&str; 3] = ["v1", "v1alpha3", "v1alpha2"];
/// Who needs Gateway API and did not find it asks again after this time, or half of it: CRDs may be installed at any time.
pub const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(30);
/// For so long an answer is good for all who ask. Less than the shortest pause, or it would be answered from memory for ever.
const FRESH: Duration = Duration::from_secs(10);

/// Asks the API server, and remembers the answer for a while. Cheap to clone.
#[derive(Clone)]
pub struct GatewayApi {
    client: Client,
    answer: Arc<Mutex<Option<(Instant, bool)>>>,
}

impl GatewayApi {
    /// Asks by this client.
    pub fn new(client: Client) -> Self {
        Self { client, answer: Arc::default() }
    }

    /// Whether TCPRoute or TLSRoute is served, in any version.
    ///
    /// # Errors
    /// When the API server does not answer.
    pub async fn is_served(&self) -> Result<bool, Error> {
        let mut answer = self.answer.lock().await;
        match *answer {
            Some((asked, served)) if asked.elapsed() < FRESH => Ok(served),
            _ => {
                let served = self.ask().await?;
                *answer = Some((Instant::now(), served));
                Ok(served)
            }
        }
    }

    async fn ask(&self) -> Result<bool, Error> {
        for version in VERSIONS {
            match self.client.list_api_group_resources(&format!("gateway.networking.k8s.io/{version}")).await {
                Ok(list) if list.resources.iter().any(|resource| matches!(resource.name.as_str(), "tcproutes" | "tlsroutes")) => {
                    return Ok(true);
                }
                Ok(_) => {}
                Err(Error::Api(status)) if status.code == 404 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}
