//! What must always hold, looked at in the true state of the cluster and the cloud.
//!
//! The engine sees the world late. Where a rule speaks of things that change by themselves (a pod
//! was bound, a node fell silent), only what was so for longer than a watch event takes counts.

mod churn;
mod displaced;
mod disruption;
mod drain;
mod emptiness;
mod launch;
mod place;
mod price;
mod progress;
mod static_pools;
#[cfg(test)]
mod tests;
pub(crate) mod true_state;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use kerf_engine::action::{Action, ActionKind};
use kerf_engine::command::CommandId;
use kerf_engine::event::Key;
use kerf_engine::observed::{Name, PodKey};
use kerf_engine::time::{Span, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cloud::{Cloud, CloudInstance};
use crate::controllers::Workloads;
use crate::scenario::Scenario;
use crate::store::Store;
use true_state::Standing;

/// Watches the rules.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    /// What went against them, oldest first; the first hundred.
    pub violations: Vec<Violation>,
    now: Time,
    /// How late watch events may be.
    staleness: Span,
    /// Claims that were ever stored with their finalizer, by identity.
    with_finalizer: FxHashSet<Arc<str>>,
    /// When pods came to their nodes.
    bound_at: FxHashMap<PodKey, (Arc<str>, Time)>,
    /// Instances nobody claims, since when.
    unclaimed_since: BTreeMap<Arc<str>, Time>,
    /// Claims that are being deleted and that nothing holds up, since when.
    free_since: BTreeMap<Name, Time>,
    /// Claims whose nodes nothing needs, since when.
    empty_since: BTreeMap<Name, Time>,
    /// How many nodes static pools shall have, and since when.
    replicas: BTreeMap<Name, (u64, Time)>,
    /// Static pools that have another number, since when.
    miscounted_since: BTreeMap<Name, Time>,
    /// Claims the engine gave up of its own accord, and when.
    voluntary: BTreeMap<Name, Time>,
    /// Claims that were given up because the same pods cost less elsewhere.
    consolidated: BTreeSet<Name>,
    /// When pods were evicted by consolidation, by workload, within a day.
    evictions: churn::Evictions,
    /// Commands whose price was looked at.
    priced: BTreeSet<CommandId>,
    /// Since when nodes are not ready.
    unready_since: BTreeMap<Name, Time>,
    /// Claims that went lately, with their pool.
    gone_lately: Vec<(Time, Name)>,
    claims: BTreeMap<Name, Name>,
    deleted_by_people: BTreeSet<Name>,
    overlap_until: Time,
    /// Until when some kind is not heard of.
    deaf_until: Time,
    last_look_at_pods: Time,
    standing: Standing,
}

/// Something that went against the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The virtual time at which it was broken.
    pub at: Time,
    /// Which rule.
    pub rule: Rule,
    /// What happened.
    pub what: String,
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Nothing is launched without a stored claim that carries its finalizer.
    FinalizerBeforeLaunch,
    /// No instance is forgotten.
    NoLeak,
    /// No claim has two instances.
    OneInstance,
    /// Pool limits hold, launches under way included.
    Limits,
    /// No more nodes of a pool are disturbed than its budgets allow.
    Budget,
    /// Only empty nodes are given up for being empty.
    Empty,
    /// A node that is replaced goes after its replacements are up.
    ReplacedFirst,
    /// Empty nodes are given up in time.
    KeptEmpty,
    /// What consolidation puts in the place of nodes is not dearer than they were.
    Dearer,
    /// Consolidation does not evict the same pods again and again.
    Churn,
    /// Static pools have as many nodes as they shall have.
    Replicas,
    /// Pods of nodes that are given up by choice have somewhere to go.
    NowhereToGo,
    /// No pod is evicted that must not be disturbed.
    DoNotDisrupt,
    /// No pod is ended past its PodDisruptionBudget before its time.
    Pdb,
    /// Only nodes that are being taken away are drained.
    NeedlessEviction,
    /// No instance is ended while it still has pods that could leave in peace.
    Drain,
    /// Pods that can be placed are placed in time.
    Progress,
    /// What is being deleted goes in time.
    Stuck,
    /// What the scenario expects.
    Expectation,
    /// The engine does not keep itself busy with nothing.
    Restless,
    /// Every notice has exactly one outcome, and what it says is stored.
    Notice,
}

/// Violations kept: the first one matters, the hundredth does not.
const VIOLATIONS_MAX: usize = 100;
/// How late watch events are when nothing goes wrong: delays of watches and calls.
const STALENESS_CALM: Span = Span::from_seconds(2);
/// How late watch events may be when watches break or stall, or calls come late: the longest of each.
const STALENESS_FAULTY: Span = Span::from_seconds(150);

impl Checker {
    /// Sets how late watch events may be.
    pub(crate) fn prepare(&mut self, scenario: &Scenario) {
        let has_faults = scenario.has_faults();
        self.staleness = if has_faults { STALENESS_FAULTY } else { STALENESS_CALM };
    }

    /// Takes in a change of the cluster.
    pub(crate) fn note(&mut self, key: &Key, store: &Store) {
        self.now = store.now;
        match key {
            Key::Claim(name) => match store.claims.get(name) {
                Some(claim) => {
                    if claim.has_finalizer() {
                        self.with_finalizer.insert(claim.meta.uid.clone());
                    }
                    let pool = Arc::from(claim.pool().unwrap_or_default());
                    self.claims.insert(name.clone(), pool);
                }
                None => {
                    self.voluntary.remove(name);
                    self.consolidated.remove(name);
                    if let Some(pool) = self.claims.remove(name) {
                        self.gone_lately.push((self.now, pool));
                    }
                    let from = self.now - self.staleness;
                    self.gone_lately.retain(|(at, _)| *at >= from);
                }
            },
            Key::Pod(key) => match store.pods.get(key).filter(|pod| pod.node().is_some()) {
                Some(pod) => {
                    let known = self.bound_at.get(key).is_some_and(|(uid, _)| *uid == pod.meta.uid);
                    if !known {
                        self.bound_at.insert(key.clone(), (pod.meta.uid.clone(), self.now));
                    }
                }
                None => drop(self.bound_at.remove(key)),
            },
            Key::Node(name) => match store.nodes.get(name).filter(|node| !node.is_ready) {
                Some(_) => drop(self.unready_since.entry(name.clone()).or_insert(self.now)),
                None => drop(self.unready_since.remove(name)),
            },
            Key::Pool(name) => self.note_replicas(name, store),
            _ => {}
        }
    }

    /// Takes in of which nodes something changed: they, their pods or their claims.
    pub(crate) fn note_nodes(&mut self, changed: BTreeSet<Name>) {
        self.standing.note(changed);
    }

    /// Looks at an action that is about to be carried out.
    pub(crate) fn about_to(&mut self, action: &Action, store: &Store, cloud: &Cloud) {
        self.now = store.now;
        match &action.kind {
            ActionKind::Launch(launch) => self.check_finalizer(&launch.claim),
            ActionKind::DeleteClaim { name, uid } => {
                self.check_disruption(name, uid, action, store, cloud);
            }
            ActionKind::EvictPod { pod, uid } => {
                self.check_eviction(pod, uid, store);
                self.count_eviction(pod, uid, store);
            }
            ActionKind::DeletePod { pod, uid, .. } => self.check_forced_end(pod, uid, store),
            ActionKind::Terminate { claim, provider_id } => {
                if let Some(id) = cloud.meant(claim, provider_id.as_ref()) {
                    self.check_drained(&id, store);
                }
            }
            _ => {}
        }
    }

    /// Looks at an instance that was just launched.
    pub(crate) fn launched(&mut self, instance: &CloudInstance, store: &Store, cloud: &Cloud) {
        self.now = store.now;
        self.check_limits(instance, store, cloud);
        self.check_one_instance(instance, cloud);
    }

    /// Looks at everything.
    pub(crate) fn judge(
        &mut self,
        store: &Store,
        cloud: &Cloud,
        scenario: &Scenario,
        workloads: &Workloads,
    ) {
        self.now = store.now;
        self.check_leaks(store, cloud, scenario);
        self.check_stuck(store, scenario);
        self.check_kept_empty(store, scenario);
        self.check_replicas(store, scenario);
        self.check_churn(workloads);
        self.check_progress(store, cloud, scenario, workloads);
    }

    /// Notes that two engines run side by side until then: what they do together may exceed what
    /// each alone would.
    pub(crate) fn leaders_overlap_until(&mut self, until: Time) {
        self.overlap_until = self.overlap_until.max(until);
    }

    /// Notes that the engine hears nothing of some kind, and may conclude nothing from it.
    pub(crate) fn engine_is_deaf_until(&mut self, until: Time) {
        self.deaf_until = self.deaf_until.max(until);
    }

    /// Notes that somebody, not the engine, deletes a claim or a node.
    pub(crate) fn somebody_deletes(&mut self, name: &Name) {
        self.deleted_by_people.insert(name.clone());
    }

    /// Notes that the scenario expected something else.
    pub(crate) fn disappointed(&mut self, at: Time, what: String) {
        self.now = at;
        self.object(Rule::Expectation, what);
    }

    /// Notes that the engine asks to be woken again and again.
    pub(crate) fn restless(&mut self, at: Time, what: String) {
        self.now = at;
        self.object(Rule::Restless, what);
    }

    /// Notes that the outcome of a notice is not what happened.
    pub(crate) fn misled_about_notice(&mut self, at: Time, what: String) {
        self.now = at;
        self.object(Rule::Notice, what);
    }

    /// Whether two engines ran side by side lately.
    fn is_overlap(&self) -> bool {
        self.now < self.overlap_until + self.staleness
    }

    fn object(&mut self, rule: Rule, what: String) {
        if self.violations.len() < VIOLATIONS_MAX {
            self.violations.push(Violation { at: self.now, rule, what });
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::FinalizerBeforeLaunch => "finalizer before launch",
            Self::NoLeak => "no leak",
            Self::OneInstance => "one instance for a claim",
            Self::Limits => "pool limits",
            Self::Budget => "disruption budget",
            Self::Empty => "empty nodes only",
            Self::ReplacedFirst => "replacement first",
            Self::KeptEmpty => "empty nodes go",
            Self::Dearer => "net price",
            Self::Churn => "churn",
            Self::Replicas => "replicas of static pools",
            Self::NowhereToGo => "nowhere to go",
            Self::DoNotDisrupt => "do-not-disrupt",
            Self::Pdb => "PodDisruptionBudget",
            Self::NeedlessEviction => "needless eviction",
            Self::Drain => "drain before end",
            Self::Progress => "progress",
            Self::Stuck => "stuck deletion",
            Self::Expectation => "expectation",
            Self::Restless => "restless engine",
            Self::Notice => "outcome of a notice",
        })
    }
}
