//! Calls to AWS, counted under the names that dashboards and alerts made for Karpenter ask for.

use std::future::Future;
use std::time::{Duration, Instant};

use aws_sdk_ec2::config::http::HttpResponse;
use aws_sdk_ec2::error::SdkError;
use kerf_runtime::metrics::Registry;

/// Bounds of how long calls take, in seconds: each half as long again as the one before.
const SECONDS: &[f64] = &[
    0.01,
    0.015,
    0.0225,
    0.03375,
    0.050625,
    0.0759375,
    0.11390625,
    0.170859375,
    0.2562890625,
    0.38443359375,
    0.576650390625,
    0.8649755859375,
    1.29746337890625,
    1.946195068359375,
    2.919292602539063,
    4.378938903808594,
    6.568408355712891,
    9.852612533569336,
    14.778918800354004,
    22.168378200531006,
];

/// Bounds of how often a call was tried again.
const RETRIES: &[f64] = &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

/// Counts calls. Copies count together; one that was given no registry counts for nobody.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallMetrics(Registry);

impl CallMetrics {
    /// Calls are counted there.
    pub(crate) fn new(registry: Registry) -> Self {
        Self(registry)
    }

    /// Makes a call and counts it, whatever comes of it. Service and action are named as the SDKs
    /// name them.
    ///
    /// The clients try nothing again, so every call is one attempt: who waits for an answer tries
    /// again later, and that is another call.
    pub(crate) async fn count<T, E>(
        &self,
        service: &'static str,
        action: &'static str,
        call: impl Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    ) -> Result<T, SdkError<E, HttpResponse>> {
        let begun = Instant::now();
        let answer = call.await;
        let took = begun.elapsed();
        let status = match &answer {
            Ok(_) => 200,
            Err(error) => error.raw_response().map_or(0, |response| response.status().as_u16()),
        };
        let labels = vec![
            ("service", service.to_owned()),
            ("action", action.to_owned()),
            ("code", status.to_string()),
        ];
        let registry = &self.0;
        for counter in ["aws_sdk_go_request_total", "aws_sdk_go_request_attempt_total"] {
            registry.count(counter, labels.clone(), 1);
        }
        for histogram in
            ["aws_sdk_go_request_duration_seconds", "aws_sdk_go_request_attempt_duration_seconds"]
        {
            registry.observe(histogram, labels.clone(), SECONDS, took);
        }
        registry.observe("aws_sdk_go_request_retry_count", labels, RETRIES, Duration::ZERO);
        answer
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::Error;

    use super::*;

    #[tokio::test]
    async fn every_call_is_counted_with_its_attempt_and_its_answer() {
        let registry = Registry::default();
        let metrics = CallMetrics::new(registry.clone());
        for _ in 0..2 {
            let call = async { Ok::<_, SdkError<Error, HttpResponse>>(()) };
            metrics.count("EC2", "CreateFleet", call).await.unwrap();
        }
        let lost = async { Err::<(), _>(SdkError::<Error, HttpResponse>::timeout_error("late")) };
        metrics.count("SQS", "ReceiveMessage", lost).await.unwrap_err();
        let page = registry.page().finish();
        let launched = "{service=\"EC2\",action=\"CreateFleet\",code=\"200\"";
        let lost = "{service=\"SQS\",action=\"ReceiveMessage\",code=\"0\"";
        for line in [
            format!("aws_sdk_go_request_total{launched}}} 2"),
            format!("aws_sdk_go_request_attempt_total{launched}}} 2"),
            format!("aws_sdk_go_request_total{lost}}} 1"),
            format!("aws_sdk_go_request_duration_seconds_count{launched}}} 2"),
            format!("aws_sdk_go_request_attempt_duration_seconds_count{lost}}} 1"),
            format!("aws_sdk_go_request_retry_count_bucket{launched},le=\"0\"}} 2"),
            format!("aws_sdk_go_request_retry_count_sum{launched}}} 0"),
        ] {
            assert!(page.lines().any(|it| it == line), "{line}: {page}");
        }
    }
}
