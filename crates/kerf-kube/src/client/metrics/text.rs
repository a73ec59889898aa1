//! The text format that Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kerf_engine::time::Span;

use super::buckets::{Histogram, seconds};
use super::help::help;

/// A page in the making: samples by metric, however they come.
#[derive(Debug, Default)]
pub(super) struct Page {
    metrics: BTreeMap<String, (&'static str, String)>,
}

/// The metrics that are summaries in public.
const SUMMARIES: [&str; 2] =
    ["karpenter_nodes_termination_duration_seconds", "karpenter_pods_startup_duration_seconds"];

/// Whether a metric is a summary in public.
pub(super) fn is_summary(metric: &str) -> bool {
    SUMMARIES.contains(&metric)
}

impl Page {
    /// A value that goes up and down.
    pub(super) fn gauge(&mut self, metric: &str, labels: &[(&str, String)], value: f64) {
        let sample = format!("{metric}{} {value}\n", braces(labels, None));
        self.lines(metric, "gauge").push_str(&sample);
    }

    /// A count that only goes up.
    pub(super) fn counter(&mut self, metric: &str, labels: &[(&str, String)], count: u64) {
        let sample = format!("{metric}{} {count}\n", braces(labels, None));
        self.lines(metric, "counter").push_str(&sample);
    }

    /// A sum of time that only grows.
    pub(super) fn total(&mut self, metric: &str, seconds: f64) {
        let sample = format!("{metric} {seconds}\n");
        self.lines(metric, "counter").push_str(&sample);
    }

    /// Lengths of time.
    pub(super) fn histogram(
        &mut self,
        metric: &str,
        labels: &[(&str, String)],
        histogram: &Histogram,
    ) {
        let summary = is_summary(metric);
        let (sum, count) = (histogram.sum(), histogram.count());
        let lines = self.lines(metric, if summary { "summary" } else { "histogram" });
        let all = [(f64::INFINITY, count)];
        let buckets = histogram.buckets().chain(all).filter(|_| !summary);
        for (bound, count) in buckets {
            let bound = if bound.is_infinite() { "+Inf".to_owned() } else { bound.to_string() };
            let labels = braces(labels, Some(("le", &bound)));
            let _ = writeln!(lines, "{metric}_bucket{labels} {count}");
        }
        let _ = writeln!(lines, "{metric}_sum{} {sum}", braces(labels, None));
        let _ = writeln!(lines, "{metric}_count{} {count}", braces(labels, None));
    }

    /// The quantiles of a summary.
    pub(super) fn quantiles(
        &mut self,
        metric: &str,
        labels: &[(&str, String)],
        quantiles: &[(f64, Span)],
    ) {
        let lines = self.lines(metric, "summary");
        for (quantile, span) in quantiles {
            let labels = braces(labels, Some(("quantile", &quantile.to_string())));
            let _ = writeln!(lines, "{metric}{labels} {}", seconds(span.millis()));
        }
    }

    /// The page.
    pub(super) fn finish(self) -> String {
        let mut page = String::new();
        for (metric, (kind, lines)) in self.metrics {
            if let Some(help) = help(&metric) {
                let _ = writeln!(page, "# HELP {metric} {help}");
            }
            let _ = write!(page, "# TYPE {metric} {kind}\n{lines}");
        }
        page
    }

    fn lines(&mut self, metric: &str, kind: &'static str) -> &mut String {
        if !self.metrics.contains_key(metric) {
            self.metrics.insert(metric.to_owned(), (kind, String::new()));
        }
        &mut self.metrics.get_mut(metric).expect("it was just put in").1
    }
}

fn braces(labels: &[(&str, String)], bound: Option<(&str, &str)>) -> String {
    if labels.is_empty() && bound.is_none() {
        return String::new();
    }
    let mut text = String::from("{");
    for (name, value) in labels.iter().map(|(name, value)| (*name, value.as_str())).chain(bound) {
        if text.len() > 1 {
            text.push(',');
        }
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = write!(text, "{name}=\"{value}\"");
    }
    text.push('}');
    text
}
