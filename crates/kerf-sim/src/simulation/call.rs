//! Calls of an engine: the way there, what is done, and the way back.

use kerf_engine::action::{Action, ActionId, ActionKind, Lane};
use kerf_engine::event::{Event, Failure, Outcome};
use kerf_engine::time::{Span, Time};
use kerf_scheduler::CancelFlag;

use super::Simulation;
use crate::happening::Happening;
use crate::random::Delay;
use crate::replica::ReplicaId;
use crate::scenario::CallFaults;

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
        let is_late = action.kind.lane() != Lane::Solve && self.dice.calls.chance(faults.late / 2);
        let extra = if is_late { self.dice.calls.span(LATE) } else { Span::default() };
        let delay = self.dice.network.span(one_way(action.kind.lane()));
        self.queue.at(now + delay + extra, Happening::Arrive(replica, Box::new(action)));
    }

    /// An action has arrived: it is carried out, unless something goes wrong.
    pub(super) fn arrive(&mut self, replica: ReplicaId, action: Action) {
        let faults = self.call_faults();
        let dice = &mut self.dice.calls;
        let lane = action.kind.lane();
        let id = action.id;
        let is_call = lane != Lane::Solve;
        let is_away = lane == Lane::Write && self.store.now < self.server_away_until;
        let refusal = if is_away || (is_call && dice.chance(faults.unavailable)) {
            Some(unavailable("the server does not answer"))
        } else if lane == Lane::Cloud && dice.chance(faults.throttled) {
            Some(unavailable("RequestLimitExceeded: too many calls"))
        } else if has_precondition(&action.kind) && dice.chance(faults.conflict) {
            Some(Outcome::Failed(Failure::Conflict))
        } else if matches!(action.kind, ActionKind::Launch(_)) && dice.chance(faults.launch_refused)
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
            ActionKind::Launch(_) => self.dice.instances.span(self.scenario.cloud.launch),
            _ => Span::default(),
        };
        let outcome = self.carry_out(action);
        self.story.outcome(&outcome);
        let dice = &mut self.dice.calls;
        if is_call && dice.chance(faults.lost) {
            return;
        }
        if is_call && dice.chance(faults.unheard) {
            self.reply(replica, id, unavailable("no answer in time"), TIME_OUT);
            return;
        }
        let late = if dice.chance(faults.late) { dice.span(LATE) } else { Span::default() };
        if dice.chance(faults.doubled) {
            self.reply(replica, id, outcome.clone(), takes);
        }
        let takes = Span::from_millis(takes.millis() + late.millis());
        self.reply(replica, id, outcome, takes);
    }

    pub(super) fn answer(&mut self, replica: ReplicaId, action: ActionId, outcome: Outcome) {
        let now = self.store.now;
        if let Some(replica) = self.replicas.iter_mut().find(|it| it.id == replica) {
            replica.engine.handle(Event::Finished { action, outcome }, now);
            replica.has_update = true;
        }
    }

    /// Does what an action says.
    pub(crate) fn carry_out(&mut self, action: Action) -> Outcome {
        self.checker.about_to(&action, &self.store, &self.cloud);
        let store = &mut self.store;
        match action.kind {
            ActionKind::CreateClaim(new) => store.create_claim(*new),
            ActionKind::PatchClaim { name, revision, patch } => {
                store.patch_claim(&name, revision, patch)
            }
            ActionKind::WriteClaimStatus { name, revision, status } => {
                store.write_claim_status(&name, revision, *status)
            }
            ActionKind::DeleteClaim { name, uid } => store.delete_claim(&name, Some(&uid)),
            ActionKind::PatchNode { name, uid, patch } => store.patch_node(&name, &uid, patch),
            ActionKind::DeleteNode { name, uid } => store.delete_node(&name, Some(&uid)),
            ActionKind::EvictPod { pod, uid } => self.workloads.evict(&pod, &uid, store),
            ActionKind::DeletePod { pod, uid, grace_seconds } => {
                store.delete_pod(&pod, Some(&uid), Span::from_seconds(grace_seconds))
            }
            ActionKind::PatchPool { name, revision, annotations } => {
                store.patch_pool(&name, revision, annotations)
            }
            ActionKind::WritePoolStatus { name, revision, status } => {
                store.write_pool_status(&name, revision, *status)
            }
            ActionKind::Launch(claim) => self.launch(&claim),
            ActionKind::Terminate { claim, provider_id } => {
                match self.cloud.meant(&claim, provider_id.as_ref()) {
                    Some(id) => self.terminate(&id),
                    None => Outcome::NotFound,
                }
            }
            ActionKind::ListInstances => Outcome::Instances(self.cloud.list()),
            ActionKind::Solve(request) => request.solve(&CancelFlag::default()),
            ActionKind::ZonalShift(_) => Outcome::NotFound,
        }
    }

    fn launch(&mut self, claim: &kerf_engine::observed::Claim) -> Outcome {
        let now = self.store.now;
        let launch = self.cloud.launch(claim, now);
        if let Some(instance) = launch.started {
            self.checker.launched(&self.cloud.instances[&instance], &self.store, &self.cloud);
            self.story.instance(now, &self.cloud.instances[&instance]);
            let faults = self.call_faults();
            let dice = &mut self.dice.instances;
            let boot = dice.span(self.scenario.cloud.boot);
            let boot = if dice.chance(faults.slow_boot) { boot.times(10) } else { boot };
            if !dice.chance(faults.stillborn) {
                self.queue.at(now + boot, Happening::NodeJoins(instance));
            }
        }
        if launch.instance_types_changed {
            self.send_instance_types();
        }
        launch.outcome
    }

    fn terminate(&mut self, provider_id: &std::sync::Arc<str>) -> Outcome {
        match self.cloud.end(provider_id) {
            None => Outcome::NotFound,
            Some(false) => Outcome::Done,
            Some(true) => {
                let delay = self.dice.instances.span(self.scenario.cloud.terminate);
                let gone = Happening::InstanceGone(provider_id.clone());
                self.queue.at(self.store.now + delay, gone);
                Outcome::Done
            }
        }
    }

    fn reply(&mut self, replica: ReplicaId, id: ActionId, outcome: Outcome, takes: Span) {
        let delay = self.dice.network.span(WRITE_DELAY);
        let at: Time = self.store.now + takes + delay;
        self.queue.at(at, Happening::Answer(replica, id, Box::new(outcome)));
    }

    fn call_faults(&self) -> CallFaults {
        let plan = &self.scenario.faults;
        if self.elapsed() < plan.until { plan.calls } else { CallFaults::default() }
    }
}

fn one_way(lane: Lane) -> Delay {
    match lane {
        Lane::Write => WRITE_DELAY,
        Lane::Cloud => CLOUD_DELAY,
        Lane::Solve => SOLVE_DELAY,
    }
}

fn has_precondition(kind: &ActionKind) -> bool {
    matches!(
        kind,
        ActionKind::PatchClaim { .. }
            | ActionKind::WriteClaimStatus { .. }
            | ActionKind::PatchNode { .. }
            | ActionKind::PatchPool { .. }
            | ActionKind::WritePoolStatus { .. }
    )
}

fn unavailable(message: &str) -> Outcome {
    Outcome::Failed(Failure::Unavailable { message: message.to_owned() })
}
