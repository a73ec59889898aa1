//! What the engine must know of a provider: plain data, handed over once at the start.
//!
//! A provider does the rest by carrying out actions: [`Launch`](crate::action::Launch) and
//! terminate, list and tag instances, resolve node classes. Node classes are objects of the world,
//! instance types and offerings come as events.

mod repair;

pub(crate) use repair::PolicyMatch;
pub use repair::{InvalidRepairPolicies, RepairAction, RepairPolicies, RepairPolicy};

use std::collections::BTreeSet;

use kerf_model::duration::GoDuration;
use kerf_model::requirement::{Operator, RequirementEntry};
use serde::{Deserialize, Serialize};

use crate::event::Instance;
use crate::time::Span;

/// A provider, as the engine knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderInfo {
    /// The name, as metrics carry it.
    pub name: String,
    /// The kinds of node classes it understands; the first is the default. Objects that name
    /// others are not Kerf's.
    pub node_classes: Vec<NodeClassKind>,
    /// The drain limit of claims whose pool sets none, where the provider wants one.
    pub termination_grace_default: Option<GoDuration>,
    /// When a node counts as unhealthy.
    pub repair_policies: RepairPolicies,
    /// What a node must wait for before it is registered.
    pub registration_hooks: Vec<RegistrationHook>,
    /// How instances are tagged once their nodes are known, if they are.
    pub tagging: Option<Tagging>,
    /// The labels of nodes in capacity that was reserved beforehand, if it has such.
    #[serde(default)]
    pub reservation_labels: Option<ReservationLabels>,
    /// The error of a cloud whose account has no role for spot instances and may not make it.
    #[serde(default)]
    pub spot_role_error: Option<String>,
}

/// The labels of nodes in reserved capacity, beside their capacity type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservationLabels {
    /// Names the reservation.
    pub id: String,
    /// Say more about it.
    pub more: Vec<String>,
}

/// A kind of node class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeClassKind {
    /// The API group.
    pub group: String,
    /// The version that is read.
    pub version: String,
    /// The kind, as manifests name it.
    pub kind: String,
    /// The plural, as paths and rights name it.
    pub plural: String,
    /// What Kerf keeps on objects of this kind; nothing where they are only read.
    pub managed: Option<ManagedNodeClass>,
}

/// What Kerf keeps on node classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagedNodeClass {
    /// Holds a class that is being deleted until no claim uses it.
    pub finalizer: String,
    /// The annotation with the hash of the spec, on classes and claims.
    pub hash_annotation: String,
    /// The annotation with the version of the hash function.
    pub hash_version_annotation: String,
    /// The version in use.
    pub hash_version: String,
    /// The conditions that make a class ready together.
    pub conditions: Vec<String>,
    /// How often what a class selects is looked up anew.
    pub resolve_every: Span,
}

/// Something a provider must know before a node is registered: a label of the claim that it has
/// set to nothing, and fills in when it knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationHook {
    /// As the claim's condition names it.
    pub name: String,
    /// The label.
    pub label: String,
}

/// How instances are tagged once their nodes are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tagging {
    /// Set on a claim whose instance is tagged.
    pub annotations: Vec<String>,
    /// The tag with the name of the node.
    pub node_tag: String,
    /// The tag with the name of the claim.
    pub claim_tag: String,
}

/// What instances of a node class may be made of, in one respect: images, subnets, security groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftRule {
    /// Why an instance has drifted that is made of something else, as its claim's condition says.
    pub reason: String,
    /// What the class selects.
    pub allowed: Allowed,
}

/// What a node class selects, in one respect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Allowed {
    /// An instance has some of these, and nothing else.
    SomeOf(BTreeSet<String>),
    /// An instance has all of these, and nothing else.
    AllOf(BTreeSet<String>),
    /// An instance has what the first choice says that its labels fit, such as the image of its
    /// instance type. One that no choice fits may have anything: nobody knows what it should have.
    FirstFit(Vec<Choice>),
}

/// What instances with certain labels are made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What their labels are.
    pub requirements: Vec<RequirementEntry>,
    /// What they are made of.
    pub value: String,
}

impl DriftRule {
    /// Whether an instance is no longer what its class asks for. One of which it is not known what
    /// it was made of has not drifted.
    #[must_use]
    pub fn is_broken_by(&self, instance: &Instance) -> bool {
        instance.made_of.get(&self.reason).is_some_and(|made_of| match &self.allowed {
            Allowed::SomeOf(allowed) => !made_of.is_subset(allowed),
            Allowed::AllOf(allowed) => made_of != allowed,
            Allowed::FirstFit(choices) => choices
                .iter()
                .find(|choice| choice.fits(instance))
                .is_some_and(|choice| !made_of.iter().eq([&choice.value])),
        })
    }
}

impl Choice {
    /// Whether an instance's labels are what the choice is for.
    fn fits(&self, instance: &Instance) -> bool {
        self.requirements.iter().all(|entry| match instance.labels.get(&entry.key) {
            Some(label) => entry.admits(label),
            None => matches!(entry.operator, Operator::NotIn | Operator::DoesNotExist),
        })
    }
}

impl ReservationLabels {
    /// All of them.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        [&self.id].into_iter().chain(&self.more)
    }
}

impl ProviderInfo {
    /// A provider of which nothing but its node classes is known.
    #[must_use]
    pub fn with_node_classes(kinds: impl IntoIterator<Item = NodeClassKind>) -> Self {
        Self { node_classes: kinds.into_iter().collect(), ..Self::default() }
    }

    /// The kind of node class with that name.
    #[must_use]
    pub fn node_class_kind(&self, group: &str, kind: &str) -> Option<&NodeClassKind> {
        self.node_classes.iter().find(|it| it.group == group && it.kind == kind)
    }
}

impl NodeClassKind {
    /// A kind that is known by its name only: nobody watches it.
    #[must_use]
    pub fn named(group: &str, kind: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: String::new(),
            kind: kind.to_owned(),
            plural: String::new(),
            managed: None,
        }
    }
}
