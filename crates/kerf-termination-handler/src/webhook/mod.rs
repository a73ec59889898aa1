//! Webhooks: what happened to a node, told to whoever wants to know.

mod data;
mod post;
mod template;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::time::Instant;
use tracing::{info, warn};

use crate::metadata::NodeMetadata;
use crate::record::EventRecord;
use post::{Poster, Refusal};
use template::{Template, TemplateError};

/// What is posted by default.
const BODY: &str = r#"{"text":"[NTH][Instance Interruption] EventID: {{ .EventID }} - Kind: {{ .Kind }} - Instance: {{ .InstanceID }} - Node: {{ .NodeName }} - Description: {{ .Description }} - Start Time: {{ .StartTime }}"}"#;

/// When something is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookPhase {
    /// After the node was closed and drained, or could not be.
    After,
    /// Before anything is done to it.
    Before,
    /// Both.
    Both,
}

/// What is posted, and where to.
#[derive(Clone, Debug)]
pub struct WebhookSettings {
    /// Where to.
    pub url: String,
    /// The headers, as a JSON object of texts.
    pub headers: String,
    /// The template of the body; none for the default.
    pub template: Option<String>,
    /// The proxy it goes through, if any.
    pub proxy: Option<String>,
    /// When.
    pub phase: WebhookPhase,
    /// How long the same is not posted again about a node; nought for one post for each event.
    pub once_within: Duration,
}

/// Why there can be no such webhook. Another setting helps.
#[derive(Debug, Error)]
pub enum WebhookError {
    /// The headers are no JSON object of texts, or no headers.
    #[error("webhook-headers: {0}")]
    Headers(String),
    /// The template cannot be read or rendered.
    #[error("webhook-template: {0}")]
    Template(String),
    /// The address is none.
    #[error("webhook-url is no http or https address")]
    Address,
    /// The proxy's address is none.
    #[error("webhook-proxy: {0}")]
    Proxy(String),
}

/// Posts what happens. Copies share it.
#[derive(Clone, Debug)]
pub struct Webhook(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    poster: Poster,
    template: Template,
    phase: WebhookPhase,
    once_within: Duration,
    /// What was last posted about a node, and when.
    posted: Mutex<BTreeMap<String, (&'static str, Instant)>>,
}

impl Webhook {
    /// A webhook that works as far as can be told without posting.
    ///
    /// # Errors
    /// A setting cannot be used.
    pub fn new(settings: &WebhookSettings) -> Result<Self, WebhookError> {
        let template = Template::parse(settings.template.as_deref().unwrap_or(BODY));
        let template = template.map_err(unusable)?;
        template.render(&data::empty()).map_err(unusable)?;
        let headers: BTreeMap<String, String> = serde_json::from_str(&settings.headers)
            .map_err(|error| WebhookError::Headers(format!("no JSON object of texts: {error}")))?;
        Ok(Self(Arc::new(Shared {
            poster: Poster::new(&settings.url, headers, settings.proxy.as_deref())?,
            template,
            phase: settings.phase,
            once_within: settings.once_within,
            posted: Mutex::default(),
        })))
    }

    /// Tells what is about to be done.
    pub(crate) async fn before(&self, record: &EventRecord, metadata: &NodeMetadata) {
        if self.0.phase != WebhookPhase::After {
            self.post("before", record, metadata).await;
        }
    }

    /// Tells what came of it.
    pub(crate) async fn after(
        &self,
        result: &'static str,
        record: &EventRecord,
        metadata: &NodeMetadata,
    ) {
        if self.0.phase != WebhookPhase::Before {
            self.post(result, record, metadata).await;
        }
    }

    async fn post(&self, result: &'static str, record: &EventRecord, metadata: &NodeMetadata) {
        let node =
            if record.node_name.is_empty() { &record.instance_id } else { &record.node_name };
        if !self.is_news(node, result, Instant::now()) {
            return;
        }
        let body = match self.0.template.render(&data::of(record, metadata)) {
            Ok(body) => body,
            Err(error) => return warn!({ %error }, "Webhook Error: Template Execution Failed"),
        };
        match self.0.poster.post(body).await {
            Ok(()) => info!("Webhook Success: Notification Sent!"),
            Err(Refusal::Status(status_code)) => {
                warn!({ status_code }, "Webhook Error: Received Non-Successful Status Code");
            }
            Err(Refusal::Unanswered(error)) => {
                warn!({ error }, "Webhook Error: Client Request Failed");
            }
        }
    }

    /// Whether something else was last said of the node, or long ago.
    fn is_news(&self, node: &str, result: &'static str, now: Instant) -> bool {
        let within = self.0.once_within;
        if within.is_zero() {
            return true;
        }
        let mut posted = self.0.posted.lock().unwrap_or_else(PoisonError::into_inner);
        posted.retain(|_, (_, at)| now.duration_since(*at) < within);
        match posted.get(node) {
            Some((last, _)) if *last == result => false,
            _ => {
                posted.insert(node.to_owned(), (result, now));
                true
            }
        }
    }
}

fn unusable(error: TemplateError) -> WebhookError {
    WebhookError::Template(error.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn settings() -> WebhookSettings {
        WebhookSettings {
            url: "http://127.0.0.1:1/".to_owned(),
            headers: r#"{"Content-type":"application/json"}"#.to_owned(),
            template: None,
            proxy: None,
            phase: WebhookPhase::After,
            once_within: Duration::from_secs(600),
        }
    }

    fn refused(change: impl FnOnce(&mut WebhookSettings)) -> String {
        let mut settings = settings();
        change(&mut settings);
        Webhook::new(&settings).unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_webhook_that_cannot_work_is_refused_before_anything_starts() {
        Webhook::new(&settings()).unwrap();
        let text = str::to_owned;
        for (said, why) in [
            (refused(|it| it.template = Some(text("{{ .Nope }}"))), "there is no field Nope"),
            (refused(|it| it.template = Some(text("{{ nope }}"))), "there is no function nope"),
            (refused(|it| it.headers = text("[1]")), "webhook-headers: no JSON object of texts"),
            (refused(|it| it.headers = text(r#"{"a b": "c"}"#)), "webhook-headers: "),
            (refused(|it| it.url = text("nowhere")), "webhook-url is no http or https address"),
            (refused(|it| it.proxy = Some(text("ftp://x"))), "webhook-proxy: "),
        ] {
            assert!(said.contains(why), "{said}");
        }
    }

    #[tokio::test]
    async fn a_node_is_told_of_once_unless_the_outcome_changes() {
        let webhook = Webhook::new(&settings()).unwrap();
        let now = Instant::now();
        let later = now + Duration::from_secs(601);
        let is_news = |node, result, at| webhook.is_news(node, result, at);
        assert!(is_news("a", "not_in_time", now) && is_news("b", "drained", now));
        assert!(!is_news("a", "not_in_time", now));
        assert!(is_news("a", "drained", now) && !is_news("a", "drained", now));
        assert!(is_news("a", "drained", later));
        let each = WebhookSettings { once_within: Duration::ZERO, ..settings() };
        let each = Webhook::new(&each).unwrap();
        assert!(each.is_news("a", "drained", now) && each.is_news("a", "drained", now));
    }

    #[test]
    fn the_default_body_is_valid_json() {
        let template = Template::parse(BODY).unwrap();
        let body = template.render(&data::empty()).unwrap();
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let text = body["text"].as_str().unwrap();
        assert!(text.starts_with("[NTH][Instance Interruption] EventID:  - Kind:  - "), "{text}");
        assert!(text.ends_with("Start Time: 0001-01-01 00:00:00 +0000 UTC"), "{text}");
    }
}
