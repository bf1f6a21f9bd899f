//! An API server for tests: answers by a function, and remembers what was asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::context::{Context, LiveOptions, Scope};
use crate::events::Events;
use crate::metrics::Metrics;

/// A request that was made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    /// `PATCH`, `POST`, …
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
    /// The body, null if there was none.
    pub(crate) body: Value,
}

/// Everything that was asked, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Asked>>>);

impl Log {
    /// What was asked with this method since the last look.
    pub(crate) fn take(&self, method: &str) -> Vec<Asked> {
        let mut all = self.0.lock().unwrap();
        let (taken, left) = all.drain(..).partition(|asked| asked.method == method);
        *all = left;
        taken
    }

    /// Reasons of the events that were published since the last look.
    pub(crate) fn take_events(&self) -> Vec<String> {
        self.take("POST").iter().map(|asked| asked.body["reason"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// A context whose API server answers with status and body from `answer`; events are always taken.
pub(crate) fn context(answer: impl Fn(&Asked) -> (u16, Value) + Clone + Send + Sync + 'static) -> (Context, Log) {
    let log = Log::default();
    let seen = log.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (answer, seen) = (answer.clone(), seen.clone());
        async move {
            let (method, path) = (request.method().to_string(), request.uri().to_string());
            let body = request.into_body().collect().await?.to_bytes();
            let asked = Asked { method, path, body: serde_json::from_slice(&body).unwrap_or_default() };
            let (code, body) = if asked.path.contains("/events") { (201, asked.body.clone()) } else { answer(&asked) };
            seen.0.lock().unwrap().push(asked);
            let response = Response::builder().status(code).body(Body::from(body.to_string().into_bytes())).unwrap();
            Ok::<_, kube::Error>(response)
        }
    });
    let client = Client::new(service, "default");
    let events = Events::new(client.clone(), "test");
    let live = LiveOptions { every: Duration::from_secs(180), home: "expose-valkey".to_owned() };
    let context = Context { client, scope: Scope::Cluster, events, metrics: Metrics::default(), live, stop: CancellationToken::new() };
    (context, log)
}

/// An answer of failure.
pub(crate) fn failure(code: u16, message: &str, causes: Value) -> (u16, Value) {
    let details = json!({"causes": causes});
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code, "details": details});
    (code, body)
}
