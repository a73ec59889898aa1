//! What the daemon counts, as Prometheus reads it, and what the function prints for CloudWatch.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use kerf_notices::routing::Report;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use serde_json::json;

type Labels = Vec<(&'static str, &'static str)>;

/// Seconds; the target is two at the 99th percentile.
const BUCKETS: [f64; 9] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0];

/// The router's counters.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    events: Family<Labels, Counter>,
    unrouted: Family<Labels, Counter>,
    lookups: Counter,
    send_failures: Counter,
    ambiguous: Counter,
    hit_ratio: Gauge<f64, AtomicU64>,
    remembered: Gauge<i64, AtomicI64>,
    latency: Histogram,
    hits: AtomicU64,
    asked: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("kerf_router"),
            events: Family::default(),
            unrouted: Family::default(),
            lookups: Counter::default(),
            send_failures: Counter::default(),
            ambiguous: Counter::default(),
            hit_ratio: Gauge::default(),
            remembered: Gauge::default(),
            latency: Histogram::new(BUCKETS),
            hits: AtomicU64::new(0),
            asked: AtomicU64::new(0),
        };
        let registry = &mut metrics.registry;
        registry.register("events", "Messages by kind and outcome", metrics.events.clone());
        registry.register("unrouted", "Messages that belong to no queue", metrics.unrouted.clone());
        registry.register("lookup_calls", "Calls to EC2", metrics.lookups.clone());
        let help = "Messages a queue did not take, retries included";
        registry.register("send_failures", help, metrics.send_failures.clone());
        let help = "Messages about an instance that several clusters claim";
        registry.register("ambiguous", help, metrics.ambiguous.clone());
        let help = "Share of instances whose owner was remembered";
        registry.register("cache_hit_ratio", help, metrics.hit_ratio.clone());
        registry.register("cache_entries", "Owners remembered", metrics.remembered.clone());
        let help = "Seconds from receiving a batch to its verdicts";
        registry.register("route_latency_seconds", help, metrics.latency.clone());
        metrics
    }
}

impl Metrics {
    /// Counts a batch.
    pub fn count(&self, report: &Report, took: Duration, remembered: usize) {
        for outcome in &report.outcomes {
            let kind = outcome.kind.map_or("unknown", |kind| kind.word());
            let word = outcome.verdict.word();
            self.events.get_or_create(&vec![("detail_type", kind), ("outcome", word)]).inc();
            if word == "unrouted" {
                let reason = outcome.verdict.reason();
                self.unrouted.get_or_create(&vec![("reason", reason)]).inc();
            }
            self.ambiguous.inc_by(u64::from(outcome.ambiguous));
        }
        self.lookups.inc_by(report.lookup_calls);
        self.send_failures.inc_by(report.send_failures);
        self.latency.observe(took.as_secs_f64());
        self.remembered.set(i64::try_from(remembered).unwrap_or(i64::MAX));
        let hits = self.hits.fetch_add(report.cache_hits, Ordering::Relaxed) + report.cache_hits;
        let more = report.cache_hits + report.cache_misses;
        let asked = self.asked.fetch_add(more, Ordering::Relaxed) + more;
        if asked > 0 {
            self.hit_ratio.set(hits as f64 / asked as f64);
        }
    }

    /// The page a scraper reads.
    pub fn page(&self) -> String {
        let mut page = String::new();
        match encode(&mut page, &self.registry) {
            Ok(()) => page,
            Err(_) => String::new(),
        }
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
