//! What watches deliver, through the observer and into an engine that decides.
//!
//! An input has one update on each line: `{"kind", "change", "object", "after", "answer"}`. `after`
//! is the milliseconds since the line before, `answer` how the actions are answered that the engine
//! then orders.

use std::sync::Arc;

use kerf_engine::action::{Action, ActionKind};
use kerf_engine::event::{Event, Failure, Instance, Outcome};
use kerf_engine::notice::{Notice, NoticeId, NoticeKind};
use kerf_engine::observed::Revision;
use kerf_engine::provider::{NodeClassKind, ProviderInfo};
use kerf_engine::solve::SolveRequest;
use kerf_engine::time::{Span, Time};
use kerf_engine::{Engine, Settings};
use kerf_kube::{Change, Observer, WatchUpdate};
use kerf_model::instance_type::InstanceType;
use kerf_scheduler::{CancelFlag, Effort};
use kube::api::{ApiResource, GroupVersionKind};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::objects::lines;

/// 2026-01-01T00:00:00Z.
const START: Time = Time::from_seconds(1_767_225_600);
/// The most milliseconds between two lines: a day.
const AFTER_MAX: u64 = 86_400_000;
/// Lines of an input that are read.
const LINES_MAX: usize = 40;

const GROUP: &str = "karpenter.kwok.sh";
const KIND: &str = "KWOKNodeClass";

/// An engine, and what is between it and the outside.
struct Edge {
    observer: Observer,
    engine: Engine,
    now: Time,
    notices: u64,
}

/// Plays an input.
pub(super) fn watch(bytes: &[u8]) {
    let mut edge = Edge::new();
    for line in lines(bytes).iter().take(LINES_MAX) {
        let after = line["after"].as_u64().unwrap_or(1_000).min(AFTER_MAX);
        edge.now = edge.now + Span::from_millis(after);
        edge.learn(line);
        edge.decide(line["answer"].as_u64().unwrap_or(0));
    }
    // What goes to a journal must come back from it.
    let state = serde_json::to_string(edge.engine.world()).expect("a world is written");
    let again: kerf_engine::World = serde_json::from_str(&state).expect("a world is read again");
    assert_eq!(serde_json::to_string(&again).expect("a world is written"), state);
}

impl Edge {
    fn new() -> Self {
        let class = NodeClassKind {
            group: GROUP.to_owned(),
            version: "v1alpha1".to_owned(),
            kind: KIND.to_owned(),
            plural: "kwoknodeclasses".to_owned(),
            managed: None,
        };
        let provider = ProviderInfo { node_classes: vec![class], ..ProviderInfo::default() };
        let settings = Settings { provider, node_overlays: true, ..Settings::default() };
        let observer = Observer::new(&settings);
        let kinds: Vec<_> = settings.kinds().collect();
        let mut engine = Engine::new(settings);
        for kind in kinds {
            engine.handle(Event::Listed(kind), START);
        }
        Self { observer, engine, now: START, notices: 0 }
    }

    fn learn(&mut self, line: &Value) {
        match line["kind"].as_str() {
            Some("Offer") => {
                let pool = Arc::from(line["object"].as_str().unwrap_or("default"));
                self.handle(Event::Offered { pool, instance_types: types() });
            }
            Some("Notice") => {
                let kinds = NoticeKind::ALL;
                let kind = kinds[line["change"].as_u64().unwrap_or(0) as usize % kinds.len()];
                let instances = line["object"].as_str().into_iter().map(Arc::from).collect();
                self.notices += 1;
                let id = NoticeId(self.notices);
                self.handle(Event::Noticed(Notice::new(id, kind, instances)));
            }
            _ => {
                let Some(update) = update(line) else { return };
                for event in self.observer.observe(update, self.engine.world()) {
                    self.handle(event);
                }
            }
        }
    }

    fn handle(&mut self, event: Event) {
        self.engine.handle(event, self.now);
    }

    /// Decides twice: the second time with answers to the first.
    fn decide(&mut self, answer: u64) {
        for _ in 0..2 {
            let orders = self.engine.decide(self.now);
            for action in &orders.actions {
                let outcome = self.outcome(action, answer);
                let outcome = Event::Finished { action: action.id, outcome };
                self.handle(outcome);
            }
        }
    }

    fn outcome(&self, action: &Action, answer: u64) -> Outcome {
        let unavailable = || Failure::Unavailable { message: "away".to_owned() };
        match (&action.kind, answer % 5) {
            (ActionKind::Solve(request), 0..=3) => {
                let request = SolveRequest { effort: Effort(1_000), ..request.clone() };
                request.solve(&CancelFlag::default())
            }
            (ActionKind::Launch(launch), 0..=2) => {
                let name = &launch.claim.meta.name;
                Outcome::Launched(Arc::new(instance(name)))
            }
            (ActionKind::ListInstances, 0..=3) => {
                let claims = self.engine.world().claims.keys();
                let listed = claims.map(|name| Arc::new(instance(name))).collect();
                Outcome::Instances(if answer.is_multiple_of(2) { listed } else { Vec::new() })
            }
            (_, 0 | 1) => Outcome::Done,
            (_, 2) => Outcome::NotFound,
            (_, 3) => Outcome::Failed(Failure::Conflict),
            _ => Outcome::Failed(unavailable()),
        }
    }
}

fn instance(claim: &Arc<str>) -> Instance {
    let provider_id = Arc::from(format!("kwok://{claim}"));
    let (claim, image_id) = (Some(Arc::clone(claim)), None);
    Instance {
        provider_id,
        claim,
        image_id,
        labels: Default::default(),
        annotations: Default::default(),
        capacity: Default::default(),
        allocatable: Default::default(),
        made_of: Default::default(),
        is_ending: false,
    }
}

fn types() -> Arc<[InstanceType]> {
    thread_local! {
        static TYPES: Arc<[InstanceType]> = kerf_catalog::kwok().into_iter().step_by(12).collect();
    }
    TYPES.with(Arc::clone)
}

/// The update a line means, if its object has the types of its kind.
fn update(line: &Value) -> Option<WatchUpdate> {
    Some(match line["kind"].as_str()? {
        "Pod" => WatchUpdate::Pod(change(line)?),
        "Node" => WatchUpdate::Node(change(line)?),
        "NodeClaim" => WatchUpdate::Claim(change(line)?),
        "NodePool" => WatchUpdate::Pool(change(line)?),
        "NodeOverlay" => WatchUpdate::Overlay(change(line)?),
        "NodeClass" => {
            let kind = GroupVersionKind::gvk(GROUP, "v1alpha1", KIND);
            WatchUpdate::NodeClass(ApiResource::from_gvk(&kind), change(line)?)
        }
        "PodDisruptionBudget" => WatchUpdate::PodDisruptionBudget(change(line)?),
        "DaemonSet" => WatchUpdate::DaemonSet(change(line)?),
        "Namespace" => WatchUpdate::Namespace(change(line)?),
        "VolumeAttachment" => WatchUpdate::VolumeAttachment(change(line)?),
        "CSINode" => WatchUpdate::CsiNode(change(line)?),
        "PersistentVolumeClaim" => WatchUpdate::VolumeClaim(change(line)?),
        "PersistentVolume" => WatchUpdate::Volume(change(line)?),
        "StorageClass" => WatchUpdate::StorageClass(change(line)?),
        "Service" => WatchUpdate::Service(change(line)?),
        "ReplicationController" => WatchUpdate::ReplicationController(change(line)?),
        "ReplicaSet" => WatchUpdate::ReplicaSet(change(line)?),
        "StatefulSet" => WatchUpdate::StatefulSet(change(line)?),
        _ => return None,
    })
}

fn change<K: DeserializeOwned>(line: &Value) -> Option<Change<K>> {
    let object = || serde_json::from_value(line["object"].clone()).ok().map(Box::new);
    Some(match line["change"].as_str().unwrap_or("is") {
        "relisting" => Change::Relisting,
        "listed" => Change::Listed(line["revision"].as_u64().map(Revision)),
        "heard" => Change::Heard,
        "was" => Change::Was(object()?),
        _ => Change::Is(object()?),
    })
}
