//! Calls of an engine: the way there, what is done, and the way back.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::action::{
    Action, ActionId, ActionKind, Executor, Lane, Launch, MetadataPatch, NewClaim, NodePatch,
    PoolEdit, RebootOrder,
};
use kerf_engine::condition::Conditions;
use kerf_engine::event::{Event, Failure, Instance, Outcome};
use kerf_engine::observed::{
    Claim, ClaimStatus, Name, Node, NodeClass, NodeClassStatus, Overlay, PodKey, Pool, PoolStatus,
    Revision,
};
use kerf_engine::solve::SolveRequest;
use kerf_engine::time::{Span, Time};
use kerf_engine::zonal_shift::{CopyStep, ShiftStateWrite};
use kerf_model::node_spec::NodeClassRef;

use super::Simulation;
use super::setup::label_rules;
use crate::cloud;
use crate::replica::ReplicaId;
use crate::rng::Delay;
use crate::scenario::CallFaults;
use crate::sim_event::SimEvent;
use crate::store::Precondition;

/// One way of a call to the API server.
const WRITE_DELAY: Delay = Delay::millis(3, 30);
/// One way of a call to the cloud.
const CLOUD_DELAY: Delay = Delay::millis(50, 300);
/// How long a solve takes.
const SOLVE_DELAY: Delay = Delay::millis(20, 200);
/// After so long a caller gives up waiting for an answer.
const TIME_OUT: Span = Span::from_seconds(10);
/// How late a late call or answer is.
const LATE: Delay = Delay::millis(2_000, 40_000);

impl Simulation {
    /// Sends an action on its way.
    pub(super) fn send(&mut self, replica: ReplicaId, action: Action) {
        let now = self.store.now;
        let faults = self.call_faults();
        let is_late = action.kind.lane() != Lane::Solve && self.rngs.calls.chance(faults.late / 2);
        let extra = if is_late { self.rngs.calls.span(LATE) } else { Span::default() };
        let delay = self.rngs.network.span(one_way(action.kind.lane()));
        self.queue.at(now + delay + extra, SimEvent::Arrive(replica, Box::new(action)));
    }

    /// An action has arrived: it is carried out, unless something goes wrong.
    pub(super) fn arrive(&mut self, replica: ReplicaId, action: Action) {
        let faults = self.call_faults();
        let rng = &mut self.rngs.calls;
        let lane = action.kind.lane();
        let id = action.id;
        let is_call = lane != Lane::Solve;
        let is_away =
            matches!(lane, Lane::Read | Lane::Write) && self.store.now < self.server_away_until;
        let refusal = if is_away || (is_call && rng.chance(faults.unavailable)) {
            Some(unavailable("the server does not answer"))
        } else if lane == Lane::Cloud && rng.chance(faults.throttled) {
            Some(unavailable("RequestLimitExceeded: too many calls"))
        } else if action.kind.info().can_conflict && rng.chance(faults.conflict) {
            Some(Outcome::Failed(Failure::Conflict))
        } else if matches!(action.kind, ActionKind::Launch(_)) && rng.chance(faults.launch_refused)
        {
            Some(Outcome::Failed(Failure::LaunchRefused {
                reason: "LaunchTemplateInvalid".to_owned(),
                message: "the launch template cannot be used".to_owned(),
            }))
        } else {
            None
        };
        if let Some(outcome) = refusal {
            self.reply(replica, id, outcome, Span::default());
            return;
        }
        let takes = match &action.kind {
            ActionKind::Launch(_) => self.rngs.instances.span(self.scenario.cloud.launch),
            _ => Span::default(),
        };
        let outcome = self.carry_out(&action);
        self.trace.outcome(&outcome);
        let rng = &mut self.rngs.calls;
        if is_call && rng.chance(faults.lost) {
            return;
        }
        if is_call && rng.chance(faults.unheard) {
            self.reply(replica, id, unavailable("no answer in time"), TIME_OUT);
            return;
        }
        let late = if rng.chance(faults.late) { rng.span(LATE) } else { Span::default() };
        if rng.chance(faults.doubled) {
            self.reply(replica, id, outcome.clone(), takes);
        }
        let takes = Span::from_millis(takes.millis() + late.millis());
        self.reply(replica, id, outcome, takes);
    }

    pub(super) fn answer(&mut self, replica: ReplicaId, action: ActionId, outcome: Outcome) {
        let now = self.store.now;
        if let Some(replica) = self.replicas.iter_mut().find(|it| it.id == replica) {
            replica.handle(Event::Finished { action, outcome }, now);
            replica.has_update = true;
        }
    }

    /// Does what an action says.
    pub(crate) fn carry_out(&mut self, action: &Action) -> Outcome {
        self.checker.about_to(action, &self.store, &self.cloud);
        action.kind.execute(self)
    }

    fn start_instance(&mut self, launch: &Launch) -> Outcome {
        let now = self.store.now;
        let launch = self.cloud.launch(launch, &label_rules(), now);
        if let Some(instance) = launch.started {
            self.checker.launched(&self.cloud.instances[&instance], &self.store, &self.cloud);
            self.trace.instance(now, &self.cloud.instances[&instance]);
            let faults = self.call_faults();
            let rng = &mut self.rngs.instances;
            let boot = rng.span(self.scenario.cloud.boot);
            let boot = if rng.chance(faults.slow_boot) { boot.times(10) } else { boot };
            if !rng.chance(faults.stillborn) {
                self.queue.at(now + boot, SimEvent::NodeJoins(instance));
            }
        }
        if launch.instance_types_changed {
            self.send_instance_types();
        }
        launch.outcome
    }

    fn end_instance(&mut self, provider_id: &Arc<str>) -> Outcome {
        match self.cloud.end(provider_id, self.store.now) {
            None => Outcome::NotFound,
            Some(false) => Outcome::Done,
            Some(true) => {
                let delay = self.rngs.instances.span(self.scenario.cloud.terminate);
                let gone = SimEvent::InstanceGone(provider_id.clone());
                self.queue.at(self.store.now + delay, gone);
                Outcome::Done
            }
        }
    }

    fn reply(&mut self, replica: ReplicaId, id: ActionId, outcome: Outcome, takes: Span) {
        let delay = self.rngs.network.span(WRITE_DELAY);
        let at: Time = self.store.now + takes + delay;
        self.queue.at(at, SimEvent::Answer(replica, id, Box::new(outcome)));
    }

    fn call_faults(&self) -> CallFaults {
        let plan = &self.scenario.faults;
        if self.elapsed() < plan.until { plan.calls } else { CallFaults::default() }
    }
}

impl Executor<'_> for Simulation {
    type Answer = Outcome;

    fn create_claim(&mut self, claim: &NewClaim) -> Outcome {
        self.store.create_claim(claim)
    }

    fn patch_claim(&mut self, name: &Name, revision: Revision, patch: &MetadataPatch) -> Outcome {
        self.store.change(name, Precondition::Revision(revision), |claim: &mut Claim| {
            let Claim { spec, finalizers, .. } = claim;
            patch.apply(&mut spec.labels, &mut spec.annotations, finalizers);
        })
    }

    fn write_claim_status(
        &mut self,
        name: &Name,
        revision: Revision,
        status: &ClaimStatus,
    ) -> Outcome {
        self.store.change(name, Precondition::Revision(revision), |claim: &mut Claim| {
            claim.status = status.clone();
        })
    }

    fn delete_claim(&mut self, name: &Name, uid: &str) -> Outcome {
        self.store.delete::<Claim>(name, Precondition::Uid(uid))
    }

    fn patch_node(&mut self, name: &Name, uid: &str, patch: &NodePatch) -> Outcome {
        self.store.change(name, Precondition::Uid(uid), |node: &mut Node| {
            node.finalizers = patch.finalizers(std::mem::take(&mut node.finalizers));
            node.taints = patch.taints(std::mem::take(&mut node.taints));
            node.labels = patch.labels(std::mem::take(&mut node.labels));
            node.annotations = patch.annotations(std::mem::take(&mut node.annotations));
            if let Some((_, uid)) = &patch.owner {
                node.owner_claim = Some(uid.clone());
            }
        })
    }

    fn delete_node(&mut self, name: &Name, uid: &str) -> Outcome {
        self.store.delete::<Node>(name, Precondition::Uid(uid))
    }

    fn evict_pod(&mut self, pod: &PodKey, uid: &str) -> Outcome {
        self.workloads.evict(pod, uid, &mut self.store)
    }

    fn delete_pod(&mut self, pod: &PodKey, uid: &str, grace_seconds: u64) -> Outcome {
        let grace = Span::from_seconds(grace_seconds);
        self.store.delete_pod(pod, Precondition::Uid(uid), grace)
    }

    fn patch_pool(
        &mut self,
        name: &Name,
        revision: Revision,
        annotations: &BTreeMap<String, String>,
    ) -> Outcome {
        self.store.change(name, Precondition::Revision(revision), |pool: &mut Pool| {
            pool.annotations.extend(annotations.clone());
        })
    }

    fn write_pool_status(
        &mut self,
        name: &Name,
        revision: Revision,
        status: &PoolStatus,
    ) -> Outcome {
        self.store.change(name, Precondition::Revision(revision), |pool: &mut Pool| {
            pool.status = status.clone();
        })
    }

    fn launch(&mut self, launch: &Launch) -> Outcome {
        self.start_instance(launch)
    }

    fn terminate(&mut self, claim: &Name, provider_id: Option<&Arc<str>>) -> Outcome {
        match self.cloud.meant(claim, provider_id) {
            Some(id) => self.end_instance(&id),
            None => Outcome::NotFound,
        }
    }

    /// The machine is back at once, with another boot id.
    fn reboot(&mut self, order: &RebootOrder) -> Outcome {
        let instance = order.provider_id.as_ref().and_then(|id| self.cloud.instances.get(id));
        let (Some(_), Some(node)) = (instance, &order.node) else { return Outcome::NotFound };
        let outcome = self.store.change(node, Precondition::Nothing, |node: &mut Node| {
            node.profile.boot_id = order.operation.to_string();
        });
        match outcome {
            Outcome::Stored(_) => Outcome::Done,
            other => other,
        }
    }

    fn confirm_drained(&mut self, node: &Name) -> Outcome {
        let pods = self.store.pods_on(node);
        Outcome::PodsOn(pods.map(|pod| (pod.key.clone(), pod.meta.uid.clone())).collect())
    }

    fn confirm_node_gone(&mut self, node: &Name) -> Outcome {
        let node = self.store.nodes.get(node);
        node.map_or(Outcome::NotFound, |node| Outcome::Stored(Box::new((**node).clone().into())))
    }

    fn confirm_orphan(&mut self, claim: Option<&Name>, instance: &Instance) -> Outcome {
        let may_own = |it: &&Arc<Claim>| {
            it.status.provider_id.as_ref().is_none_or(|id| *id == instance.provider_id)
        };
        let found = match claim {
            Some(name) => self.store.claims.get(name),
            None => self.store.claims.values().find(may_own),
        };
        found.map_or(Outcome::NotFound, |it| Outcome::Stored(Box::new((**it).clone().into())))
    }

    fn list_instances(&mut self) -> Outcome {
        let lag = self.rngs.instances.span(self.scenario.cloud.lag);
        Outcome::Instances(self.cloud.list(self.store.now - lag))
    }

    fn tag_instance(
        &mut self,
        _claim: &Name,
        provider_id: &str,
        _tags: &BTreeMap<String, String>,
    ) -> Outcome {
        match self.cloud.instances.contains_key(provider_id) {
            true => Outcome::Done,
            false => Outcome::NotFound,
        }
    }

    fn resolve_node_class(&mut self, _class: &NodeClass) -> Outcome {
        Outcome::Resolved(Box::new(cloud::resolve()))
    }

    fn release_node_class(&mut self, _class: &NodeClass) -> Outcome {
        Outcome::Done
    }

    fn patch_node_class(
        &mut self,
        class: &NodeClassRef,
        revision: Revision,
        patch: &MetadataPatch,
    ) -> Outcome {
        self.store.change(class, Precondition::Revision(revision), |class: &mut NodeClass| {
            let NodeClass { annotations, finalizers, .. } = class;
            patch.apply_to_unlabelled(annotations, finalizers);
        })
    }

    fn write_node_class_status(
        &mut self,
        class: &NodeClassRef,
        revision: Revision,
        status: &NodeClassStatus,
    ) -> Outcome {
        self.store.change(class, Precondition::Revision(revision), |class: &mut NodeClass| {
            class.status = status.clone();
        })
    }

    fn write_overlay_status(
        &mut self,
        name: &Name,
        revision: Revision,
        conditions: &Conditions,
    ) -> Outcome {
        self.store.change(name, Precondition::Revision(revision), |overlay: &mut Overlay| {
            overlay.conditions = conditions.clone();
        })
    }

    fn write_shift_state(&mut self, _write: &ShiftStateWrite) -> Outcome {
        Outcome::NotFound
    }

    fn edit_pool(&mut self, _edit: &PoolEdit) -> Outcome {
        Outcome::NotFound
    }

    fn edit_pool_copy(&mut self, _step: &CopyStep) -> Outcome {
        Outcome::NotFound
    }

    fn describe_shift_network(&mut self) -> Outcome {
        Outcome::NotFound
    }

    fn list_zonal_shifts(&mut self, _cluster_arn: Option<&str>) -> Outcome {
        Outcome::NotFound
    }

    fn solve(&mut self, request: &SolveRequest) -> Outcome {
        self.solver.solve(request)
    }
}

fn one_way(lane: Lane) -> Delay {
    match lane {
        Lane::Read | Lane::Write => WRITE_DELAY,
        Lane::Cloud => CLOUD_DELAY,
        Lane::Solve => SOLVE_DELAY,
    }
}

fn unavailable(message: &str) -> Outcome {
    Outcome::Failed(Failure::Unavailable { message: message.to_owned() })
}
