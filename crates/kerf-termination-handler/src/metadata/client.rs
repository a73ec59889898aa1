//! Asking the metadata service, with a token where it gives one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kerf_runtime::{Kind, clock};
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout};

/// A service on the same host answers at once or not at all.
const ANSWERED_WITHIN: Duration = Duration::from_secs(2);
/// How long a token is asked for.
const TOKEN_SECONDS: u32 = 3_600;
/// A token is not used in its last seconds.
const TOKEN_LEFT_MIN: Duration = Duration::from_secs(15);
/// The pause after the first failed try; it doubles from try to try.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// The longest answer that is read. The longest there is lists a few maintenance events.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

const TOKEN_PATH: &str = "/latest/api/token";
const TOKEN_HEADER: &str = "X-aws-ec2-metadata-token";
const TTL_HEADER: &str = "X-aws-ec2-metadata-token-ttl-seconds";

/// Why there is no answer. Asking again helps, sooner or later.
#[derive(Debug, Error)]
pub enum MetadataError {
    /// The address cannot be asked at all. Another address helps.
    #[error("{0} is no address of a metadata service")]
    Address(String),
    /// Nobody answered.
    #[error("the metadata service does not answer: {0}")]
    Unanswered(String),
    /// It answered with an error.
    #[error("the metadata service answers {0}")]
    Status(StatusCode),
    /// It answered with something else than what was asked for.
    #[error(transparent)]
    Unreadable(#[from] kerf_notices::imds::answer::Unreadable),
}

impl Kind for MetadataError {
    fn kind(&self) -> &'static str {
        match self {
            Self::Address(_) => "address",
            Self::Unanswered(_) => "unanswered",
            Self::Status(_) => "refused",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

/// Asks the metadata service. Copies share token and connections.
#[derive(Clone, Debug)]
pub struct MetadataClient {
    http: Client<HttpConnector, Empty<Bytes>>,
    url: String,
    tries: u32,
    token: Arc<Mutex<Option<Token>>>,
}

#[derive(Clone, Debug)]
struct Token {
    text: String,
    ends_at: Instant,
}

impl MetadataClient {
    /// A client of the service at this address, as in `http://169.254.169.254`, which asks each
    /// question so often before it gives up.
    #[must_use]
    pub fn new(url: &str, tries: u32) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(ANSWERED_WITHIN));
        let http = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(1).build(connector);
        let url = url.trim_end_matches('/').to_owned();
        Self { http, url, tries: tries.max(1), token: Arc::default() }
    }

    /// The answer at a path; none where there is nothing.
    ///
    /// # Errors
    /// No try was answered.
    pub async fn get(&self, path: &str) -> Result<Option<String>, MetadataError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..self.tries {
            match self.get_once(path).await {
                Err(MetadataError::Unanswered(_) | MetadataError::Status(_)) => {
                    sleep(jittered(pause)).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                answered => return answered,
            }
        }
        self.get_once(path).await
    }

    async fn get_once(&self, path: &str) -> Result<Option<String>, MetadataError> {
        let token = self.token().await;
        let (status, body) = self.send(Method::GET, path, token.as_deref()).await?;
        let (status, body) = match status {
            // The token was not good any more, whatever was said of its time.
            StatusCode::UNAUTHORIZED => {
                self.set_token(None);
                let token = self.token().await;
                self.send(Method::GET, path, token.as_deref()).await?
            }
            _ => (status, body),
        };
        match status {
            StatusCode::OK => Ok(Some(body)),
            StatusCode::NOT_FOUND => Ok(None),
            other => Err(MetadataError::Status(other)),
        }
    }

    /// The token to ask with. None where the service has no tokens: older ones answer without.
    async fn token(&self) -> Option<String> {
        let known = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(token) = known.filter(|it| it.ends_at > Instant::now() + TOKEN_LEFT_MIN) {
            return Some(token.text);
        }
        let asked_at = Instant::now();
        let (status, text) = self.send(Method::PUT, TOKEN_PATH, None).await.ok()?;
        let token = (status == StatusCode::OK).then(|| Token {
            text: text.trim().to_owned(),
            ends_at: asked_at + Duration::from_secs(TOKEN_SECONDS.into()),
        });
        self.set_token(token.clone());
        token.map(|token| token.text)
    }

    fn set_token(&self, token: Option<Token>) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
    ) -> Result<(StatusCode, String), MetadataError> {
        let address = format!("{}{path}", self.url);
        let uri: Uri = address.parse().map_err(|_| MetadataError::Address(address.clone()))?;
        let mut request = Request::builder().method(&method).uri(uri);
        if method == Method::PUT {
            request = request.header(TTL_HEADER, TOKEN_SECONDS);
        }
        if let Some(token) = token {
            request = request.header(TOKEN_HEADER, token);
        }
        let request = request.body(Empty::new()).map_err(|_| MetadataError::Address(address))?;
        let answer = async {
            let response = self.http.request(request).await.map_err(|error| error.to_string())?;
            let status = response.status();
            let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
            let body = body.map_err(|error| error.to_string())?.to_bytes();
            Ok((status, String::from_utf8_lossy(&body).into_owned()))
        };
        match timeout(ANSWERED_WITHIN, answer).await {
            Ok(answer) => answer.map_err(MetadataError::Unanswered),
            Err(_) => {
                let seconds = ANSWERED_WITHIN.as_secs();
                Err(MetadataError::Unanswered(format!("nothing came within {seconds} s")))
            }
        }
    }
}

/// Up to a fifth longer, so that the nodes of a cluster do not ask together.
fn jittered(pause: Duration) -> Duration {
    let nanos = u32::try_from(clock::now().subsec_nanosecond()).unwrap_or_default();
    pause + pause.mul_f64(0.2 * f64::from(nanos % 1_000_003) / 1_000_003.0)
}
