//! The one registry of counters, histograms, summaries and gauges, and the page they are shown on.
//!
//! The page is Prometheus' text format 0.0.4, as Karpenter's own page is, so that dashboards and
//! alerts made for that go on working. The OpenMetrics libraries at hand cannot write it: they know
//! no summaries, name counters without `_total` in `# TYPE`, and put labels in another order. So it
//! is written here, once for all roles, in an order that depends on nothing but the content.

mod histogram;
mod page;
pub mod process;
mod summary;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use histogram::Histogram;
pub use page::Page;
use summary::Summary;

/// Names and values of a metric's labels, in the order they are shown.
pub type Labels = Vec<(&'static str, String)>;

/// Everything counted so far. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct Registry(Arc<Mutex<Counted>>);

#[derive(Debug, Default)]
struct Counted {
    help: BTreeMap<&'static str, &'static str>,
    counters: BTreeMap<Key, u64>,
    gauges: BTreeMap<Key, f64>,
    histograms: BTreeMap<Key, Histogram>,
    summaries: BTreeMap<Key, Summary>,
}

type Key = (&'static str, Labels);

impl Registry {
    /// Adds the sentences that the page explains metrics with.
    pub fn describe(&self, help: impl IntoIterator<Item = (&'static str, &'static str)>) {
        self.counted().help.extend(help);
    }

    /// Adds to a counter. Its name ends in `_total`. Adding nothing makes it appear.
    pub fn count(&self, metric: &'static str, labels: Labels, by: u64) {
        let mut counted = self.counted();
        let counter = counted.counters.entry((metric, labels)).or_default();
        *counter = counter.saturating_add(by);
    }

    /// Sets a gauge.
    pub fn set(&self, metric: &'static str, labels: Labels, value: f64) {
        self.counted().gauges.insert((metric, labels), value);
    }

    /// Removes a gauge with these labels: what it told of is gone.
    pub fn unset(&self, metric: &'static str, labels: &Labels) {
        self.counted().gauges.retain(|(name, of), _| *name != metric || of != labels);
    }

    /// Removes a gauge with all its labels, for those whose labels come and go.
    pub fn clear(&self, metric: &'static str) {
        self.counted().gauges.retain(|(name, _), _| *name != metric);
    }

    /// Adds to a histogram with these bounds, in seconds. All of one metric have the same.
    pub fn observe(
        &self,
        metric: &'static str,
        labels: Labels,
        bounds: &'static [f64],
        took: Duration,
    ) {
        let mut counted = self.counted();
        let histogram = counted.histograms.entry((metric, labels));
        histogram.or_insert_with(|| Histogram::new(bounds)).add(took);
    }

    /// Adds to a summary.
    pub fn summarise(&self, metric: &'static str, labels: Labels, took: Duration) {
        let mut counted = self.counted();
        counted.summaries.entry((metric, labels)).or_default().add(Instant::now(), took);
    }

    /// A page with everything counted so far and what the system tells of the process. Gauges of
    /// the moment may be added to it.
    pub fn page(&self) -> Page {
        let counted = self.counted();
        let mut help = counted.help.clone();
        help.extend(process::HELP);
        let mut page = Page::new(help);
        process::write(&mut page);
        for ((metric, labels), count) in &counted.counters {
            page.counter(metric, labels, *count);
        }
        for ((metric, labels), value) in &counted.gauges {
            page.gauge(metric, labels, *value);
        }
        for ((metric, labels), histogram) in &counted.histograms {
            page.histogram(metric, labels, histogram);
        }
        for ((metric, labels), summary) in &counted.summaries {
            page.summary(metric, labels, summary, Instant::now());
        }
        page
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a page says beside what the system tells of the process.
    fn written(registry: &Registry) -> String {
        let page = registry.page().finish();
        let own = |line: &&str| !line.contains("process_");
        page.lines().filter(own).map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn a_page_is_prometheus_text_in_an_order_of_its_own() {
        let registry = Registry::default();
        registry.describe([("b_total", "Things done."), ("a_seconds", "How long it took.")]);
        registry.count("b_total", vec![("kind", "y \"quoted\"\\".to_owned())], 2);
        registry.count("b_total", vec![("kind", "x".to_owned())], 1);
        registry.count("c_total", Vec::new(), 0);
        let labels = || vec![("controller", "p".to_owned())];
        registry.observe("a_seconds", labels(), &[0.5, 1.0], Duration::from_millis(700));
        registry.observe("a_seconds", labels(), &[0.5, 1.0], Duration::from_secs(2));
        registry.set("ratio", Vec::new(), 0.75);
        let expected = r#"# HELP a_seconds How long it took.
# TYPE a_seconds histogram
a_seconds_bucket{controller="p",le="0.5"} 0
a_seconds_bucket{controller="p",le="1"} 1
a_seconds_bucket{controller="p",le="+Inf"} 2
a_seconds_sum{controller="p"} 2.7
a_seconds_count{controller="p"} 2
# HELP b_total Things done.
# TYPE b_total counter
b_total{kind="x"} 1
b_total{kind="y \"quoted\"\\"} 2
# TYPE c_total counter
c_total 0
# TYPE ratio gauge
ratio 0.75
"#;
        assert_eq!(written(&registry), expected);
    }

    #[test]
    fn a_gauge_of_what_is_gone_is_gone_and_others_stay() {
        let registry = Registry::default();
        let labels = |name: &str| vec![("class", name.to_owned())];
        registry.set("bytes", labels("web"), 1.0);
        registry.set("bytes", labels("db"), 2.0);
        registry.unset("bytes", &labels("web"));
        assert_eq!(written(&registry), "# TYPE bytes gauge\nbytes{class=\"db\"} 2\n");
    }

    #[test]
    fn a_summary_shows_quantiles_sum_and_count() {
        let registry = Registry::default();
        registry.summarise("s_seconds", Vec::new(), Duration::from_millis(1_500));
        let expected = r#"# TYPE s_seconds summary
s_seconds{quantile="0"} 1.5
s_seconds{quantile="0.5"} 1.5
s_seconds{quantile="0.9"} 1.5
s_seconds{quantile="0.99"} 1.5
s_seconds{quantile="1"} 1.5
s_seconds_sum 1.5
s_seconds_count 1
"#;
        assert_eq!(written(&registry), expected);
    }

    #[test]
    fn a_gauge_whose_labels_went_away_is_cleared() {
        let registry = Registry::default();
        registry.set("active", vec![("zone", "a".to_owned())], 1.0);
        registry.clear("active");
        registry.set("active", vec![("zone", "b".to_owned())], 1.0);
        assert_eq!(written(&registry), "# TYPE active gauge\nactive{zone=\"b\"} 1\n");
    }
}
