//! Metrics under their public names: counted as things happen, gauges read off the world when
//! somebody asks.

mod bounds;
mod calls;
mod conditions;
mod help;
mod offers;
mod readings;
mod zonal_shift;
mod zone_neighbours;
mod zones;

use std::time::Duration;

use kerf_engine::sample::Sample;
use kerf_engine::time::Time;
use kerf_engine::{Role, World};
use kerf_runtime::FailureLog;
use kerf_runtime::metrics::Registry;
use tokio::sync::oneshot;

pub(crate) use calls::{call, solve};

/// Everything counted so far; shared by all who count.
#[derive(Clone, Debug)]
pub struct Metrics {
    registry: Registry,
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

/// Karpenter's metrics that are summaries; all other durations are histograms.
const SUMMARIES: [&str; 2] =
    ["karpenter_nodes_termination_duration_seconds", "karpenter_pods_startup_duration_seconds"];

const TIMEOUTS: &str = "karpenter_voluntary_disruption_consolidation_timeouts_total";

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

    pub(crate) fn answer(self, metrics: &Metrics, world: &World, failures: &FailureLog, now: Time) {
        // Who asked may have hung up.
        let _ = self.0.send(metrics.page(world, failures, now));
    }
}

impl Metrics {
    /// Metrics on a registry that other parts of the process may use too.
    #[must_use]
    pub fn new(registry: Registry, shows: Shows) -> Self {
        registry.describe(help::HELP);
        // Dashboards know these two before anything was stopped.
        for kind in ["multi", "single"] {
            let labels = vec![("consolidation_type", kind.to_owned())];
            registry.count(TIMEOUTS, labels, 0);
        }
        Self { registry, shows }
    }

    /// The registry, for others who count.
    #[must_use]
    pub fn registry(&self) -> Registry {
        self.registry.clone()
    }

    /// Counts what happened.
    pub fn count(&self, samples: Vec<Sample>) {
        for sample in samples {
            match sample {
                Sample::Count { metric, labels, by } => self.registry.count(metric, labels, by),
                Sample::Took { metric, labels, span } => {
                    let took = Duration::from_millis(span.millis());
                    if SUMMARIES.contains(&metric) {
                        self.registry.summarise(metric, labels, took);
                    } else {
                        self.registry.observe(metric, labels, bounds::of(metric), took);
                    }
                }
                // A histogram counts in thousandths of whatever its unit is.
                Sample::Scored { metric, labels, millis } => {
                    let score = Duration::from_millis(millis);
                    self.registry.observe(metric, labels, bounds::of(metric), score);
                }
            }
        }
    }

    /// Notes whether a queue that is read answers.
    pub(crate) fn set_queue_answers(&self, queue: String, answers: bool) {
        let value = f64::from(u8::from(answers));
        self.registry.set("kerf_queue_answers", vec![("queue", queue)], value);
    }

    /// The page of this moment.
    #[must_use]
    pub fn page(&self, world: &World, failures: &FailureLog, now: Time) -> String {
        let mut page = self.registry.page();
        if world.settings.role == Role::Controller {
            readings::write(&mut page, world, self.shows, now);
        }
        if world.settings.zonal_shift.is_some() {
            zonal_shift::write(&mut page, world, failures);
        }
        page.finish()
    }
}

/// Metrics are numbers for dashboards; nothing is decided by them.
fn seconds(millis: u64) -> f64 {
    millis as f64 / 1_000.0
}
