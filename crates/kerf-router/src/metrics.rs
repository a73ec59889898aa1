//! What the daemon counts, as Prometheus reads it, and what the function prints for CloudWatch.

use std::time::Duration;

use kerf_notices::routing::Report;
use kerf_runtime::metrics::Registry;
use serde_json::json;

/// Seconds; the target is two at the 99th percentile.
const BOUNDS: [f64; 9] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0];

const EVENTS: &str = "kerf_router_events_total";
const UNROUTED: &str = "kerf_router_unrouted_total";
const LOOKUP_CALLS: &str = "kerf_router_lookup_calls_total";
const SEND_FAILURES: &str = "kerf_router_send_failures_total";
const AMBIGUOUS: &str = "kerf_router_ambiguous_total";
const CACHE_HIT_RATIO: &str = "kerf_router_cache_hit_ratio";
const CACHE_ENTRIES: &str = "kerf_router_cache_entries";
const CREDENTIALS_REJECTED: &str = "kerf_router_credentials_rejected";
const LATENCY: &str = "kerf_router_route_latency_seconds";
pub(crate) const QUEUE_ANSWERS: &str = "kerf_router_queue_answers";

const HELP: [(&str, &str); 10] = [
    (EVENTS, "Messages by kind and outcome."),
    (UNROUTED, "Messages that belong to no queue."),
    (LOOKUP_CALLS, "Calls to EC2."),
    (SEND_FAILURES, "Messages a queue did not take, retries included."),
    (AMBIGUOUS, "Messages about an instance that several clusters claim."),
    (CACHE_HIT_RATIO, "Share of instances whose owner was remembered."),
    (CACHE_ENTRIES, "Owners remembered."),
    (CREDENTIALS_REJECTED, "Whether AWS did not accept the credentials of the last batch."),
    (LATENCY, "Seconds from receiving a batch to its verdicts."),
    (QUEUE_ANSWERS, "Whether the central queue has answered within the last minute."),
];

/// The router's metrics.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    cache_hits: u64,
    cache_asked: u64,
}

impl Metrics {
    /// Counters without labels are there from the start, so that their first change shows.
    pub(crate) fn new(registry: Registry) -> Self {
        registry.describe(HELP);
        for metric in [LOOKUP_CALLS, SEND_FAILURES, AMBIGUOUS] {
            registry.count(metric, Vec::new(), 0);
        }
        Self { registry, cache_hits: 0, cache_asked: 0 }
    }

    /// Counts a batch.
    pub(crate) fn count(&mut self, report: &Report, took: Duration, remembered: usize) {
        let Self { registry, cache_hits, cache_asked } = self;
        for outcome in &report.outcomes {
            let kind = outcome.kind.map_or("unknown", |kind| kind.word());
            let word = outcome.verdict.word();
            let labels = vec![("detail_type", kind.to_owned()), ("outcome", word.to_owned())];
            registry.count(EVENTS, labels, 1);
            if word == "unrouted" {
                let reason = outcome.verdict.reason().to_owned();
                registry.count(UNROUTED, vec![("reason", reason)], 1);
            }
            registry.count(AMBIGUOUS, Vec::new(), u64::from(outcome.ambiguous));
        }
        registry.count(LOOKUP_CALLS, Vec::new(), report.lookup_calls);
        registry.count(SEND_FAILURES, Vec::new(), report.send_failures);
        registry.observe(LATENCY, Vec::new(), &BOUNDS, took);
        registry.set(CACHE_ENTRIES, Vec::new(), remembered as f64);
        *cache_hits += report.cache_hits;
        *cache_asked += report.cache_hits + report.cache_misses;
        if *cache_asked > 0 {
            registry.set(CACHE_HIT_RATIO, Vec::new(), *cache_hits as f64 / *cache_asked as f64);
        }
    }
}

impl Metrics {
    /// Notes whether messages failed because credentials were not accepted.
    pub(crate) fn set_credentials_rejected(&self, is_rejected: bool) {
        let value = f64::from(u8::from(is_rejected));
        self.registry.set(CREDENTIALS_REJECTED, Vec::new(), value);
    }
}

/// A line that CloudWatch turns into metrics: every number in it is declared, or it would only be a
/// field of a log line.
pub(crate) fn embedded(report: &Report, took: Duration, epoch_ms: u128) -> String {
    let count =
        |word: &str| report.outcomes.iter().filter(|one| one.verdict.word() == word).count();
    let ambiguous = report.outcomes.iter().filter(|one| one.ambiguous).count();
    let mut metrics = vec![
        ("routed", "Count", json!(count("routed"))),
        ("dropped", "Count", json!(count("dropped"))),
        ("unrouted", "Count", json!(count("unrouted"))),
        ("failed", "Count", json!(count("failed"))),
        ("ambiguous", "Count", json!(ambiguous)),
        ("lookup_calls", "Count", json!(report.lookup_calls)),
        ("send_failures", "Count", json!(report.send_failures)),
        ("route_latency_seconds", "Seconds", json!(took.as_secs_f64())),
    ];
    let asked = report.cache_hits + report.cache_misses;
    if asked > 0 {
        let ratio = report.cache_hits as f64 / asked as f64;
        metrics.push(("cache_hit_ratio", "None", json!(ratio)));
    }
    let declared: Vec<_> =
        metrics.iter().map(|(name, unit, _)| json!({"Name": name, "Unit": unit})).collect();
    let directive = json!({
        "Timestamp": u64::try_from(epoch_ms).unwrap_or(u64::MAX),
        "CloudWatchMetrics": [{
            "Namespace": "kerf/router", "Dimensions": [[]], "Metrics": declared,
        }],
    });
    let values = metrics.into_iter().map(|(name, _, value)| (name.to_owned(), value));
    let line = std::iter::once(("_aws".to_owned(), directive)).chain(values);
    serde_json::Value::Object(line.collect()).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_number_that_the_function_prints_is_declared_with_a_unit() {
        let report =
            Report { cache_hits: 3, cache_misses: 1, lookup_calls: 1, ..Report::default() };
        let line = embedded(&report, Duration::from_millis(1_500), 1_700_000_000_000);
        let line: Value = serde_json::from_str(&line).expect("it is JSON");
        let declared = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().expect("a list");
        let mut names: Vec<_> = declared.iter().filter_map(|one| one["Name"].as_str()).collect();
        names.sort_unstable();
        let fields = line.as_object().expect("an object").keys();
        let mut fields: Vec<_> = fields.filter(|name| *name != "_aws").collect();
        fields.sort_unstable();
        assert_eq!(names, fields);
        assert!(declared.iter().all(|one| one["Unit"].is_string()));
        assert_eq!(line["route_latency_seconds"], 1.5);
        assert_eq!(line["cache_hit_ratio"], 0.75);
        assert_eq!(line["_aws"]["Timestamp"], 1_700_000_000_000_u64);
    }

    #[test]
    fn a_batch_that_asked_for_no_instance_says_nothing_about_the_cache() {
        let line = embedded(&Report::default(), Duration::ZERO, 0);
        assert!(!line.contains("cache_hit_ratio"), "{line}");
    }
}
