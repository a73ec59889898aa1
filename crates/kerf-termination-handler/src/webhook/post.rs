//! Posting, by the HTTP client that calls AWS: TLS and proxies are the same matter there.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_smithy_http_client::Connector;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::HttpConnector as _;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use tokio::time::timeout;

use super::WebhookError;

/// Whoever is told answers soon or is not waited for: the node is.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// Posts to one address.
#[derive(Debug)]
pub(super) struct Poster {
    connector: Connector,
    url: String,
    headers: BTreeMap<String, String>,
}

/// Why something was not posted.
pub(super) enum Refusal {
    Status(u16),
    Unanswered(String),
}

impl Poster {
    pub(super) fn new(
        url: &str,
        headers: BTreeMap<String, String>,
        proxy: Option<&str>,
    ) -> Result<Self, WebhookError> {
        let is_address = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
        if !is_address {
            return Err(WebhookError::Address);
        }
        let proxy = match proxy {
            // What people write who think of the connection.
            Some(proxy) => {
                let proxy = match proxy.strip_prefix("tcp://") {
                    Some(host) => format!("http://{host}"),
                    None => proxy.to_owned(),
                };
                ProxyConfig::all(proxy).map_err(|error| WebhookError::Proxy(error.to_string()))?
            }
            None => ProxyConfig::disabled(),
        };
        let connector = Connector::builder()
            .tls_provider(Provider::Rustls(CryptoMode::Ring))
            .proxy_config(proxy)
            .build();
        let poster = Self { connector, url: url.to_owned(), headers };
        poster.request(String::new())?;
        Ok(poster)
    }

    fn request(&self, body: String) -> Result<HttpRequest, WebhookError> {
        let mut request = HttpRequest::new(SdkBody::from(body));
        request.set_method("POST").map_err(|_| WebhookError::Address)?;
        request.set_uri(self.url.as_str()).map_err(|_| WebhookError::Address)?;
        for (name, value) in &self.headers {
            let (key, value) = (name.to_ascii_lowercase(), value.clone());
            let added = request.headers_mut().try_insert(key, value);
            added.map_err(|error| WebhookError::Headers(format!("{name}: {error}")))?;
        }
        Ok(request)
    }

    /// Posts once.
    pub(super) async fn post(&self, body: String) -> Result<(), Refusal> {
        let request = self.request(body).map_err(|error| Refusal::Unanswered(error.to_string()))?;
        let answer = timeout(ANSWERED_WITHIN, self.connector.call(request)).await;
        let answer = match answer {
            Ok(answer) => answer.map_err(|error| Refusal::Unanswered(format!("{error:?}")))?,
            Err(_) => {
                let seconds = ANSWERED_WITHIN.as_secs();
                return Err(Refusal::Unanswered(format!("nothing came within {seconds} s")));
            }
        };
        match answer.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(Refusal::Status(status)),
        }
    }
}
