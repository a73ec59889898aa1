//! The two ports people and instances look at: metrics, and whether the process is well.

use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::client::health::Health;
use crate::client::metrics::Scrape;

/// The content type of Prometheus' text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Metrics of others in the process, in the same format: each call writes those of the moment.
pub type MorePages = Vec<Box<dyn Fn() -> String + Send + Sync>>;

/// Serves `/metrics`, those of others at its end, until dropped.
///
/// # Errors
/// The port is taken or may not be used.
pub async fn serve_metrics(
    port: u16,
    scrapes: mpsc::Sender<Scrape>,
    more: MorePages,
) -> io::Result<u16> {
    let more = Arc::new(more);
    let scrape = move || {
        let (scrapes, more) = (scrapes.clone(), Arc::clone(&more));
        async move {
            let (scrape, answer) = Scrape::new();
            let asked = scrapes.send(scrape).await;
            match (asked, answer.await) {
                (Ok(()), Ok(mut page)) => {
                    more.iter().for_each(|write| page.push_str(&write()));
                    Ok(([(header::CONTENT_TYPE, METRICS_TYPE)], page))
                }
                _ => Err(StatusCode::SERVICE_UNAVAILABLE),
            }
        }
    };
    serve(port, Router::new().route("/metrics", get(scrape))).await
}

/// Serves `/healthz` and `/readyz` until dropped.
///
/// # Errors
/// The port is taken or may not be used.
pub async fn serve_health(port: u16, health: Health) -> io::Result<u16> {
    let ready = move || {
        let readiness = health.readiness();
        async move {
            match readiness {
                Ok(()) => (StatusCode::OK, "ok".to_owned()),
                Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")),
            }
        }
    };
    let router =
        Router::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(ready));
    serve(port, router).await
}

/// Binds before it returns, so that a taken port is known at the start. Port 0 takes any; the one
/// taken is returned.
async fn serve(port: u16, router: Router) -> io::Result<u16> {
    let everywhere = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let listener = match TcpListener::bind(everywhere).await {
        Ok(listener) => listener,
        // Hosts without IPv6.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
        Err(_) => TcpListener::bind(("0.0.0.0", port)).await?,
    };
    let port = listener.local_addr()?.port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(port)
}
