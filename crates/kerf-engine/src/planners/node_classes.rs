//! Node classes: their finalizer and hash, what they select, and their end.
//!
//! Only kinds that the provider has managed are written to; others are their owner's business.

use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;

use super::template_hash::{AGAIN_AFTER, TemplateHash};
use crate::action::{Action, ActionKind, MetadataPatch};
use crate::condition::{Draft, Status};
use crate::decision::Decision;
use crate::event::{Key, Kind, Outcome};
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::{ResolvedClass, Update};
use crate::observed::{Claim, NodeClass, NodeClassStatus};
use crate::provider::ManagedNodeClass;
use crate::reason::Reason;
use crate::time::{Span, Time};
use crate::world::World;

/// How often the owner of a class that is being deleted is told what it waits for.
const TELL_EVERY: Span = Span::from_minutes(10);
/// How many claims are named to it.
const NAMED_MAX: usize = 5;

/// A class being looked at.
struct Reconcile<'a> {
    world: &'a World,
    class: &'a Arc<NodeClass>,
    managed: &'a ManagedNodeClass,
    /// What the provider said of it as it is now.
    resolved: Option<&'a ResolvedClass>,
    now: Time,
    decision: Decision,
}

/// What a node class needs now.
pub(super) fn plan(world: &World, key: &NodeClassRef, now: Time) -> Decision {
    let kind = world.settings.provider.node_class_kind(&key.group, &key.kind);
    let managed = kind.and_then(|kind| kind.managed.as_ref());
    let (Some(class), Some(managed)) = (world.node_classes.get(key), managed) else {
        return Decision::default();
    };
    let resolved = world.memory.node_classes.get(key);
    let resolved = resolved
        .filter(|known| known.uid == class.meta.uid && known.generation == class.meta.generation);
    let mut reconcile =
        Reconcile { world, class, managed, resolved, now, decision: Decision::default() };
    if class.meta.is_deleting() {
        reconcile.release();
    } else {
        reconcile.keep();
    }
    reconcile.decision
}

/// What to make of a finished action about a node class.
pub(super) fn conclude(action: &Action, outcome: &Outcome, now: Time) -> Decision {
    let mut decision = Decision::default();
    let (class, found) = match (&action.kind, outcome) {
        (ActionKind::ResolveNodeClass(class), Outcome::Resolved(found)) => {
            (class, Some((**found).clone()))
        }
        (ActionKind::ReleaseNodeClass(class), Outcome::Done | Outcome::NotFound) => (class, None),
        _ => return decision,
    };
    let (uid, generation) = (class.meta.uid.clone(), class.meta.generation);
    let resolved = Box::new(ResolvedClass { uid, generation, at: now, found });
    decision.remember(Update::NodeClassResolved { class: class.key.clone(), resolved });
    decision
}

/// What to remember when a node class is about to be gone.
pub(super) fn on_delete(key: &Key) -> Decision {
    let mut decision = Decision::default();
    if let Key::NodeClass(class) = key {
        decision.remember(Update::ForgetNodeClass(class.clone()));
    }
    decision
}

impl Reconcile<'_> {
    /// The finalizer and the hash come first: what is made for a class must be removable.
    fn keep(&mut self) {
        let patch = self.metadata();
        if patch != MetadataPatch::default() {
            return self.patch(patch);
        }
        let look_again_at = match self.resolved {
            Some(ResolvedClass { at, found: Some(found), .. }) => {
                let usual = self.managed.resolve_every;
                *at + found.again_after.map_or(usual, |sooner| sooner.min(usual))
            }
            _ => self.now,
        };
        if look_again_at <= self.now {
            let kind = ActionKind::ResolveNodeClass(self.class.clone());
            self.decision.act(kind, Reason::NodeClassUnresolved);
        } else {
            self.decision.wake(look_again_at);
        }
        self.write_status();
    }

    fn metadata(&mut self) -> MetadataPatch {
        let mut patch = MetadataPatch::default();
        if !self.class.finalizers.contains(&self.managed.finalizer) {
            let finalizers = self.class.finalizers.iter();
            let finalizers = finalizers.chain([&self.managed.finalizer]).cloned();
            patch.finalizers = Some(finalizers.collect());
        }
        if let Some(hash) = &self.class.hash {
            let hash = TemplateHash {
                key: &self.managed.hash_annotation,
                hash,
                version_key: &self.managed.hash_version_annotation,
                version: &self.managed.hash_version,
            };
            let annotations = &self.class.annotations;
            if !hash.is_version_in(annotations) {
                let claims = claims_of(self.world, &self.class.key);
                if hash.migrate(self.world, claims, &mut self.decision) {
                    self.decision.wake(self.now + AGAIN_AFTER);
                    return patch;
                }
            }
            if !hash.is_in(annotations) {
                patch.annotations = hash.annotations();
            }
        }
        patch
    }

    /// A part the provider said nothing about stays as it was.
    fn write_status(&mut self) {
        let found = self.resolved.and_then(|resolved| resolved.found.as_ref());
        let Some(found) = found else { return };
        let (class, stored) = (self.class, &self.class.status);
        let dependents: Vec<&str> = self.managed.conditions.iter().map(String::as_str).collect();
        let mut conditions = Draft::of(&stored.conditions, &dependents, &class.meta, self.now);
        for condition in &found.conditions {
            let (kind, reason, message) = (&condition.kind, &condition.reason, &condition.message);
            match condition.status {
                Status::True if reason.is_empty() => conditions.set_true(kind),
                Status::True => conditions.set_true_because(kind, reason, message),
                Status::False => conditions.set_false(kind, reason, message),
                Status::Unknown => conditions.set_unknown(kind, reason, message),
            };
        }
        let conditions = conditions.into_conditions();
        let status = NodeClassStatus { conditions, resolved: found.status.clone() };
        if status != *stored {
            let (class, revision) = (class.key.clone(), class.meta.revision);
            let status = Box::new(status);
            let kind = ActionKind::WriteNodeClassStatus { class, revision, status };
            self.decision.act(kind, Reason::NodeClassStatusOutdated);
        }
    }

    /// Claims hold their class; then the provider removes what it made for it, and it may go.
    fn release(&mut self) {
        if !self.class.finalizers.contains(&self.managed.finalizer) {
            return;
        }
        let claims: Vec<&str> =
            claims_of(self.world, &self.class.key).map(|claim| &*claim.meta.name).collect();
        if !claims.is_empty() {
            let text = format!("Waiting on NodeClaim termination for {}", some_of(&claims));
            let about = Key::NodeClass(self.class.key.clone());
            let reason = "WaitingOnNodeClaimTermination";
            self.decision.record(KubernetesEvent::normal(about, reason, text));
            return self.decision.wake(self.now + TELL_EVERY);
        }
        // A claim stored unheard uses what would be removed.
        if !self.world.is_fresh(&[Kind::Claim], self.now) {
            return;
        }
        if self.resolved.is_some_and(|resolved| resolved.found.is_none()) {
            let finalizers = self.class.finalizers.iter();
            let rest = finalizers.filter(|finalizer| **finalizer != self.managed.finalizer);
            let finalizers = Some(rest.cloned().collect());
            return self.patch(MetadataPatch { finalizers, ..MetadataPatch::default() });
        }
        let kind = ActionKind::ReleaseNodeClass(self.class.clone());
        self.decision.act(kind, Reason::NodeClassUnused);
    }

    fn patch(&mut self, patch: MetadataPatch) {
        let (class, revision) = (self.class.key.clone(), self.class.meta.revision);
        let kind = ActionKind::PatchNodeClass { class, revision, patch };
        self.decision.act(kind, Reason::NodeClassMetadataOutdated);
    }
}

/// The first few names, and how many more there are.
fn some_of(names: &[&str]) -> String {
    let named = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} other(s)"),
    }
}

fn claims_of<'w>(world: &'w World, key: &NodeClassRef) -> impl Iterator<Item = &'w Claim> {
    let claims = world.claims.values().map(Arc::as_ref);
    claims.filter(move |claim| claim.spec.node.node_class == *key)
}
