//! Metrics under their public names: counted as things happen, gauges read off the world when
//! somebody asks.

mod buckets;
mod calls;
mod conditions;
mod help;
mod process;
mod readings;
mod recent;
mod text;
mod zones;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use kerf_engine::World;
use kerf_engine::sample::Sample;
use kerf_engine::time::Time;
use tokio::sync::oneshot;

use buckets::Histogram;
pub(crate) use calls::{call, solve};
use recent::Recent;
use text::Page;

/// Everything counted so far; shared by all who count.
#[derive(Clone, Debug)]
pub struct Metrics {
    counted: Arc<Mutex<Counted>>,
    shows: Shows,
}

/// What the metrics show of the cluster itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Every pod, node, pool and condition.
    Everything,
    /// No gauges of single objects: in large clusters they are most of the page.
    Totals,
}

#[derive(Debug, Default)]
struct Counted {
    counters: BTreeMap<(&'static str, Labels), u64>,
    durations: BTreeMap<(&'static str, Labels), Histogram>,
    recent: BTreeMap<(&'static str, Labels), Recent>,
}

/// Label names and values.
type Labels = Vec<(&'static str, String)>;

/// A request for the metrics of this moment.
#[derive(Debug)]
pub struct Scrape(oneshot::Sender<String>);

impl Scrape {
    /// A request, and where its answer comes.
    #[must_use]
    pub fn new() -> (Self, oneshot::Receiver<String>) {
        let (sender, receiver) = oneshot::channel();
        (Self(sender), receiver)
    }

    pub(crate) fn answer(self, metrics: &Metrics, world: &World, now: Time) {
        // Who asked may have hung up.
        let _ = self.0.send(metrics.page(world, now));
    }
}

impl Metrics {
    /// Nothing has been counted yet.
    #[must_use]
    pub fn new(shows: Shows) -> Self {
        Self { counted: Arc::default(), shows }
    }

    /// Counts what happened.
    pub fn count(&self, samples: Vec<Sample>) {
        if samples.is_empty() {
            return;
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        for sample in samples {
            match sample {
                Sample::Count { metric, labels, by } => {
                    *counted.counters.entry((metric, labels)).or_default() += by;
                }
                Sample::Took { metric, labels, span } => {
                    let key = (metric, labels);
                    if text::is_summary(metric) {
                        let recent = counted.recent.entry(key.clone()).or_default();
                        recent.add(Instant::now(), span);
                    }
                    let histogram = counted.durations.entry(key);
                    histogram.or_insert_with(|| Histogram::of(metric)).add(span);
                }
            }
        }
    }

    fn page(&self, world: &World, now: Time) -> String {
        let mut page = Page::default();
        readings::write(&mut page, world, self.shows, now);
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        for ((metric, labels), count) in &counted.counters {
            page.counter(metric, labels, *count);
        }
        for ((metric, labels), recent) in &counted.recent {
            page.quantiles(metric, labels, &recent.quantiles(Instant::now()));
        }
        for ((metric, labels), histogram) in &counted.durations {
            page.histogram(metric, labels, histogram);
        }
        page.finish()
    }
}
