//! `/metrics` and `/healthz`.

use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use tokio::net::TcpListener;

use crate::daemon::complaints::Complaints;
use crate::daemon::metrics::Metrics;
use crate::daemon::poller::Silence;

/// The content type of the text format.
const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the pages show.
#[derive(Clone)]
pub(crate) struct Pages {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) complaints: Complaints,
    pub(crate) silence: Arc<Silence>,
}

/// Serves the pages until the task is ended.
pub(crate) async fn serve(listener: TcpListener, pages: Pages) {
    let scraped = pages.clone();
    let metrics = move || {
        let page = scraped.metrics.page(&scraped.complaints);
        async move { ([(header::CONTENT_TYPE, METRICS_TYPE)], page) }
    };
    let healthz = move || {
        let answer = health(&pages);
        async move { answer }
    };
    let router = Router::new().route("/metrics", get(metrics)).route("/healthz", get(healthz));
    // It ends with the task; an error of the listener is seen by whoever probes it.
    let _ = axum::serve(listener, router).await;
}

/// A missing permission is told but does not make the process ill: a restart would not help.
fn health(pages: &Pages) -> (StatusCode, String) {
    let (status, mut text) = match pages.silence.complaint() {
        None => (StatusCode::OK, "ok\n".to_owned()),
        Some(complaint) => (StatusCode::SERVICE_UNAVAILABLE, format!("{complaint}\n")),
    };
    for line in pages.complaints.lines() {
        text.push_str(&line);
        text.push('\n');
    }
    (status, text)
}
