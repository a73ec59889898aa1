//! The timeline of the scenario: steps and expectations.

use std::collections::BTreeSet;
use std::sync::Arc;

use kerf_engine::observed::{Claim, Name, Node, PodPhase, Pool};
use kerf_engine::time::Span;
use kerf_model::labels::well_known::ZONE;
use kerf_model::pool::Sizing;
use kerf_model::requirement::{Operator, RequirementEntry};

use super::Simulation;
use crate::scenario::{Count, Step, Victim};
use crate::sim_event::SimEvent;
use crate::store::Precondition;

/// The zone that an offering is sold in.
fn zone_of(requirements: &[RequirementEntry]) -> Option<&str> {
    let entry = requirements.iter().find(|entry| entry.key == ZONE)?;
    entry.values.first().map(String::as_str)
}

/// Micro-dollars in a cent.
const MICROS_PER_CENT: u64 = 10_000;

impl Simulation {
    /// Arranges everything the scenario says, again and again if it is shorter than the run.
    pub(super) fn write_the_script(&mut self) {
        let scenario = self.scenario.clone();
        let mut round = Span::default();
        while self.started_at + round < self.ends_at {
            let start = self.started_at + round;
            for (number, (at, _)) in scenario.timeline.iter().enumerate() {
                self.queue.at(start + *at, SimEvent::Step(number));
            }
            for (number, (at, _)) in scenario.expectations.iter().enumerate() {
                self.queue.at(start + *at, SimEvent::Expect(number));
            }
            round = Span::from_millis(round.millis() + scenario.length.millis().max(1));
        }
        self.arrange_faults();
    }

    pub(super) fn play(&mut self, number: usize) {
        let scenario = self.scenario.clone();
        let (_, step) = &scenario.timeline[number];
        let now = self.store.now;
        match step {
            Step::Scale { workload, to } => {
                self.trace.note(now, format!("{workload} is scaled to {to}"));
                self.workloads.scale(workload, *to);
                self.workloads.sync(&mut self.store, &mut self.binder);
            }
            Step::ScalePool { pool, to } => {
                self.trace.note(now, format!("pool {pool} is scaled to {to}"));
                let replicas = u64::from(*to);
                self.store.change(pool, Precondition::Nothing, |pool: &mut Pool| {
                    Arc::make_mut(&mut pool.spec).sizing = Sizing::Static { replicas };
                    pool.meta.generation += 1;
                });
            }
            Step::Delete(Victim::Node) => {
                let nodes = self.store.nodes.values().filter(|node| !node.meta.is_deleting());
                let oldest = nodes.min_by_key(|node| (node.meta.created_at, &node.meta.name));
                if let Some(name) = oldest.map(|node| node.meta.name.clone()) {
                    self.trace.note(now, format!("somebody deletes the node {name}"));
                    self.checker.somebody_deletes(&name);
                    self.store.delete::<Node>(&name, Precondition::Nothing);
                }
            }
            Step::Delete(Victim::Claim) => {
                let claims = self.store.claims.values().filter(|claim| !claim.meta.is_deleting());
                let oldest = claims.min_by_key(|claim| (claim.meta.created_at, &claim.meta.name));
                if let Some(name) = oldest.map(|claim| claim.meta.name.clone()) {
                    self.trace.note(now, format!("somebody deletes the claim {name}"));
                    self.checker.somebody_deletes(&name);
                    self.store.delete::<Claim>(&name, Precondition::Nothing);
                }
            }
            Step::Delete(Victim::SilentNodes) => {
                let nodes = self.store.nodes.values().filter(|node| !node.is_ready);
                let names: Vec<Name> = nodes.map(|node| node.meta.name.clone()).collect();
                for name in names {
                    self.trace.note(now, format!("somebody deletes the silent node {name}"));
                    self.checker.somebody_deletes(&name);
                    self.store.delete::<Node>(&name, Precondition::Nothing);
                }
            }
            Step::LeaveZone(zone) => self.leave_zone(zone, true),
            Step::ReturnToZone(zone) => self.leave_zone(zone, false),
            Step::Fault(fault) => self.go_wrong(*fault),
            Step::Note(text) => self.trace.note(now, text.clone()),
        }
    }

    /// Takes a zone out of every pool, or gives it back.
    fn leave_zone(&mut self, zone: &str, is_left: bool) {
        let word = if is_left { "is left: no pool may use it" } else { "may be used again" };
        self.trace.note(self.store.now, format!("zone {zone} {word}"));
        // Scenarios name zones by their letter.
        let offerings = self.cloud.instance_types.iter().flat_map(|it| it.offerings.iter());
        let mut zones = offerings.filter_map(|it| zone_of(&it.requirements));
        let Some(zone) = zones.find(|it| *it == zone || it.ends_with(zone)).map(str::to_owned)
        else {
            return;
        };
        let entry = RequirementEntry::new(ZONE, Operator::NotIn, [zone.as_str()]);
        let names: Vec<Name> = self.store.pools.keys().cloned().collect();
        for name in names {
            let _ = self.store.change(&name, Precondition::Nothing, |pool: &mut Pool| {
                let spec = Arc::make_mut(&mut pool.spec);
                let requirements = &mut spec.template.spec.requirements;
                requirements.retain(|it| *it != entry);
                requirements.extend(is_left.then(|| entry.clone()));
                pool.meta.generation += 1;
            });
        }
    }

    pub(super) fn expect(&mut self, number: usize) {
        let scenario = self.scenario.clone();
        let (_, expectation) = &scenario.expectations[number];
        let mut found: Vec<(String, Count, u64)> = Vec::new();
        for (name, count) in &expectation.running {
            let ready = self.workloads.get(name).map_or(0, |keeper| keeper.ready.len());
            found.push((format!("ready pods of {name}"), *count, ready as u64));
        }
        let counts = [
            ("pods without a node", expectation.pending, self.pending_count()),
            ("nodes", expectation.nodes, self.store.nodes.len()),
            ("claims", expectation.claims, self.store.claims.len()),
            ("zones with nodes", expectation.zones, self.zone_count()),
            ("cents an hour", expectation.cents_per_hour, self.cents_per_hour()),
        ];
        for (what, count, number) in counts {
            found.extend(count.map(|count| (what.to_owned(), count, number as u64)));
        }
        let now = self.store.now;
        for (what, count, number) in found {
            if !count.admits(number) {
                self.checker.disappointed(now, format!("expected {count} {what}, found {number}"));
            }
        }
    }

    /// How many pods have no node.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        let is_pending =
            |phase: &PodPhase| matches!(phase, PodPhase::Unjudged | PodPhase::Unschedulable { .. });
        self.store.pods.values().filter(|pod| is_pending(&pod.phase)).count()
    }

    fn cents_per_hour(&self) -> usize {
        let cents = self.cloud.price().micros_per_hour() / MICROS_PER_CENT;
        usize::try_from(cents).unwrap_or(usize::MAX)
    }

    fn zone_count(&self) -> usize {
        let zones = self.store.nodes.values().filter_map(|node| node.labels.get(ZONE));
        zones.collect::<BTreeSet<_>>().len()
    }
}
