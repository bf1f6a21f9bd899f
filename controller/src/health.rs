//! `/healthz`, `/readyz` and `/metrics`.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::metrics::Metrics;

/// Port of the three pages.
pub const PORT: u16 = 8080;
/// A loop that gave no sign for so long hangs.
const SILENCE: Duration = Duration::from_secs(60);
/// A connection may be held open for so long.
const CONNECTION: Duration = Duration::from_secs(60);

/// Signs of life. Cheap to clone.
#[derive(Clone)]
pub struct Health {
    state: Arc<Mutex<State>>,
}

struct State {
    last_sign: Instant,
    ready: bool,
}

impl Default for Health {
    fn default() -> Self {
        Self { state: Arc::new(Mutex::new(State { last_sign: Instant::now(), ready: false })) }
    }
}

impl Health {
    /// The loop goes round; `reached`: the API server answered it.
    pub fn sign(&self, reached: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last_sign = Instant::now();
        state.ready = reached;
    }

    fn is_alive(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).last_sign.elapsed() < SILENCE
    }

    fn is_ready(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).ready
    }
}

/// Opens the port: the address that is given, else every one, of both families where the machine has both.
///
/// # Errors
/// When it cannot be opened.
pub async fn listen(address: Option<SocketAddr>) -> io::Result<TcpListener> {
    match address {
        Some(address) => TcpListener::bind(address).await,
        None => match TcpListener::bind((Ipv6Addr::UNSPECIFIED, PORT)).await {
            Ok(listener) => Ok(listener),
            Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).await,
        },
    }
}

/// Answers until `stop`.
pub async fn serve(listener: TcpListener, health: Health, metrics: Metrics, stop: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (health, metrics) = (health.clone(), metrics.clone());
                let service = service_fn(move |request| {
                    let answer = answer(&request, &health, &metrics);
                    async move { Ok::<_, Infallible>(answer) }
                });
                let mut http = http1::Builder::new();
                http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(10));
                let connection = http.serve_connection(TokioIo::new(stream), service);
                tokio::spawn(async move {
                    if let Ok(Err(error)) = timeout(CONNECTION, connection).await {
                        debug!("a connection to the health port ended: {error}");
                    }
                });
            }
            Err(error) => {
                // Out of files, most likely: others must end first.
                warn!("the health port took no connection: {error}");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

fn answer(request: &Request<Incoming>, health: &Health, metrics: &Metrics) -> Response<Full<Bytes>> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return page(StatusCode::METHOD_NOT_ALLOWED, "only GET\n".to_owned());
    }
    match request.uri().path() {
        "/healthz" => yes_or_no(health.is_alive(), "no sign of life for a minute\n"),
        "/readyz" => yes_or_no(health.is_ready(), "the API server was not reached\n"),
        "/metrics" => {
            let mut page = page(StatusCode::OK, metrics.text());
            let openmetrics = hyper::header::HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            page.headers_mut().insert(CONTENT_TYPE, openmetrics);
            page
        }
        _ => page(StatusCode::NOT_FOUND, "/healthz, /readyz or /metrics\n".to_owned()),
    }
}

fn yes_or_no(yes: bool, otherwise: &str) -> Response<Full<Bytes>> {
    match yes {
        true => page(StatusCode::OK, "ok\n".to_owned()),
        false => page(StatusCode::SERVICE_UNAVAILABLE, otherwise.to_owned()),
    }
}

fn page(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response
}
