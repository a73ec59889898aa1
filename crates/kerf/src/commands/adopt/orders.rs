//! What Kerf would do with the nodes there are, by its own engine.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use kerf_api::ec2_node_class::EC2NodeClass;
use kerf_aws::provider::{AwsSettings, label_rules, provider_info};
use kerf_engine::action::{Action, ActionKind};
use kerf_engine::condition::claim::DRIFTED;
use kerf_engine::event::{Event, Object, Outcome};
use kerf_engine::observed::Claim;
use kerf_engine::time::Time;
use kerf_engine::{Engine, Settings};
use kerf_kube::{Change, Observer, WatchUpdate};
use kube::Resource;
use kube::api::ApiResource;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::snapshot::Snapshot;

/// How often the engine is asked. What is to be written on a claim comes one after the other: its
/// annotations, then how it is.
const ROUNDS: usize = 4;

/// What would become of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Nodes {
    /// All that a claim stands for.
    pub(super) count: usize,
    /// What would be done to some, by claim.
    pub(super) changes: BTreeMap<String, String>,
    /// What would be written that changes no node, counted.
    pub(super) notes: BTreeMap<&'static str, usize>,
}

/// Gives the engine everything, and looks at what it would order. No instance types are offered, so
/// it neither launches nor consolidates: that is not part of taking over.
pub(super) fn judge(snapshot: &Snapshot, now: Time) -> Result<Nodes> {
    let provider = provider_info(&AwsSettings::default());
    let mut settings = Settings { provider, ..Settings::default() };
    settings.scheduler.label_rules = label_rules();
    let mut taking_over = TakingOver::new(settings, now);
    taking_over.list(snapshot)?;
    if !taking_over.engine.world().is_complete() {
        bail!("not everything was listed that decisions need");
    }
    let world = taking_over.engine.world();
    let drifted: BTreeSet<String> = world
        .claims
        .values()
        .filter(|claim| claim.status.conditions.is_true(DRIFTED))
        .map(|claim| claim.meta.name.to_string())
        .collect();
    let mut nodes = Nodes { count: world.claims.values().count(), ..Nodes::default() };
    for _ in 0..ROUNDS {
        let orders = taking_over.engine.decide(now);
        for action in &orders.actions {
            match change(action, &drifted) {
                Some((subject, text)) => drop(nodes.changes.entry(subject).or_insert(text)),
                None => *nodes.notes.entry(action.kind.info().name).or_default() += 1,
            }
            taking_over.pretend(action);
        }
    }
    Ok(nodes)
}

/// What an action does to a node, if it does anything.
fn change(action: &Action, drifted: &BTreeSet<String>) -> Option<(String, String)> {
    let because = |what: &str| format!("{what}: {}", action.reason);
    Some(match &action.kind {
        ActionKind::DeleteClaim { name, .. } => (name.to_string(), because("deleted")),
        ActionKind::DeleteNode { name, .. } => (name.to_string(), because("deleted")),
        ActionKind::Terminate { claim, .. } => (claim.to_string(), because("instance ended")),
        ActionKind::EvictPod { pod, .. } | ActionKind::DeletePod { pod, .. } => {
            (format!("pod {}/{}", pod.namespace, pod.name), because("evicted"))
        }
        ActionKind::PatchNode { name, patch, .. } if !patch.taints_added.is_empty() => {
            (name.to_string(), because("tainted"))
        }
        ActionKind::WriteClaimStatus { name, status, .. }
            if status.conditions.is_true(DRIFTED) && !drifted.contains(&**name) =>
        {
            let why = status.conditions.get(DRIFTED).map(|it| it.reason.clone());
            (name.to_string(), format!("replaced in time: {}", why.unwrap_or_default()))
        }
        _ => return None,
    })
}

/// An engine on its way to know everything.
struct TakingOver {
    observer: Observer,
    engine: Engine,
    now: Time,
}

impl TakingOver {
    fn new(settings: Settings, now: Time) -> Self {
        Self { observer: Observer::new(&settings), engine: Engine::new(settings), now }
    }

    fn list(&mut self, all: &Snapshot) -> Result<()> {
        let class = ApiResource::erase::<EC2NodeClass>(&());
        let of_class = |change| WatchUpdate::NodeClass(class.clone(), change);
        self.kind(all, "namespaces", WatchUpdate::Namespace)?;
        self.kind(all, "storageclasses", WatchUpdate::StorageClass)?;
        self.kind(all, "persistentvolumes", WatchUpdate::Volume)?;
        self.kind(all, "persistentvolumeclaims", WatchUpdate::VolumeClaim)?;
        self.kind(all, "csinodes", WatchUpdate::CsiNode)?;
        self.kind(all, "volumeattachments", WatchUpdate::VolumeAttachment)?;
        self.kind(all, "poddisruptionbudgets", WatchUpdate::PodDisruptionBudget)?;
        self.kind(all, "daemonsets", WatchUpdate::DaemonSet)?;
        self.kind(all, "nodeoverlays", WatchUpdate::Overlay)?;
        self.kind(all, "ec2nodeclasses", of_class)?;
        self.kind(all, "nodepools", WatchUpdate::Pool)?;
        self.kind(all, "nodeclaims", WatchUpdate::Claim)?;
        self.kind(all, "nodes", WatchUpdate::Node)?;
        self.kind(all, "pods", WatchUpdate::Pod)
    }

    fn kind<K: DeserializeOwned + Resource>(
        &mut self,
        all: &Snapshot,
        plural: &str,
        wrap: impl Fn(Change<K>) -> WatchUpdate,
    ) -> Result<()> {
        self.learn(wrap(Change::Relisting));
        for object in all.get(plural).into_iter().flatten() {
            let name = || format!("{plural} {}", object["metadata"]["name"]);
            let read: K = serde_json::from_value::<K>(Value::clone(object)).with_context(name)?;
            self.learn(wrap(Change::Is(Box::new(read))));
        }
        self.learn(wrap(Change::Listed(None)));
        Ok(())
    }

    /// Has what only notes something seem to be written, so that the engine goes on.
    fn pretend(&mut self, action: &Action) {
        let world = self.engine.world();
        let stored = match &action.kind {
            ActionKind::PatchClaim { name, patch, .. } => world.claims.get(name).map(|claim| {
                let mut claim = Claim::clone(claim);
                claim.spec.labels.extend(patch.labels.clone());
                claim.spec.annotations.extend(patch.annotations.clone());
                claim.spec.annotations.retain(|key, _| !patch.annotations_removed.contains(key));
                claim.finalizers = patch.finalizers.clone().unwrap_or(claim.finalizers);
                Object::Claim(claim)
            }),
            ActionKind::WriteClaimStatus { name, status, .. } => {
                let claim = world.claims.get(name);
                claim.map(|claim| {
                    Object::Claim(Claim { status: (**status).clone(), ..Claim::clone(claim) })
                })
            }
            _ => None,
        };
        if let Some(stored) = stored {
            let outcome = Outcome::Stored(Box::new(stored));
            self.engine.handle(Event::Finished { action: action.id, outcome }, self.now);
        }
    }

    fn learn(&mut self, update: WatchUpdate) {
        for event in self.observer.observe(update, self.engine.world()) {
            self.engine.handle(event, self.now);
        }
    }
}
