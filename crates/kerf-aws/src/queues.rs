//! Queues: finding, reading, writing.

use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry,
    MessageAttributeValue, QueueAttributeName, SendMessageBatchRequestEntry,
};
use kerf_runtime::queue::Message;

use crate::call_metrics::CallMetrics;
use crate::{CallError, Result, Session};

/// As the SDKs name it.
const SERVICE: &str = "SQS";

/// The most messages one call receives, sends or deletes.
const MESSAGES_PER_CALL: i32 = 10;

/// Pages of a thousand queues that are read.
const PAGES_MAX: usize = 10;

/// What a long poll may take beyond its wait.
const POLL_MARGIN: Duration = Duration::from_secs(5);

/// Names and values of a message's attributes, all text.
pub type Attributes = Vec<(&'static str, String)>;

/// A message that a queue did not take or delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its place in the call.
    pub index: usize,
    /// Whether the message itself is at fault.
    pub sender_fault: bool,
    /// What the queue said.
    pub why: String,
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Messages that can be received.
    pub visible: u64,
    /// Messages that somebody has received and not deleted.
    pub in_flight: u64,
}

/// Queues of one account and region.
#[derive(Clone, Debug)]
pub struct Queues {
    client: Client,
    metrics: CallMetrics,
}

impl Queues {
    pub(crate) fn new(session: &Session) -> Self {
        Self { client: Client::new(session.sdk_config()), metrics: session.metrics().clone() }
    }

    /// The URL of the queue of this name, if there is one.
    pub async fn url(&self, name: &str) -> Result<Option<String>> {
        let call = self.client.get_queue_url().queue_name(name).send();
        let answer = self.metrics.count(SERVICE, "GetQueueUrl", call).await;
        match answer.map_err(|error| CallError::new("sqs:GetQueueUrl", name, error)) {
            Ok(answer) => Ok(answer.queue_url().map(str::to_owned)),
            Err(CallError::NoSuchQueue { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The URLs of all queues, up to ten thousand.
    pub async fn list(&self) -> Result<Vec<String>> {
        let (mut urls, mut token) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.client.list_queues().max_results(1_000).set_next_token(token);
            let answer = self.metrics.count(SERVICE, "ListQueues", call.send()).await;
            let page = answer.map_err(|error| CallError::new("sqs:ListQueues", "*", error))?;
            urls.extend_from_slice(page.queue_urls());
            token = page.next_token().map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        Ok(urls)
    }

    /// The value of a queue's tag; `None` also for a queue that was deleted meanwhile.
    pub async fn tag(&self, url: &str, tag: &str) -> Result<Option<String>> {
        let call = self.client.list_queue_tags().queue_url(url).send();
        let answer = self.metrics.count(SERVICE, "ListQueueTags", call).await;
        match answer.map_err(|error| CallError::new("sqs:ListQueueTags", url, error)) {
            Ok(answer) => Ok(answer.tags().and_then(|tags| tags.get(tag)).cloned()),
            Err(CallError::NoSuchQueue { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Receives up to ten messages, waiting up to `wait` (at most 20 s) for the first. They are
    /// hidden from other readers for as long as the queue is set to.
    pub async fn receive(&self, url: &str, wait: Duration) -> Result<Vec<Message>> {
        self.receive_up_to_ten(url, wait, None).await
    }

    /// The same, with the time they are hidden.
    pub async fn receive_hidden(
        &self,
        url: &str,
        wait: Duration,
        hidden_for: Duration,
    ) -> Result<Vec<Message>> {
        self.receive_up_to_ten(url, wait, Some(hidden_for)).await
    }

    async fn receive_up_to_ten(
        &self,
        url: &str,
        wait: Duration,
        hidden_for: Option<Duration>,
    ) -> Result<Vec<Message>> {
        let wait = wait.min(Duration::from_secs(20));
        // A long poll outlasts the time-out of ordinary calls.
        let time_outs = TimeoutConfig::builder().operation_timeout(wait + POLL_MARGIN).build();
        let call = self.client.receive_message().queue_url(url);
        let call = call
            .max_number_of_messages(MESSAGES_PER_CALL)
            .wait_time_seconds(i32::try_from(wait.as_secs()).unwrap_or(20))
            .set_visibility_timeout(hidden_for.and_then(|time| i32::try_from(time.as_secs()).ok()))
            .customize()
            .config_override(aws_sdk_sqs::config::Builder::new().timeout_config(time_outs))
            .send();
        let answer = self.metrics.count(SERVICE, "ReceiveMessage", call).await;
        let answer = answer.map_err(|error| CallError::new("sqs:ReceiveMessage", url, error))?;
        let messages = answer.messages.unwrap_or_default().into_iter();
        let message = |message: aws_sdk_sqs::types::Message| {
            Some(Message {
                id: message.message_id?,
                receipt: message.receipt_handle?,
                body: message.body.unwrap_or_default(),
            })
        };
        Ok(messages.filter_map(message).collect())
    }

    /// Sends at most ten messages. What was refused is told by its place.
    pub async fn send(
        &self,
        url: &str,
        messages: Vec<(String, Attributes)>,
    ) -> Result<Vec<Refusal>> {
        const ACTION: &str = "sqs:SendMessage";
        let mut entries = Vec::with_capacity(messages.len());
        for (index, (body, attributes)) in messages.into_iter().enumerate() {
            let mut entry =
                SendMessageBatchRequestEntry::builder().id(index.to_string()).message_body(body);
            for (name, value) in attributes {
                let value = MessageAttributeValue::builder()
                    .data_type("String")
                    .string_value(value)
                    .build()
                    .map_err(|error| CallError::refused(ACTION, url, error))?;
                entry = entry.message_attributes(name, value);
            }
            entries.push(entry.build().map_err(|error| CallError::refused(ACTION, url, error))?);
        }
        let call = self.client.send_message_batch().queue_url(url).set_entries(Some(entries));
        let answer = self.metrics.count(SERVICE, "SendMessageBatch", call.send()).await;
        let answer = answer.map_err(|error| CallError::new(ACTION, url, error))?;
        Ok(refusals(answer.failed()))
    }

    /// Deletes at most ten messages by their receipts. What stayed is told by its place.
    pub async fn delete(&self, url: &str, receipts: Vec<String>) -> Result<Vec<Refusal>> {
        const ACTION: &str = "sqs:DeleteMessage";
        let mut entries = Vec::with_capacity(receipts.len());
        for (index, receipt) in receipts.into_iter().enumerate() {
            let entry = DeleteMessageBatchRequestEntry::builder();
            let entry = entry.id(index.to_string()).receipt_handle(receipt).build();
            entries.push(entry.map_err(|error| CallError::refused(ACTION, url, error))?);
        }
        let call = self.client.delete_message_batch().queue_url(url).set_entries(Some(entries));
        let answer = self.metrics.count(SERVICE, "DeleteMessageBatch", call.send()).await;
        let answer = answer.map_err(|error| CallError::new(ACTION, url, error))?;
        Ok(refusals(answer.failed()))
    }

    /// Hides at most ten received messages for so long from now, by their receipts. One that was
    /// deleted meanwhile is no failure.
    pub async fn hide(&self, url: &str, receipts: Vec<String>, time: Duration) -> Result<()> {
        const ACTION: &str = "sqs:ChangeMessageVisibility";
        let seconds = i32::try_from(time.as_secs()).unwrap_or(i32::MAX);
        let mut entries = Vec::with_capacity(receipts.len());
        for (index, receipt) in receipts.into_iter().enumerate() {
            let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(index.to_string());
            let entry = entry.receipt_handle(receipt).visibility_timeout(seconds).build();
            entries.push(entry.map_err(|error| CallError::refused(ACTION, url, error))?);
        }
        let call = self.client.change_message_visibility_batch().queue_url(url);
        let call = call.set_entries(Some(entries)).send();
        let answer = self.metrics.count(SERVICE, "ChangeMessageVisibilityBatch", call).await;
        answer.map_err(|error| CallError::new(ACTION, url, error)).map(drop)
    }

    /// How much a queue holds.
    pub async fn depth(&self, url: &str) -> Result<Depth> {
        use QueueAttributeName::{
            ApproximateNumberOfMessages as Visible,
            ApproximateNumberOfMessagesNotVisible as InFlight,
        };
        let call = self.client.get_queue_attributes().queue_url(url);
        let call = call.attribute_names(Visible).attribute_names(InFlight).send();
        let answer = self.metrics.count(SERVICE, "GetQueueAttributes", call).await;
        let answer =
            answer.map_err(|error| CallError::new("sqs:GetQueueAttributes", url, error))?;
        let number = |name| answer.attributes()?.get(&name)?.parse().ok();
        Ok(Depth {
            visible: number(Visible).unwrap_or_default(),
            in_flight: number(InFlight).unwrap_or_default(),
        })
    }
}

fn refusals(failed: &[aws_sdk_sqs::types::BatchResultErrorEntry]) -> Vec<Refusal> {
    let refusal = |entry: &aws_sdk_sqs::types::BatchResultErrorEntry| {
        let said = entry.message().unwrap_or_default();
        Some(Refusal {
            index: entry.id().parse().ok()?,
            sender_fault: entry.sender_fault(),
            why: format!("{} {said}", entry.code()).trim_end().to_owned(),
        })
    };
    failed.iter().filter_map(refusal).collect()
}
