//! Who else is told, by the options.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use kerf_termination_handler::webhook::{Webhook, WebhookPhase, WebhookSettings};

use super::options::Given;

/// The webhook, if there is an address to post to.
pub(super) fn webhook(given: &Given) -> Result<Option<Webhook>> {
    let Some(url) = given.some("webhook-url") else { return Ok(None) };
    let template = match given.some("webhook-template-file") {
        Some(file) => Some(
            std::fs::read_to_string(&file)
                .with_context(|| format!("webhook-template-file: {file} cannot be read"))?,
        ),
        None => given.some("webhook-template"),
    };
    let settings = WebhookSettings {
        url,
        headers: given.text("webhook-headers").to_owned(),
        template,
        proxy: given.some("webhook-proxy"),
        phase: match given.text("webhook-phase") {
            "after" => WebhookPhase::After,
            "before" => WebhookPhase::Before,
            "both" => WebhookPhase::Both,
            other => bail!("webhook-phase is {other:?}; allowed are after, before and both"),
        },
        once_within: Duration::from_secs(given.count("webhook-dedupe")?),
    };
    Ok(Some(Webhook::new(&settings)?))
}
