//! One event: its node is drained, then whatever waited for that is told.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use kerf_aws::AutoScaling;
use kerf_engine::notice::{FoundNode, Handling as NoticeHandling, NoticeOutcome};
use kerf_engine::observed::{Name, PodKey};
use kerf_engine::time::Time;
use kerf_kube::NoticeDelivery;
use kerf_model::taint::Taint;
use kerf_runtime::clock;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use tracing::{error, info, warn};

use crate::context::EventContext;
use crate::hooks::{Beating, keep_waiting};
use crate::kind::EventKind;
use crate::kubernetes_events::{Phase, reason};
use crate::message::Announced;
use crate::metadata::NodeMetadata;
use crate::metrics::NodeAction;
use crate::provisioner::Provisioner;
use crate::record::EventRecord;
use crate::settings::{Action, Heartbeats, LogVersion};
use crate::store::{Entry, Fate, fate_of};

/// The longest value a taint or label may have.
const VALUE_CHARS_MAX: usize = 63;

/// An event on its way.
pub(crate) struct Handling {
    pub(crate) context: EventContext,
    pub(crate) announced: Announced,
    pub(crate) record: EventRecord,
    pub(crate) target: Target,
    /// How lifecycle hooks are kept waiting and completed, where there are any.
    pub(crate) hooks: Option<Hooks>,
    /// Whether the event is through where no node is found.
    pub(crate) finishes_without_node: bool,
}

/// The node an event is about, and what it gets beyond what all get.
#[derive(Default)]
pub(crate) struct Target {
    /// The names it may have.
    pub(crate) node_names: Vec<Name>,
    /// When it will be gone, where that is known.
    pub(crate) deadline: Option<Time>,
    pub(crate) labels: BTreeMap<String, String>,
    /// Labels it gets only if it is open.
    pub(crate) labels_if_open: BTreeMap<String, String>,
    /// When its drain begins, if not at once.
    pub(crate) due_at: Option<Timestamp>,
}

/// How lifecycle hooks are kept waiting and completed.
#[derive(Clone)]
pub(crate) struct Hooks {
    pub(crate) auto_scaling: AutoScaling,
    pub(crate) delay: Duration,
    pub(crate) heartbeats: Option<Heartbeats>,
}

impl Handling {
    /// Handles the event, unless it is under way already; says what becomes of its message.
    pub(crate) async fn run(self) -> Fate {
        let ticket = match self.context.store.add(&self.announced.event_id) {
            Entry::New(ticket) => ticket,
            Entry::Known(fate) => return fate_of(fate).await,
        };
        self.context.counters.under_way(self.context.store.under_way());
        let logged = self.record.logged(&self.announced, self.context.settings.log_version);
        let shown = serde_json::to_string(&logged).unwrap_or_default();
        info!({ event = shown }, "Adding new event to the event store");
        self.until_due().await;
        self.request(&logged);
        if self.context.settings.dry_run {
            info!(
                { node_name = self.record.node_name, reason = logged.description },
                "Node would have been cordoned and drained, but dry-run flag was set"
            );
            ticket.handled(Fate::Kept);
            return Fate::Kept;
        }
        self.tell_before().await;
        // Until the hook is completed or the event has failed, which both end this.
        let _beating = self.keep_waiting();
        let (outcome, node) = self.drain().await;
        // The node's own name, which need not be what the instance is called.
        let logged = match &node {
            Some(node) => EventRecord { node_name: node.name.to_string(), ..logged },
            None => logged,
        };
        let (is_through, result) = self.judge(outcome, &logged);
        self.note_drained(node.as_ref(), is_through);
        self.tell_after(result, node.as_ref()).await;
        let is_over = is_through && self.post(&logged).await;
        if is_through {
            self.note(node.as_ref(), &Phase::post_drain(is_over));
        }
        if is_over {
            self.context.counters.ended(self.announced.kind, result);
            ticket.handled(Fate::Finished);
            return Fate::Finished;
        }
        self.context.counters.ended(self.announced.kind, if is_through { "error" } else { result });
        Fate::Kept
    }

    /// An event that is announced long before it happens waits.
    async fn until_due(&self) {
        let due_at = self.target.due_at.unwrap_or(Timestamp::MIN);
        let left = Duration::try_from(due_at.duration_since(clock::now()));
        sleep(left.unwrap_or_default()).await;
    }

    fn request(&self, logged: &EventRecord) {
        let message = match self.announced.kind {
            EventKind::AsgLaunchLifecycle => {
                "Waiting for node to be ready before completing ASG launch lifecycle"
            }
            _ => "Requesting instance drain",
        };
        let monitor =
            (self.context.settings.log_version == LogVersion::Two).then_some(logged.monitor);
        info!(
            {
                "event-id" = logged.event_id, "instance-id" = logged.instance_id,
                kind = logged.kind, monitor, "node-name" = logged.node_name,
                "provider-id" = logged.provider_id,
            },
            "{message}"
        );
    }

    /// Keeps the Auto Scaling group waiting, where one waits and that is wanted.
    fn keep_waiting(&self) -> Option<Beating> {
        let (hook, hooks) = self.announced.hook.as_ref().zip(self.hooks.as_ref())?;
        let beats = hooks.heartbeats?;
        let ends = self.announced.kind == EventKind::AsgLifecycle;
        ends.then(|| keep_waiting(hooks.auto_scaling.clone(), hook.clone(), beats))
    }

    /// Drains the node, or hands it over to the provisioner that owns it. Returns the outcome, none
    /// where nobody is left to answer, and the node that was found.
    async fn drain(&self) -> (Option<NoticeOutcome>, Option<FoundNode>) {
        if let Some(provisioner) = &self.context.provisioner
            && self.is_drain()
            && !self.cordons()
        {
            let closing = NoticeHandling { cordons_only: true, ..self.handling() };
            let (outcome, node) = self.ask(closing, |_| {}).await;
            let is_closed = outcome.as_ref().is_some_and(|outcome| outcome.is_final());
            match node.filter(|_| is_closed) {
                None => return (outcome, None),
                Some(node) if self.hand_over(provisioner, &node).await => {
                    return (outcome, Some(node));
                }
                Some(_) => {}
            }
        }
        let began = Instant::now();
        let (outcome, node) = self.ask(self.handling(), |node| self.tell(node)).await;
        if outcome == Some(NoticeOutcome::Drained) {
            self.context.counters.drained_in(began.elapsed());
        }
        if let Some(node) = &node {
            self.context.store.ends_drain(&node.uid);
        }
        (outcome, node)
    }

    /// Whether the provisioner of a node takes it from here. Where it cannot be asked, the node is
    /// drained all the same.
    async fn hand_over(&self, provisioner: &Provisioner, node: &FoundNode) -> bool {
        let node_name = &node.name;
        match provisioner.take_over(node).await {
            Ok(true) => {
                self.tell(node);
                self.context.store.ends_drain(&node.uid);
                info!({ %node_name }, "Handed the node over to its provisioner");
                true
            }
            Ok(false) => false,
            Err(error) => {
                let error = error.to_string();
                warn!({ %node_name, error }, "The provisioner cannot be told, draining here");
                false
            }
        }
    }

    /// Has the engine see to the node.
    async fn ask(
        &self,
        handling: NoticeHandling,
        tell: impl Fn(&FoundNode),
    ) -> (Option<NoticeOutcome>, Option<FoundNode>) {
        let (sender, mut found) = mpsc::unbounded_channel();
        let instances = vec![self.announced.instance.as_str().into()];
        let (delivery, outcome) =
            NoticeDelivery::handled(self.announced.notice, instances, handling, sender);
        if self.context.notices.send(delivery).await.is_err() {
            return (None, None);
        }
        let mut last = None;
        let telling = async {
            while let Some(node) = found.recv().await {
                tell(&node);
                last = Some(node);
            }
            std::future::pending::<()>().await;
        };
        let outcome = tokio::select! {
            biased;
            () = telling => None,
            outcome = outcome => outcome.ok(),
        };
        (outcome, last)
    }

    /// What the engine is asked to do to the node.
    fn handling(&self) -> NoticeHandling {
        let settings = &self.context.settings;
        let value: String = self.announced.event_id.chars().take(VALUE_CHARS_MAX).collect();
        let taint = settings.taint_effect.zip(self.announced.kind.taint_key());
        NoticeHandling {
            node_names: self.target.node_names.clone(),
            taints: taint.iter().map(|(effect, key)| Taint::new(key, &value, *effect)).collect(),
            labels: self.target.labels.clone(),
            labels_if_open: self.target.labels_if_open.clone(),
            deadline: self.target.deadline,
            cordons_only: settings.actions.of(self.announced.kind) == Action::Cordon,
        }
    }

    fn tell(&self, node: &FoundNode) {
        let latency = clock::now().duration_since(self.announced.time);
        let latency = Duration::try_from(latency).unwrap_or_default();
        self.context.counters.began_after(latency);
        let names = |pods: &[PodKey]| pods.iter().map(ToString::to_string).collect::<Vec<_>>();
        let pods = [names(&node.leaving), names(&node.staying)].concat();
        let shown = serde_json::to_string(&pods).unwrap_or_default();
        info!({ node_name = %node.name, pod_names = shown }, "Pods on node");
        if let Some(events) = &self.context.events {
            let text = &self.record.description;
            events.about_node(node, false, reason(self.announced.kind), text);
        }
        // Two events of one node are one drain.
        if node.is_known || self.cordons() || !self.context.store.begins_drain(&node.uid) {
            return;
        }
        if let Some(events) = &self.context.events {
            events.evictions(node);
        }
        info!({ node_name = %node.name }, "Draining the node");
        if !node.blocking.is_empty() {
            let pods = names(&node.blocking).join(", ");
            warn!({ node_name = %node.name }, "Pods that may not be evicted by the settings: {pods}");
            return;
        }
        if !node.staying.is_empty() {
            let staying = names(&node.staying).join(", ");
            warn!("WARNING: ignoring DaemonSet-managed Pods: {staying}");
        }
    }

    /// Tells whoever wants to know what is about to be done.
    async fn tell_before(&self) {
        if let Some(webhook) = self.context.webhook.as_ref().filter(|_| self.is_drain()) {
            webhook.before(&self.record, &self.metadata(None)).await;
        }
    }

    /// Tells what came of it.
    async fn tell_after(&self, result: &'static str, node: Option<&FoundNode>) {
        let Some(webhook) = self.context.webhook.as_ref().filter(|_| self.is_drain()) else {
            return;
        };
        let mut record = self.record.clone();
        if let Some(node) = node {
            record.node_name = node.name.to_string();
            record.node_labels = Some(node.labels.clone());
            let pods = node.leaving.iter().chain(&node.staying);
            record.pods = Some(pods.map(ToString::to_string).collect());
        }
        webhook.after(result, &record, &self.metadata(node)).await;
    }

    /// Whether a node is closed for it: a launch asks for nothing of the kind.
    fn is_drain(&self) -> bool {
        self.announced.kind != EventKind::AsgLaunchLifecycle
    }

    /// What is known of the instance: by itself, or by its node.
    fn metadata(&self, node: Option<&FoundNode>) -> NodeMetadata {
        let known = self.context.metadata.borrow();
        let Some(node) = node.filter(|_| known.instance_id.is_empty()) else {
            return known.clone();
        };
        let label = |key: &str| node.labels.get(key).cloned().unwrap_or_default();
        NodeMetadata {
            availability_zone: label("topology.kubernetes.io/zone"),
            region: label("topology.kubernetes.io/region"),
            instance_type: label("node.kubernetes.io/instance-type"),
            ..NodeMetadata::default()
        }
    }

    /// Records how the closing and the drain of a node went.
    fn note_drained(&self, node: Option<&FoundNode>, is_ok: bool) {
        if !self.is_drain() {
            return;
        }
        if is_ok && node.is_some() {
            self.acted(NodeAction::PreDrain, true);
            self.note(node, &Phase::PRE_DRAIN);
        }
        self.note(node, &Phase::drain(self.cordons(), is_ok));
    }

    fn note(&self, node: Option<&FoundNode>, phase: &Phase) {
        if let (Some(node), Some(events)) = (node, &self.context.events) {
            events.about_node(node, phase.is_warning, phase.reason, phase.text);
        }
    }

    /// Counts something that was done to the node, or was to be.
    fn acted(&self, action: NodeAction, is_ok: bool) {
        let of = (self.record.node_name.as_str(), self.record.event_id.as_str());
        self.context.counters.acted(action, is_ok, of);
    }

    fn cordons(&self) -> bool {
        self.context.settings.actions.of(self.announced.kind) == Action::Cordon
    }

    /// Whether what waits for the event may be told that it is over, and the result for metrics.
    fn judge(&self, outcome: Option<NoticeOutcome>, logged: &EventRecord) -> (bool, &'static str) {
        let (node_name, reason) = (&logged.node_name, &logged.description);
        let action = if self.cordons() { NodeAction::Cordon } else { NodeAction::CordonAndDrain };
        match outcome {
            // The process ends; its successor goes on.
            None => (false, "shutdown"),
            Some(NoticeOutcome::Ready) => (true, "ready"),
            Some(NoticeOutcome::NotReady) => (false, "not_ready"),
            Some(NoticeOutcome::NoNode) => {
                warn!(
                    { "instance-id" = logged.instance_id, node_name },
                    "The instance has no node in this cluster"
                );
                (self.finishes_without_node, "no_node")
            }
            Some(NoticeOutcome::Opened) => {
                info!({ node_name, reason }, "The event was called off, the drain ends");
                (true, "called_off")
            }
            Some(NoticeOutcome::Blocked) => {
                self.acted(action, false);
                let problem = "pods on the node may not be evicted by the settings";
                error!(
                    { node_name, reason, error = problem },
                    "There was a problem while trying to cordon and drain the node"
                );
                (false, "blocked")
            }
            Some(outcome) if outcome.is_final() => {
                self.acted(action, true);
                let message = match self.cordons() {
                    true => "Node successfully cordoned",
                    false => "Node successfully cordoned and drained",
                };
                info!({ node_name, reason }, "{message}");
                (true, outcome.label())
            }
            Some(outcome) => {
                self.acted(action, false);
                let problem =
                    "the drain was not over in time; it goes on, and the event comes again";
                error!(
                    { node_name, reason, error = problem },
                    "There was a problem while trying to cordon and drain the node"
                );
                (false, outcome.label())
            }
        }
    }

    /// Completes the lifecycle hook, if the event has one. Whether the message may be deleted.
    async fn post(&self, logged: &EventRecord) -> bool {
        let (Some(hook), Some(hooks)) = (&self.announced.hook, &self.hooks) else {
            self.acted(NodeAction::PostDrain, true);
            return true;
        };
        sleep(hooks.delay).await;
        let completed = hooks.auto_scaling.complete(hook).await;
        self.acted(NodeAction::PostDrain, completed.is_ok());
        match completed {
            Ok(()) => {
                info!(
                    { lifecycleHookName = hook.hook, instanceID = hook.instance },
                    "Completed ASG Lifecycle Hook"
                );
                true
            }
            Err(why) => {
                self.context.counters.failed("post-drain");
                error!(
                    { error = %why, lifecycleHookName = hook.hook, instanceID = hook.instance,
                      "event-id" = logged.event_id },
                    "There was a problem executing the post-drain task"
                );
                false
            }
        }
    }
}
