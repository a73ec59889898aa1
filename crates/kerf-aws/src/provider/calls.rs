//! The one way from the provider to AWS: every call is paced, counted and has its errors sorted.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_sdk_ec2::config::http::HttpResponse;
use aws_sdk_ec2::error::{ProvideErrorMetadata, SdkError};
use tokio::sync::Mutex;
use tokio::time::sleep;

use crate::aws_action::AwsAction;
use crate::call_metrics::CallMetrics;
use crate::{CallError, Result};

/// Calls to AWS. Copies share their pace and their counts.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    metrics: CallMetrics,
    buckets: Arc<Mutex<HashMap<Bucket, Tokens>>>,
}

/// Calls that EC2 counts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bucket {
    /// Descriptions.
    Reads,
    /// CreateFleet and RunInstances.
    Launches,
    /// TerminateInstances.
    Terminations,
    /// CreateTags.
    Tags,
    /// Everything else that changes something in EC2.
    Writes,
}

/// So many calls of a burst are kept back: calls that left apart may arrive together.
const KEPT_BACK: f64 = 1.0;

/// What is left of a bucket.
#[derive(Clone, Copy, Debug)]
struct Tokens {
    left: f64,
    at: Instant,
}

impl Bucket {
    /// Calls a second in the long run, and at once after a pause: what an account has in EC2 by
    /// default, so that we wait here instead of being refused there.
    const fn rate(self) -> (f64, f64) {
        match self {
            Self::Reads => (20.0, 100.0),
            Self::Launches => (2.0, 5.0),
            Self::Terminations => (5.0, 100.0),
            Self::Tags => (10.0, 100.0),
            Self::Writes => (5.0, 50.0),
        }
    }
}

impl Calls {
    /// Calls that are counted there.
    pub(crate) fn new(metrics: CallMetrics) -> Self {
        Self { metrics, buckets: Arc::default() }
    }

    /// Makes a call once it is its turn. The resource is for the reader of an error: what a
    /// permission would have to be granted on.
    ///
    /// On the heap: calls of the SDK are tens of kilobytes, and whoever makes several in a row would
    /// have all of them on the stack.
    pub(crate) fn make<'a, T, E>(
        &'a self,
        action: AwsAction,
        resource: &'a str,
        call: impl Future<Output = std::result::Result<T, SdkError<E, HttpResponse>>> + Send + 'a,
    ) -> Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>
    where
        T: Send + 'a,
        E: ProvideErrorMetadata + std::error::Error + Send + 'static,
    {
        Box::pin(async move {
            if let Some(bucket) = action.bucket() {
                self.turn(bucket).await;
            }
            let answer = self.metrics.count(action.service_id(), action.name(), call).await;
            answer.map_err(|error| CallError::new(action.permission(), resource, error))
        })
    }

    /// Makes a call for each page of an answer. `take` keeps what is on a page and tells where the
    /// next one begins; more than `most` pages are not read.
    pub(crate) async fn pages<'a, T, E, F>(
        &'a self,
        action: AwsAction,
        most: usize,
        call: impl Fn(Option<String>) -> F + Send,
        mut take: impl FnMut(T) -> Option<String> + Send,
    ) -> Result<()>
    where
        T: Send + 'a,
        E: ProvideErrorMetadata + std::error::Error + Send + 'static,
        F: Future<Output = std::result::Result<T, SdkError<E, HttpResponse>>> + Send + 'a,
    {
        let mut token = None;
        for _ in 0..most {
            let page = self.make(action, "*", call(token.take())).await?;
            token = take(page).filter(|token| !token.is_empty());
            if token.is_none() {
                break;
            }
        }
        Ok(())
    }

    async fn turn(&self, bucket: Bucket) {
        let wait = self.reserve(bucket, Instant::now()).await;
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }

    /// Takes a token, in advance where none is left; how long to wait for it.
    async fn reserve(&self, bucket: Bucket, now: Instant) -> Duration {
        let (per_second, burst) = bucket.rate();
        let burst = burst - KEPT_BACK;
        let mut buckets = self.buckets.lock().await;
        let tokens = buckets.entry(bucket).or_insert(Tokens { left: burst, at: now });
        let passed = now.saturating_duration_since(tokens.at).as_secs_f64();
        let left = (tokens.left + passed * per_second).min(burst) - 1.0;
        *tokens = Tokens { left, at: now };
        Duration::from_secs_f64((-left / per_second).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked for with the token of a page, and how many pages were read.
    async fn read(answers: &[&str], most: usize) -> (Vec<Option<String>>, usize) {
        let calls = Calls::new(CallMetrics::default());
        let (asked, mut read) = (std::sync::Mutex::new(Vec::new()), 0);
        let call = |token: Option<String>| {
            let next = {
                let mut asked = asked.lock().unwrap();
                asked.push(token);
                answers.get(asked.len() - 1).map(|token| (*token).to_owned())
            };
            async move { Ok::<_, SdkError<aws_sdk_ec2::Error, HttpResponse>>(next) }
        };
        let take = |next: Option<String>| {
            read += 1;
            next
        };
        calls.pages(AwsAction::DescribeSubnets, most, call, take).await.unwrap();
        (asked.into_inner().unwrap(), read)
    }

    #[tokio::test]
    async fn pages_are_read_until_there_is_no_next_one_or_too_many() {
        let token = |text: &str| Some(text.to_owned());
        assert_eq!(read(&[], 9).await, (vec![None], 1));
        assert_eq!(read(&["", "b"], 9).await, (vec![None], 1), "an empty token is none");
        assert_eq!(read(&["a", "b"], 9).await, (vec![None, token("a"), token("b")], 3));
        assert_eq!(read(&["a", "b"], 2).await, (vec![None, token("a")], 2));
    }

    #[tokio::test]
    async fn launches_go_at_the_pace_of_ec2_after_a_burst() {
        let calls = Calls::new(CallMetrics::default());
        let now = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..7 {
            waits.push(calls.reserve(Bucket::Launches, now).await.as_millis());
        }
        assert_eq!(waits, [0, 0, 0, 0, 500, 1000, 1500], "one less than EC2 takes at once");
        let later = now + Duration::from_secs(60);
        assert_eq!(calls.reserve(Bucket::Launches, later).await, Duration::ZERO);
        assert_eq!(calls.reserve(Bucket::Reads, now).await, Duration::ZERO, "buckets are apart");
    }
}
