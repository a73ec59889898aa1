//! Drift from a node class: another spec, or an instance made of something else than it selects.

use super::Verdict;
use crate::event::Instance;
use crate::observed::{Claim, NodeClass};
use crate::planners::template_hash::TemplateHash;
use crate::provider::ManagedNodeClass;
use crate::world::World;

const NODE_CLASS_DRIFT: &str = "NodeClassDrift";

/// Whether a claim's instance is what its node class asks for.
pub(super) fn judge<'a>(world: &'a World, claim: &'a Claim) -> Verdict<'a> {
    let key = &claim.spec.node.node_class;
    let kind = world.settings.provider.node_class_kind(&key.group, &key.kind);
    let Some(managed) = kind.and_then(|kind| kind.managed.as_ref()) else {
        return Verdict::Current;
    };
    let Some(class) = world.node_classes.get(key) else { return Verdict::Unknown };
    if class.meta.is_deleting() {
        return Verdict::Current;
    }
    if has_other_spec(class, managed, claim) {
        return Verdict::Drifted(NODE_CLASS_DRIFT);
    }
    let resolved = world.memory.node_classes.get(key);
    let resolved = resolved
        .filter(|known| known.uid == class.meta.uid && known.generation == class.meta.generation);
    let found = resolved.and_then(|resolved| resolved.found.as_ref());
    let (Some(found), Some(instance)) = (found, instance_of(world, claim)) else {
        return Verdict::Unknown;
    };
    match found.drift_rules.iter().find(|rule| rule.is_broken_by(instance)) {
        Some(rule) => Verdict::Drifted(&rule.reason),
        None => Verdict::Current,
    }
}

/// Whether a claim was made with another spec of its class. While claims are moved to another
/// version of the hash function, none is compared.
fn has_other_spec(class: &NodeClass, managed: &ManagedNodeClass, claim: &Claim) -> bool {
    let Some(hash) = &class.hash else { return false };
    let hash = TemplateHash {
        key: &managed.hash_annotation,
        hash,
        version_key: &managed.hash_version_annotation,
        version: &managed.hash_version,
    };
    hash.is_version_in(&class.annotations) && hash.differs_in(claim.annotations())
}

/// The claim's instance as the cloud last described it.
fn instance_of<'a>(world: &'a World, claim: &Claim) -> Option<&'a Instance> {
    let id = claim.status.provider_id.as_ref()?;
    let listed = world.memory.instances.as_ref().and_then(|list| list.instances.get(id));
    listed.or_else(|| world.memory.launched.get(&claim.meta.uid)).map(AsRef::as_ref)
}
