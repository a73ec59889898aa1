//! `/metrics` and `/healthz` for the daemon: two pages do not need a framework.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::daemon::Health;
use crate::metrics::Metrics;

/// A request line and the headers of a scraper fit easily.
const REQUEST_BYTES_MAX: usize = 8 * 1024;

/// Whoever is slower than this is not a scraper.
const TIME_OUT: Duration = Duration::from_secs(5);

/// Serves the two pages until the task is ended.
pub(crate) async fn serve(listener: TcpListener, metrics: Arc<Metrics>, health: Arc<Health>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, most likely; trying at once would only spin.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (metrics, health) = (Arc::clone(&metrics), Arc::clone(&health));
        tokio::spawn(tokio::time::timeout(TIME_OUT, async move {
            // A scraper that went away is its own loss.
            let _ = answer(stream, &metrics, &health).await;
        }));
    }
}

async fn answer(mut stream: TcpStream, metrics: &Metrics, health: &Health) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut piece = [0; 1_024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST_BYTES_MAX {
        match stream.read(&mut piece).await? {
            0 => break,
            read => request.extend_from_slice(&piece[..read]),
        }
    }
    let (status, body) = page(&request, metrics, health);
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

fn page(request: &[u8], metrics: &Metrics, health: &Health) -> (&'static str, String) {
    if request.starts_with(b"GET /metrics ") {
        return ("200 OK", metrics.page());
    }
    if request.starts_with(b"GET /healthz ") {
        return match health.complaint() {
            None => ("200 OK", "ok\n".to_owned()),
            Some(complaint) => ("503 Service Unavailable", format!("{complaint}\n")),
        };
    }
    ("404 Not Found", "there is /metrics and /healthz\n".to_owned())
}
