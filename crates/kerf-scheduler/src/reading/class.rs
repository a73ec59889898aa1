//! Pods that are alike, and the ways they may be placed from the most preferred to the least.

use std::sync::Arc;

use kerf_model::bitset::BitSet;
use kerf_model::pod::{PodAffinityTerm, PodShape};
use kerf_model::requirement::RequirementEntry;
use kerf_model::requirements::{NodeAffinity, Requirements};
use kerf_model::selector::LabelSet;
use kerf_model::taint::{TaintEffect, TaintSet, TaintVocabulary, Toleration};

use crate::problem::PreferencePolicy;
use crate::reading::group::{Context, GroupId, Groups, TermKind};
use crate::reading::placement::selector_of;
use crate::units::{Amounts, Units};

/// Most ways to combine the places from which several volumes can be reached.
const VOLUME_COMBINATIONS_MAX: usize = 64;

/// Pods with one shape.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) shape: Arc<PodShape>,
    pub(crate) requests: Amounts,
    labels: LabelSet,
    /// The groups these pods count in.
    pub(crate) matched: BitSet,
    /// Those of them whose domain is the node …
    pub(crate) matched_hosts: Vec<GroupId>,
    /// … and which keep matching pods away.
    pub(crate) kept_away_by: Vec<GroupId>,
    /// The ways to place them, tried in order.
    pub(crate) variants: Vec<Variant>,
}

/// One way to place the pods of a class.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    /// What the node must satisfy.
    pub(crate) node: Requirements,
    /// The same without preferences and volumes: what decides which domains count.
    pub(crate) strict: Requirements,
    /// The rules about other pods that are held to.
    pub(crate) groups: Vec<GroupId>,
    pub(crate) tolerated: TaintSet,
}

/// What reading a class needs besides the pods.
pub(crate) struct ClassReader<'a, 'c> {
    pub(crate) context: Context<'c>,
    pub(crate) groups: &'a mut Groups,
    pub(crate) units: &'a mut Units,
    pub(crate) taints: &'a TaintVocabulary,
    pub(crate) policy: PreferencePolicy,
    /// Whether some pool has a taint that pods should rather avoid.
    pub(crate) soft_taints: bool,
}

/// A pod's preferences, given up one by one.
#[derive(Clone)]
struct Preferences {
    terms: Vec<Vec<RequirementEntry>>,
    node_affinity: NodeAffinity,
    pod_affinity: Vec<(i32, PodAffinityTerm)>,
    pod_anti_affinity: Vec<(i32, PodAffinityTerm)>,
    soft_spreads: usize,
    avoids_soft_taints: bool,
}

impl ClassReader<'_, '_> {
    /// Reads a class; the groups it counts in are known only when all classes are read.
    pub(crate) fn read(&mut self, shape: Arc<PodShape>) -> Class {
        let requests = self.units.asked(&shape.requests);
        let labels = self.labels(&shape);
        let variants = self.variants(&shape);
        Class {
            shape,
            requests,
            labels,
            matched: BitSet::new(),
            matched_hosts: Vec::new(),
            kept_away_by: Vec::new(),
            variants,
        }
    }

    /// The labels of pods of a shape.
    pub(crate) fn labels(&mut self, shape: &PodShape) -> LabelSet {
        let labels = shape.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        LabelSet::intern(labels, self.context.pod_labels)
    }

    /// Every way to place a pod, most preferred first; none when its rules make no sense.
    fn variants(&mut self, shape: &PodShape) -> Vec<Variant> {
        let mut preferences = self.preferences(shape);
        let mut variants = Vec::new();
        loop {
            self.add_variants(shape, &preferences, &mut variants);
            if !preferences.relax_one() {
                return variants;
            }
        }
    }

    fn preferences(&self, shape: &PodShape) -> Preferences {
        let respect = self.policy == PreferencePolicy::Respect;
        let affinity = &shape.placement.node_affinity;
        Preferences {
            terms: affinity.required.clone(),
            node_affinity: NodeAffinity {
                preferred: if respect { affinity.preferred.clone() } else { Vec::new() },
                ..affinity.clone()
            },
            pod_affinity: if respect { shape.affinity.preferred.clone() } else { Vec::new() },
            pod_anti_affinity: if respect {
                shape.anti_affinity.preferred.clone()
            } else {
                Vec::new()
            },
            soft_spreads: if respect {
                shape.spreads.iter().filter(|spread| !spread.required).count()
            } else {
                0
            },
            avoids_soft_taints: self.soft_taints,
        }
    }

    fn add_variants(
        &mut self,
        shape: &PodShape,
        preferences: &Preferences,
        variants: &mut Vec<Variant>,
    ) {
        let Some(strict) = self.strict(shape, preferences) else { return };
        let Some(node) = self.with_heaviest_preference(&strict, preferences) else { return };
        let groups = self.groups_of(shape, preferences);
        let tolerated = self.tolerated(shape, !preferences.avoids_soft_taints);
        for reachable in self.volume_alternatives(shape) {
            if !node.intersects(&reachable, self.context.vocabulary) {
                continue;
            }
            let mut node = node.clone();
            node.narrow(&reachable, self.context.vocabulary);
            variants.push(Variant {
                node,
                strict: strict.clone(),
                groups: groups.clone(),
                tolerated: tolerated.clone(),
            });
        }
    }

    /// The node selector and the first required term; nothing if they contradict each other.
    fn strict(&mut self, shape: &PodShape, preferences: &Preferences) -> Option<Requirements> {
        let selector = selector_of(shape);
        let mut strict = Requirements::new();
        self.context.narrow(&mut strict, &selector)?;
        if let Some(term) = preferences.terms.first() {
            self.context.narrow(&mut strict, term)?;
        }
        Some(strict)
    }

    /// The same with the heaviest preferred term; nothing if that contradicts what must hold.
    fn with_heaviest_preference(
        &mut self,
        strict: &Requirements,
        preferences: &Preferences,
    ) -> Option<Requirements> {
        let mut node = strict.clone();
        if let Some(term) = preferences.node_affinity.heaviest() {
            self.context.narrow(&mut node, &term.expressions)?;
        }
        Some(node)
    }

    fn groups_of(&mut self, shape: &PodShape, preferences: &Preferences) -> Vec<GroupId> {
        let mut groups = Vec::new();
        let mut soft_left = preferences.soft_spreads;
        for spread in &shape.spreads {
            if !spread.required {
                if soft_left == 0 {
                    continue;
                }
                soft_left -= 1;
            }
            groups.push(self.groups.of_spread(shape, spread, &mut self.context));
        }
        let near = shape
            .affinity
            .required
            .iter()
            .chain(preferences.pod_affinity.iter().map(|(_, term)| term));
        let near = near.map(|term| (term, TermKind::Affinity));
        let apart = shape.anti_affinity.required.iter().map(|term| (term, TermKind::AntiAffinity));
        let rather = preferences
            .pod_anti_affinity
            .iter()
            .map(|(_, term)| (term, TermKind::PreferredAntiAffinity));
        for (term, kind) in near.chain(apart).chain(rather) {
            groups.push(self.groups.of_term(shape, term, kind, &mut self.context));
        }
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    fn tolerated(&self, shape: &PodShape, soft_too: bool) -> TaintSet {
        let mut tolerations = shape.tolerations.clone();
        if soft_too {
            tolerations.push(Toleration::of_effect(TaintEffect::PreferNoSchedule));
        }
        self.taints.tolerated_by(&tolerations)
    }

    /// The ways all volumes can be reached at once. Several volumes combine; combinations that
    /// contradict each other are dropped unless all do.
    fn volume_alternatives(&mut self, shape: &PodShape) -> Vec<Requirements> {
        let mut combined = vec![Requirements::new()];
        for volume in shape.volumes.iter().filter(|volume| !volume.reachable_from.is_empty()) {
            let mut next = Vec::new();
            for term in &volume.reachable_from {
                for base in &combined {
                    let mut both = base.clone();
                    if self.context.narrow(&mut both, term).is_some() {
                        next.push(both);
                    }
                }
            }
            next.truncate(VOLUME_COMBINATIONS_MAX);
            combined = next;
        }
        combined
    }
}

impl Preferences {
    /// Gives up the next preference in the order of the public behaviour; false when none is left.
    fn relax_one(&mut self) -> bool {
        if self.terms.len() > 1 {
            self.terms.remove(0);
        } else if !drop_heaviest(&mut self.pod_affinity)
            && !drop_heaviest(&mut self.pod_anti_affinity)
        {
            if let Some(heaviest) = self.node_affinity.heaviest().cloned() {
                let position =
                    self.node_affinity.preferred.iter().position(|term| *term == heaviest);
                self.node_affinity.preferred.remove(position.expect("it was just found there"));
            } else if self.soft_spreads > 0 {
                self.soft_spreads -= 1;
            } else if self.avoids_soft_taints {
                self.avoids_soft_taints = false;
            } else {
                return false;
            }
        }
        true
    }
}

/// Drops the first of the heaviest terms.
fn drop_heaviest(terms: &mut Vec<(i32, PodAffinityTerm)>) -> bool {
    let heaviest = terms.iter().map(|(weight, _)| *weight).max();
    let position =
        heaviest.and_then(|heaviest| terms.iter().position(|(weight, _)| *weight == heaviest));
    position.map(|position| terms.remove(position)).is_some()
}

impl Class {
    /// Finds the groups these pods count in.
    pub(crate) fn match_groups(&mut self, groups: &Groups) {
        self.matched = groups.matching(&self.shape.namespace, &self.labels);
        let matched = self.matched.iter().map(|group| group as GroupId);
        self.matched_hosts = matched.filter(|id| groups.get(*id).is_hostname()).collect();
        let hosts = self.matched_hosts.iter().copied();
        self.kept_away_by = hosts.filter(|id| groups.get(*id).binds_others).collect();
    }

    /// The groups these pods count in or whose rule they hold to.
    pub(crate) fn concerned<'a>(
        &'a self,
        variant: &'a Variant,
    ) -> impl Iterator<Item = GroupId> + 'a {
        let held = variant.groups.iter().copied().filter(|group| !self.counts_in(*group));
        self.matched.iter().map(|group| group as GroupId).chain(held)
    }

    /// Whether these pods count in a group.
    pub(crate) fn counts_in(&self, group: GroupId) -> bool {
        u32::try_from(group).is_ok_and(|group| self.matched.contains(group))
    }
}
