//! Pods: what they need and where they may stand.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::host_port::HostPort;
use crate::requirement::RequirementEntry;
use crate::requirements::PodPlacement;
use crate::resources::ResourceList;
use crate::selector::{LabelSelector, TermNamespaces};
use crate::taint::Toleration;

/// One pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pod {
    /// The name, unique in the namespace.
    pub name: String,
    /// The identity given by the API server.
    pub uid: String,
    /// When it was created, in Unix seconds.
    pub created_at: i64,
    /// Everything that decides where it may stand. Replicas share one.
    pub shape: Arc<PodShape>,
}

/// Everything about a pod that decides where it may stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodShape {
    /// The namespace.
    pub namespace: String,
    /// The labels, by which other pods' rules find it.
    pub labels: BTreeMap<String, String>,
    /// What it takes on a node: its effective requests and one of `pods`.
    pub requests: ResourceList,
    /// Its node selector and node affinity.
    pub placement: PodPlacement,
    /// The taints it tolerates.
    pub tolerations: Vec<Toleration>,
    /// How it and its like spread over domains.
    pub spreads: Vec<SpreadConstraint>,
    /// Pods it must or would like to be near.
    pub affinity: PodAffinity,
    /// Pods it must not or would rather not be near.
    pub anti_affinity: PodAffinity,
    /// Ports it takes on the node itself.
    pub host_ports: Vec<HostPort>,
    /// Its volumes that are claimed from storage.
    pub volumes: Vec<PodVolume>,
    /// Whether it asks for devices through resource claims.
    pub has_resource_claims: bool,
}

/// How pods that match a selector spread over the domains of a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SpreadConstraint {
    /// The label whose values are the domains.
    pub topology_key: String,
    /// How many more pods a domain may have than the emptiest.
    pub max_skew: u32,
    /// Whether it must hold, or is a preference.
    pub required: bool,
    /// How many domains there must be before the emptiest counts; fewer count as empty.
    pub min_domains: Option<u32>,
    /// Which pods count, in the pod's own namespace; none matches nothing.
    pub selector: Option<LabelSelector>,
    /// Keys whose values on the pod itself are added to the selector.
    pub match_label_keys: Vec<String>,
    /// Whether only nodes count that the pod's node selector and affinity allow.
    pub honours_affinity: bool,
    /// Whether only nodes count whose taints the pod tolerates.
    pub honours_taints: bool,
}

/// Rules about nearness to other pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PodAffinity {
    /// Terms that must hold.
    pub required: Vec<PodAffinityTerm>,
    /// Preferred terms, with their weights.
    pub preferred: Vec<(i32, PodAffinityTerm)>,
}

/// The pods a rule speaks of, and how near is near.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PodAffinityTerm {
    /// The label that nodes near each other share.
    pub topology_key: String,
    /// Which pods; none matches nothing.
    pub selector: Option<LabelSelector>,
    /// In which namespaces.
    pub namespaces: TermNamespaces,
}

/// A volume claimed from storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodVolume {
    /// The claim, as `namespace/name`; a claim used twice is attached once.
    pub claim: String,
    /// The driver that attaches it, if it is known.
    pub driver: Option<String>,
    /// Where it can be reached: one of these must hold. Empty means anywhere.
    pub reachable_from: Vec<Vec<RequirementEntry>>,
}
