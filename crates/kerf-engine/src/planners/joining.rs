//! Nodes that join: what a node gets from its claim when it registers, and when it is initialized.
//!
//! The claim's planner writes the same steps into the claim's conditions; both go by
//! [`has_joined`] and [`lack`].

use kerf_model::labels::node_class_key;
use kerf_model::labels::well_known::{
    CAPACITY_TYPE, DO_NOT_SYNC_TAINTS, INITIALIZED as INITIALIZED_LABEL, ON_DEMAND,
    REGISTERED as REGISTERED_LABEL, RESERVED, TERMINATION_FINALIZER,
};
use kerf_model::taint::{
    Taint, UNREGISTERED_KEY, is_known_ephemeral, merge_taints, rebooting, unregistered,
};

use super::claims;
use super::reboot::{self, Phase, Reboot};
use crate::action::{ActionKind, FinalizerChange, NodePatch};
use crate::command::record::REPLACEMENT_FOR;
use crate::condition::claim::{LAUNCHED, REGISTERED};
use crate::decision::Decision;
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::{Claim, Name, Node};
use crate::provider::RegistrationHook;
use crate::reason::Reason;
use crate::world::World;

/// What a node lacks to be ready for pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    Nothing,
    Something {
        /// The reason in the claim's condition.
        reason: &'static str,
        /// The message there.
        message: String,
    },
}

/// What a node that stays needs.
pub(super) fn plan(world: &World, name: &Name) -> Decision {
    let mut decision = Decision::default();
    let node = world.nodes.get(name).filter(|node| !node.meta.is_deleting());
    let Some(node) = node else { return decision };
    let Some(claim) = world.claim_of(node) else { return decision };
    let is_alone = world.node_of(claim).is_some();
    if !is_alone || claim.meta.is_deleting() || !world.is_supported(&claim.spec.node.node_class) {
        return decision;
    }
    let mut patch = NodePatch::default();
    let mut reason = Reason::NodeClassLabelMissing;
    let conditions = &claim.status.conditions;
    if conditions.is_true(REGISTERED) {
        let is_new = node.labels.get(INITIALIZED_LABEL).is_none_or(|value| value != "true");
        let is_rebooting = note_reboot(node, claim, &mut patch, &mut reason);
        if is_new && !is_rebooting && lack(claim, Some(node)) == Lack::Nothing {
            set_label(&mut patch, INITIALIZED_LABEL);
            reason = Reason::NodeInitialized;
        }
    } else if conditions.is_true(LAUNCHED)
        && !has_joined(node, claim)
        && pending_hooks(world, claim).is_empty()
    {
        reason = Reason::NodeJoined;
        patch = joining_patch(node, claim);
        // Nodes that were ready before they joined are ready for pods with the same write.
        if lack(claim, Some(&joined(node, &patch))) == Lack::Nothing {
            set_label(&mut patch, INITIALIZED_LABEL);
        }
        decision.kubernetes_events.extend(missing_taint(node, claim));
    }
    leave_reservation(world, &mut patch, &mut reason, node, claim);
    hydrate(&mut patch, node, claim);
    if patch != NodePatch::default() {
        let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
        decision.act(ActionKind::PatchNode { name, uid, patch }, reason);
    }
    decision
}

/// Takes off a node what it must not carry while it reboots, and what it carried for that once it
/// has. Returns whether it reboots.
fn note_reboot(node: &Node, claim: &Claim, patch: &mut NodePatch, reason: &mut Reason) -> bool {
    let own = Reboot::of(claim);
    let is_over = reboot::is_over(claim) || own.is_some_and(|own| own.has_booted(node));
    let is_issued = own.is_some_and(|own| own.phase == Phase::Issued);
    if is_issued && node.labels.contains_key(INITIALIZED_LABEL) {
        patch.labels_removed.insert(INITIALIZED_LABEL.to_owned());
        *reason = Reason::Rebooting;
    }
    if is_over && (own.is_none() || is_issued) && reboot::is_tainted(node) {
        patch.taints_removed.push(rebooting());
        *reason = Reason::Rebooting;
    }
    own.is_some()
}

/// What the provider must know before the node of a claim is registered.
pub(super) fn pending_hooks<'w>(world: &'w World, claim: &Claim) -> Vec<&'w RegistrationHook> {
    let hooks = world.settings.provider.registration_hooks.iter();
    hooks.filter(|hook| claim.label(&hook.label) == Some("")).collect()
}

/// Whether a node carries everything it gets when it joins. It is all stored at once, so the marks
/// of that write are enough; taints that were removed since stay removed.
pub(super) fn has_joined(node: &Node, claim: &Claim) -> bool {
    node.labels.get(REGISTERED_LABEL).is_some_and(|value| value == "true")
        && node.finalizers.iter().any(|finalizer| finalizer == TERMINATION_FINALIZER)
        && node.owner_claim.as_ref() == Some(&claim.meta.uid)
        && !node.taints.iter().any(|taint| taint.key == UNREGISTERED_KEY)
}

/// The first thing a node lacks.
pub(super) fn lack(claim: &Claim, node: Option<&Node>) -> Lack {
    let missing = |reason, message| Lack::Something { reason, message };
    let Some(node) = node else {
        return missing("NodeNotFound", "the claim's node is not there".to_owned());
    };
    if !node.is_ready {
        return missing("NodeNotReady", "the node does not say it is ready".to_owned());
    }
    let startup = &claim.spec.node.startup_taints;
    let is_startup = |taint: &&_| startup.iter().any(|own| own.same_mark(taint));
    if let Some(taint) = node.taints.iter().find(is_startup) {
        return missing("StartupTaintsExist", format!("the startup taint {taint} is still there"));
    }
    if let Some(taint) = node.taints.iter().find(|taint| is_known_ephemeral(taint)) {
        let message = format!("the taint {taint}, which should go by itself, is still there");
        return missing("KnownEphemeralTaintsExist", message);
    }
    let requested = claim.spec.requests.iter().filter(|(_, quantity)| !quantity.is_zero());
    for (resource, _) in requested {
        if node.allocatable.quantity(resource).is_zero() {
            let message = format!("the node does not offer the resource {resource} yet");
            return missing("ResourceNotRegistered", message);
        }
    }
    Lack::Nothing
}

fn joining_patch(node: &Node, claim: &Claim) -> NodePatch {
    let mut patch = NodePatch::default();
    for (key, value) in &claim.spec.labels {
        if node.labels.get(key) != Some(value) {
            patch.labels.insert(key.clone(), value.clone());
        }
    }
    // Which command a claim serves is no business of its node.
    let annotations = claim.spec.annotations.iter().filter(|(key, _)| *key != REPLACEMENT_FOR);
    for (key, value) in annotations {
        if node.annotations.get(key) != Some(value) {
            patch.annotations.insert(key.clone(), value.clone());
        }
    }
    set_label(&mut patch, REGISTERED_LABEL);
    patch.finalizer = FinalizerChange::Add;
    patch.owner = Some((claim.meta.name.clone(), claim.meta.uid.clone()));
    patch.taints_removed.push(unregistered());
    patch.taints_added = missing_taints(node, claim);
    patch
}

/// The node with the taints it has once the patch is stored.
fn joined(node: &Node, patch: &NodePatch) -> Node {
    Node { taints: patch.taints(node.taints.clone()), ..node.clone() }
}

/// The taints the claim asks for that the node has not, where it does not keep its own.
fn missing_taints(node: &Node, claim: &Claim) -> Vec<Taint> {
    let keeps_own = node.labels.get(DO_NOT_SYNC_TAINTS).is_some_and(|value| value == "true");
    let mut taints = node.taints.clone();
    if !keeps_own {
        merge_taints(&mut taints, &claim.spec.node.taints);
        merge_taints(&mut taints, &claim.spec.node.startup_taints);
    }
    taints.split_off(node.taints.len())
}

fn missing_taint(node: &Node, claim: &Claim) -> Option<KubernetesEvent> {
    let is_there = node.taints.iter().any(|taint| taint.same_mark(&unregistered()));
    let message = format!(
        "node {} joined without the taint {}, so pods may have come before its labels and taints; \
         add the taint where the node boots",
        node.meta.name,
        unregistered()
    );
    let about = Key::Claim(claim.meta.name.clone());
    (!is_there).then(|| KubernetesEvent::warning(about, "UnregisteredTaintMissing", message))
}

/// A node says what its claim says about how it is paid for.
fn leave_reservation(
    world: &World,
    patch: &mut NodePatch,
    reason: &mut Reason,
    node: &Node,
    claim: &Claim,
) {
    let Some(labels) = &world.settings.provider.reservation_labels else { return };
    let of_node = node.labels.get(CAPACITY_TYPE).map(String::as_str);
    if of_node == Some(RESERVED) && claim.label(CAPACITY_TYPE) == Some(ON_DEMAND) {
        claims::take_off(labels, &node.labels, &mut patch.labels, &mut patch.labels_removed);
        *reason = Reason::ReservationLeft;
    }
}

fn hydrate(patch: &mut NodePatch, node: &Node, claim: &Claim) {
    let class = &claim.spec.node.node_class;
    let key = node_class_key(&class.group, &class.kind);
    if !node.labels.contains_key(&key) {
        patch.labels.insert(key, class.name.clone());
    }
}

fn set_label(patch: &mut NodePatch, key: &str) {
    patch.labels.insert(key.to_owned(), "true".to_owned());
}
