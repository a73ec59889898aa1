//! Manifests the controller's way: through the observer into an engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use kerf_api::Condition;
use kerf_api::node_pool::NodePool;
use kerf_engine::condition::READY;
use kerf_engine::event::{Event, Object};
use kerf_engine::observed::{Name, PodKey, PodPhase};
use kerf_engine::time::Time;
use kerf_engine::{Engine, Settings, World};
use kerf_model::instance_type::InstanceType;
use kerf_model::pod::SpreadConstraint;

use super::present::Present;
use super::{Manifests, Sourced, SourcedError, sourced};
use crate::client::{Change, Guarded, Observer, WatchUpdate};
use crate::pod::namespace_of;
use crate::provisionable::{NotProvisionable, has_ended, is_bound, provisionable};

/// Said of pods that the scheduler does not look at yet.
pub(super) const GATED: &str = "held back by scheduling gates";
/// Reported by the cluster's scheduler, and assumed of pods in files, which it has never seen.
const POD_SCHEDULED: &str = "PodScheduled";
const UNSCHEDULABLE: &str = "Unschedulable";

/// Manifests as an engine knows them.
#[derive(Debug)]
pub struct ObservedManifests {
    pub(super) engine: Engine,
    pub(super) now: Time,
    /// Pods without a node that accept only nodes outside any pool.
    pub(super) outside_pools: Vec<PodKey>,
    /// Pods that need no place, counted by the reason; those on nodes are not counted yet.
    pub(super) passed_over: BTreeMap<&'static str, usize>,
    /// What was assumed, a line each.
    pub(super) notes: Vec<String>,
    /// What was assumed about storage.
    pub(super) storage_notes: BTreeSet<String>,
}

impl Manifests {
    /// Observes every object as the controller would, at this time. Pools without a Ready
    /// condition, which files rarely have, count as ready, and pods no scheduler has looked at as
    /// unschedulable.
    ///
    /// # Errors
    /// Every field of every object that cannot be understood.
    pub fn observe(
        mut self,
        settings: Settings,
        default_spreads: Vec<SpreadConstraint>,
        now: Time,
    ) -> Result<ObservedManifests, Vec<SourcedError>> {
        let mut notes = self.follow_references();
        notes.extend(self.scale());
        let (of_buffers, problems) = self.keep_room();
        notes.extend(of_buffers);
        let present = Present::of(&self);
        let mut observing = Observing::new(settings, default_spreads, now);
        observing.problems = problems;
        let namespaces = present.missing_namespaces(&self);
        observing.observed.notes = notes;
        let Self { pods, workloads, node_pools, others, .. } = self;
        // Pods last: they are read with what is known of everything else.
        for Sourced { source, object } in others {
            observing.update(source, object);
        }
        for name in namespaces {
            observing.namespace(name);
        }
        for Sourced { source, object } in node_pools {
            let pool = Guarded(Ok(assumed_ready(object)));
            observing.update(source, WatchUpdate::Pool(Change::Is(Box::new(pool))));
        }
        observing.present = present;
        for Sourced { source, object } in pods {
            observing.pod(source, object);
        }
        observing.foresee(workloads);
        observing.finish()
    }
}

impl ObservedManifests {
    /// What is known.
    #[must_use]
    pub fn world(&self) -> &World {
        self.engine.world()
    }

    /// Sets what the nodes of pools can be made of; NodeOverlays among the manifests change it.
    pub fn offer(&mut self, offers: impl IntoIterator<Item = (Name, Arc<[InstanceType]>)>) {
        for (pool, instance_types) in offers {
            self.engine.handle(Event::Offered { pool, instance_types }, self.now);
        }
        self.engine.refresh_instance_types();
    }
}

/// Manifests on their way into the engine.
pub(super) struct Observing {
    pub(super) observer: Observer,
    observed: ObservedManifests,
    problems: Vec<SourcedError>,
    pub(super) present: Present,
    /// How many pods were observed.
    pods: usize,
}

impl Observing {
    fn new(settings: Settings, default_spreads: Vec<SpreadConstraint>, now: Time) -> Self {
        let observer = Observer::new(&settings).of_manifests();
        let observed = ObservedManifests {
            engine: Engine::new(settings),
            now,
            outside_pools: Vec::new(),
            passed_over: BTreeMap::new(),
            notes: Vec::new(),
            storage_notes: BTreeSet::new(),
        };
        Self {
            observer: observer.with_default_spreads(default_spreads),
            observed,
            problems: Vec::new(),
            present: Present::default(),
            pods: 0,
        }
    }

    fn finish(mut self) -> Result<ObservedManifests, Vec<SourcedError>> {
        self.problems.sort_by_key(|problem| problem.source);
        if self.problems.is_empty() { Ok(self.observed) } else { Err(self.problems) }
    }

    pub(super) fn update(&mut self, source: usize, update: WatchUpdate) {
        for event in self.events_of(source, update) {
            self.take_in(event);
        }
    }

    /// The events of an update; none if its object cannot be understood, which is noted.
    pub(super) fn events_of(&mut self, source: usize, update: WatchUpdate) -> Vec<Event> {
        match self.observer.try_observe(update, self.observed.engine.world()) {
            Ok(events) => events,
            Err(problems) => {
                self.refuse(source, problems);
                Vec::new()
            }
        }
    }

    pub(super) fn take_in(&mut self, event: Event) {
        if let Event::Seen(object) = &event
            && let Object::Pod(pod) = &**object
            && pod.phase == PodPhase::Waiting
            && pod.shape.placement.excludes_node_pools()
        {
            self.observed.outside_pools.push(pod.key.clone());
        }
        self.observed.engine.handle(event, self.observed.now);
    }

    pub(super) fn pass_over(&mut self, count: usize, why: &'static str) {
        *self.observed.passed_over.entry(why).or_default() += count;
    }

    pub(super) fn refuse(&mut self, source: usize, problems: Vec<kerf_api::FieldError>) {
        self.problems.extend(sourced(source, problems));
    }

    /// An identity for a pod that has none yet. It grows from pod to pod: where pods are alike,
    /// those that stand first in the input are placed first.
    pub(super) fn next_uid(&mut self) -> String {
        self.pods += 1;
        format!("{:08}", self.pods)
    }

    /// A namespace that must exist, because objects lie in it.
    fn namespace(&mut self, name: String) {
        let metadata = meta::ObjectMeta { name: Some(name), ..meta::ObjectMeta::default() };
        let namespace = core::Namespace { metadata, ..core::Namespace::default() };
        let update = WatchUpdate::Namespace(Change::Is(Box::new(namespace)));
        for event in self.observer.observe(update, self.observed.engine.world()) {
            self.take_in(event);
        }
    }

    fn pod(&mut self, source: usize, mut pod: core::Pod) {
        self.name(&mut pod);
        match provisionable(&pod) {
            Ok(()) => {}
            Err(NotProvisionable::NotJudged) => judge_unschedulable(&mut pod),
            Err(reason) => self.note_passed_over(&pod, reason),
        }
        self.note_storage(&pod);
        self.update(source, WatchUpdate::Pod(Change::Is(Box::new(pod))));
    }

    /// Notes what is assumed about the volumes of a pod that has no node.
    pub(super) fn note_storage(&mut self, pod: &core::Pod) {
        if let Some(spec) = pod.spec.as_ref().filter(|_| !is_bound(pod) && !has_ended(pod)) {
            let name = pod.metadata.name.as_deref().unwrap_or_default();
            let storage = self.observer.storage();
            let gaps = storage.gaps(&namespace_of(&pod.metadata), name, spec);
            self.observed.storage_notes.extend(gaps.iter().map(ToString::to_string));
        }
    }

    /// Gives a pod what an API server would have given it.
    fn name(&mut self, pod: &mut core::Pod) {
        let uid = self.next_uid();
        let namespace = namespace_of(&pod.metadata);
        let metadata = &mut pod.metadata;
        metadata.uid.get_or_insert(uid);
        if metadata.name.is_none() {
            let prefix = metadata.generate_name.as_deref().unwrap_or_default();
            let mut names = (0..).map(|number| format!("{prefix}{number}"));
            metadata.name = names.find(|name| self.present.take_pod_name(&namespace, name));
        }
    }

    /// Counts a pod that has no node and needs none. What becomes of those on nodes depends on
    /// their nodes.
    fn note_passed_over(&mut self, pod: &core::Pod, reason: NotProvisionable) {
        let why = match reason {
            _ if has_ended(pod) => "of phase Succeeded or Failed",
            _ if is_bound(pod) => return,
            NotProvisionable::OfDaemonSet => "of DaemonSets",
            NotProvisionable::Nominated => "about to take the place of others",
            NotProvisionable::Gated => GATED,
            _ => "that belong to nodes",
        };
        self.pass_over(1, why);
    }
}

/// As if the cluster's scheduler had found no node for the pod.
pub(super) fn judge_unschedulable(pod: &mut core::Pod) {
    let status = pod.status.get_or_insert_default();
    let conditions = status.conditions.get_or_insert_default();
    conditions.retain(|condition| condition.type_ != POD_SCHEDULED);
    conditions.push(core::PodCondition {
        type_: POD_SCHEDULED.to_owned(),
        status: "False".to_owned(),
        reason: Some(UNSCHEDULABLE.to_owned()),
        ..core::PodCondition::default()
    });
}

/// A pool nobody has judged is taken to be ready.
fn assumed_ready(mut pool: NodePool) -> NodePool {
    let status = pool.status.get_or_insert_default();
    let conditions = status.conditions.get_or_insert_default();
    if !conditions.iter().any(|condition| condition.type_ == READY) {
        conditions.push(Condition {
            type_: READY.to_owned(),
            status: "True".to_owned(),
            observed_generation: None,
            last_transition_time: meta::Time(jiff::Timestamp::UNIX_EPOCH),
            reason: READY.to_owned(),
            message: String::new(),
        });
    }
    pool
}
