//! The text format that Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::histogram::Histogram;
use super::summary::Summary;

/// A page in the making: samples by metric, in whatever order they come.
#[derive(Debug, Default)]
pub struct Page {
    help: BTreeMap<&'static str, &'static str>,
    metrics: BTreeMap<String, (&'static str, String)>,
}

impl Page {
    pub(super) fn new(help: BTreeMap<&'static str, &'static str>) -> Self {
        Self { help, metrics: BTreeMap::new() }
    }

    /// A value that goes up and down.
    pub fn gauge(&mut self, metric: &str, labels: &[(&str, String)], value: f64) {
        let sample = format!("{metric}{} {value}\n", braces(labels, None));
        self.lines(metric, "gauge").push_str(&sample);
    }

    /// A count that was kept elsewhere. Its name ends in `_total`.
    pub fn counter(&mut self, metric: &str, labels: &[(&str, String)], count: u64) {
        let sample = format!("{metric}{} {count}\n", braces(labels, None));
        self.lines(metric, "counter").push_str(&sample);
    }

    /// A counter of seconds, with fractions.
    pub(super) fn total(&mut self, metric: &str, seconds: f64) {
        let sample = format!("{metric} {seconds}\n");
        self.lines(metric, "counter").push_str(&sample);
    }

    pub(super) fn histogram(
        &mut self,
        metric: &str,
        labels: &[(&str, String)],
        histogram: &Histogram,
    ) {
        let lines = self.lines(metric, "histogram");
        for (bound, count) in histogram.buckets() {
            let bound = if bound.is_infinite() { "+Inf".to_owned() } else { bound.to_string() };
            let labels = braces(labels, Some(("le", &bound)));
            let _ = writeln!(lines, "{metric}_bucket{labels} {count}");
        }
        totals(lines, metric, labels, histogram.totals());
    }

    pub(super) fn summary(
        &mut self,
        metric: &str,
        labels: &[(&str, String)],
        summary: &Summary,
        now: Instant,
    ) {
        let lines = self.lines(metric, "summary");
        for (quantile, took) in summary.quantiles(now) {
            let labels = braces(labels, Some(("quantile", &quantile.to_string())));
            let _ = writeln!(lines, "{metric}{labels} {}", took.as_secs_f64());
        }
        totals(lines, metric, labels, summary.totals());
    }

    /// The page as text, metrics by name.
    pub fn finish(self) -> String {
        let mut page = String::new();
        for (metric, (kind, lines)) in self.metrics {
            if let Some(help) = self.help.get(metric.as_str()) {
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

fn totals(
    lines: &mut String,
    metric: &str,
    labels: &[(&str, String)],
    (sum, count): (Duration, u64),
) {
    let labels = braces(labels, None);
    let _ = writeln!(lines, "{metric}_sum{labels} {}", sum.as_secs_f64());
    let _ = writeln!(lines, "{metric}_count{labels} {count}");
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
