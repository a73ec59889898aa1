//! What the daemon counts, as Prometheus reads it.

use std::sync::{Mutex, PoisonError};

use kerf_engine::zonal_shift::NodePoolMode;
use kerf_notices::zonal_shift::{Note, Origin, Received, Step, ZoneId, ZoneTable};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::daemon::complaints::Complaints;

type Labels = Vec<(&'static str, String)>;

/// The daemon's counters.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    active: Family<Labels, Gauge>,
    /// The labels of `active`, so that it is only written when they change.
    shown: Mutex<Vec<Labels>>,
    events: Family<Labels, Counter>,
    pool_edits: Family<Labels, Counter>,
    node_edits: Family<Labels, Counter>,
    skipped: Family<Labels, Counter>,
    leading: Gauge,
    problems: Gauge,
}

impl Metrics {
    /// Nothing has been counted yet.
    pub(crate) fn new(complaints: &Complaints) -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("kerf_zonal_shift"),
            active: Family::default(),
            shown: Mutex::default(),
            events: Family::default(),
            pool_edits: Family::default(),
            node_edits: Family::default(),
            skipped: Family::default(),
            leading: Gauge::default(),
            problems: Gauge::default(),
        };
        let registry = &mut metrics.registry;
        let help = "Zones being avoided, by who asked for it";
        registry.register("active", help, metrics.active.clone());
        let help = "Messages by announcement and what was made of them";
        registry.register("events", help, metrics.events.clone());
        registry.register("nodepool_edits", "Changes to pools", metrics.pool_edits.clone());
        registry.register("node_edits", "Changes to nodes", metrics.node_edits.clone());
        let help = "Pools that are not kept out of a zone";
        registry.register("skipped", help, metrics.skipped.clone());
        registry.register("leading", "Whether this process acts", metrics.leading.clone());
        let help = "Things that do not work now; /healthz lists them";
        registry.register("problems", help, metrics.problems.clone());
        let help = "How many times the log told of something that does not work";
        registry.register("complaints", help, complaints.total.clone());
        metrics
    }

    /// This process leads, until what is returned is dropped.
    pub(crate) fn leads(&self) -> Leading {
        self.leading.set(1);
        Leading(self.leading.clone())
    }

    /// Counts a message.
    pub(crate) fn received(&self, received: &Received) {
        let labels = vec![
            ("detail_type", received.detail_type().to_owned()),
            ("result", received.verdict.label().to_owned()),
        ];
        self.events.get_or_create(&labels).inc();
    }

    /// Counts a change that was made.
    pub(crate) fn carried_out(&self, step: &Step) {
        let (family, action) = match step {
            Step::Pool(edit) => (&self.pool_edits, edit.action.label()),
            Step::Copy(edit) => (&self.pool_edits, edit.action().label()),
            Step::Node(edit) => (&self.node_edits, edit.action.label()),
        };
        family.get_or_create(&vec![("action", action.to_owned())]).inc();
    }

    /// Counts what a plan came upon.
    pub(crate) fn noted(&self, note: &Note) {
        if let Note::Skipped { reason, .. } = note {
            let labels = vec![("reason", reason.label().to_owned())];
            self.skipped.get_or_create(&labels).inc();
        }
    }

    /// Shows the zones being avoided.
    pub(crate) fn shows(&self, known: &NodePoolMode) {
        let Some(state) = known.state() else { return };
        let is_any = state.active().next().is_some();
        let zones = if is_any { known.zones().0 } else { ZoneTable::default() };
        let labels = |zone_id: &ZoneId, origin: Origin| -> Labels {
            let zone = zones.name(zone_id).map(ToString::to_string).unwrap_or_default();
            let (zone_id, origin) = (zone_id.to_string(), origin.to_string());
            vec![("zone", zone), ("zone_id", zone_id), ("origin", origin)]
        };
        let active: Vec<_> = state.active().map(|(id, origin, _)| labels(id, origin)).collect();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown != active {
            self.active.clear();
            for labels in &active {
                self.active.get_or_create(labels).set(1);
            }
            *shown = active;
        }
    }

    /// The page a scraper reads.
    pub(crate) fn page(&self, complaints: &Complaints) -> String {
        self.problems.set(i64::try_from(complaints.lines().len()).unwrap_or(i64::MAX));
        let mut page = String::new();
        match encode(&mut page, &self.registry) {
            Ok(()) => page,
            Err(_) => String::new(),
        }
    }
}

/// Shown as leading while this is kept.
pub(crate) struct Leading(Gauge);

impl Drop for Leading {
    fn drop(&mut self) {
        self.0.set(0);
    }
}
