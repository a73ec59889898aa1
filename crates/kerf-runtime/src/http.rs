//! The ports that scrapers and kubelets ask: metrics, probes, and whatever else a role shows.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::Router;
use axum::extract::RawQuery;
use axum::http::{StatusCode, header};
use axum::routing::get;
use serde_json::Value;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// The content type of Prometheus' text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The pages of one port.
#[derive(Clone, Debug, Default)]
pub struct Pages(Router);

/// A port that is open; nobody is answered before [`Server::run`].
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    pages: Pages,
}

/// The port is taken or not allowed. Another port helps.
#[derive(Debug, Error)]
#[error("could not listen on {listen}: {source}; choose another port")]
pub struct BindError {
    listen: SocketAddr,
    source: io::Error,
}

impl Pages {
    /// Adds `/metrics`. Where no page can be made the answer is 503.
    #[must_use]
    pub fn metrics<P>(self, page: impl Fn() -> P + Clone + Send + Sync + 'static) -> Self
    where
        P: Future<Output = Option<String>> + Send + 'static,
    {
        let answer = move || {
            let page = page();
            async move {
                let page = page.await.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
                Ok::<_, StatusCode>(([(header::CONTENT_TYPE, METRICS_TYPE)], page))
            }
        };
        Self(self.0.route("/metrics", get(answer)))
    }

    /// Adds a page of plain text: what is well is answered with 200, what is not with 503.
    #[must_use]
    pub fn probe(
        self,
        path: &'static str,
        check: impl Fn() -> Result<String, String> + Clone + Send + Sync + 'static,
    ) -> Self {
        let answer = move || {
            let answer = match check() {
                Ok(text) => (StatusCode::OK, text),
                Err(text) => (StatusCode::SERVICE_UNAVAILABLE, text),
            };
            std::future::ready(answer)
        };
        Self(self.0.route(path, get(answer)))
    }

    /// Adds a page of JSON, by the part of the address after `?`: what is well is answered with
    /// 200, what is not with 503.
    #[must_use]
    pub fn json(
        self,
        path: &str,
        answer: impl Fn(Option<String>) -> Result<Value, Value> + Clone + Send + Sync + 'static,
    ) -> Self {
        let answer = move |RawQuery(query): RawQuery| {
            let (status, body) = match answer(query) {
                Ok(body) => (StatusCode::OK, body),
                Err(body) => (StatusCode::SERVICE_UNAVAILABLE, body),
            };
            let of_json = [(header::CONTENT_TYPE, "application/json")];
            std::future::ready((status, of_json, body.to_string()))
        };
        Self(self.0.route(path, get(answer)))
    }

    /// Opens the port, so that a taken one is known at the start. Port 0 takes any.
    ///
    /// # Errors
    /// The port is taken or may not be used.
    pub async fn bind(self, listen: SocketAddr) -> Result<Server, BindError> {
        let failed = |source| BindError { listen, source };
        let listener = match TcpListener::bind(listen).await {
            // Hosts without IPv6.
            Err(error)
                if error.kind() != io::ErrorKind::AddrInUse
                    && listen.ip() == Ipv6Addr::UNSPECIFIED =>
            {
                TcpListener::bind((Ipv4Addr::UNSPECIFIED, listen.port())).await
            }
            bound => bound,
        };
        let listener = listener.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Server { listener, address, pages: self })
    }
}

/// Every address of this host, on that port.
pub fn all_addresses(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` turns true.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        tokio::select! {
            // Accepting is tried again where it fails: whoever probes the port sees it.
            _ = axum::serve(self.listener, self.pages.0) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    async fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }

    #[tokio::test]
    async fn pages_are_served_with_their_type_and_their_verdict() -> std::io::Result<()> {
        let pages = Pages::default()
            .metrics(|| std::future::ready(Some("up 1\n".to_owned())))
            .probe("/healthz", || Ok("ok\n".to_owned()))
            .probe("/readyz", || Err("not ready: pods\n".to_owned()));
        let server = pages.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.expect("free");
        let address = server.address();
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn(server.run(stopped));
        let metrics = get(address, "/metrics").await?;
        assert!(metrics.contains(METRICS_TYPE) && metrics.ends_with("up 1\n"), "{metrics}");
        assert!(get(address, "/healthz").await?.starts_with("HTTP/1.1 200"));
        let ready = get(address, "/readyz").await?;
        assert!(ready.starts_with("HTTP/1.1 503") && ready.contains("not ready"), "{ready}");
        assert!(get(address, "/other").await?.starts_with("HTTP/1.1 404"));
        stop.send_replace(true);
        running.await.expect("it ends in good order");
        Ok(())
    }

    #[tokio::test]
    async fn a_taken_port_is_told_with_what_to_do() {
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let taken = Pages::default().bind(loopback).await.expect("free").address();
        // The first server is gone, its port is free again; hold it otherwise.
        let _held = TcpListener::bind(taken).await.expect("free");
        let refused = Pages::default().bind(taken).await.expect_err("it is taken");
        assert!(refused.to_string().contains("choose another port"), "{refused}");
    }
}
