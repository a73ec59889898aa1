//! How many pods of each group stand in each domain, and where the next may go.
//!
//! The rules speak of the final state: a fleet is legal when its pods can be placed one by one in
//! some order with every rule kept. For a spread that means: where a pod that has the rule and
//! matches it stands, the domain's pods before the batch and those like it may exceed the emptiest
//! domain by at most the skew.

use std::sync::Arc;

use kerf_model::intern::DenseId;
use kerf_model::vocabulary::{KeyId, ValueId, ValueSet, Vocabulary};

use crate::reading::class::{Class, Variant};
use crate::reading::group::{Group, GroupId, Groups, Rule};
use crate::reading::universe::Universe;

/// Counts of every group by domain.
#[derive(Clone, Debug, Default)]
pub(crate) struct DomainCounts {
    /// Shared with other what-ifs until this one changes them.
    groups: Vec<Arc<Counts>>,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    /// For spreads: the domains whose minimum counts.
    universe: Universe,
    existing: Vec<i64>,
    own: Vec<i64>,
    matching: Vec<i64>,
    carriers: Vec<i64>,
}

impl DomainCounts {
    /// Nobody stands anywhere in the universe of each group.
    pub(crate) fn new(universes: impl Iterator<Item = Universe>) -> Self {
        let counts = universes.map(|universe| Arc::new(Counts { universe, ..Counts::default() }));
        Self { groups: counts.collect() }
    }

    /// Notes so many pods that stood in a domain before; fewer than none when they leave it.
    pub(crate) fn note_existing(
        &mut self,
        group: GroupId,
        domain: ValueId,
        matching: i64,
        carriers: i64,
    ) {
        let counts = Arc::make_mut(&mut self.groups[group]);
        bump(&mut counts.existing, domain, matching);
        bump(&mut counts.matching, domain, matching);
        bump(&mut counts.carriers, domain, carriers);
    }

    /// Whether a domain is there for a group only as long as nodes in it are.
    pub(crate) fn depends_on_nodes(&self, group: GroupId, domain: ValueId) -> bool {
        self.groups[group].universe.depends_on_nodes(domain)
    }

    /// Notes that a node that counted for a group is gone.
    pub(crate) fn lose_node(&mut self, group: GroupId, domain: ValueId) {
        Arc::make_mut(&mut self.groups[group]).universe.lose_node(domain);
    }

    /// Puts pods of a class into a domain of a key, or takes them out again.
    pub(crate) fn add(
        &mut self,
        class: &Class,
        variant: &Variant,
        groups: &Groups,
        key: KeyId,
        domain: ValueId,
        count: i64,
    ) {
        for id in class.concerned(variant) {
            let group = groups.get(id);
            if group.key != key {
                continue;
            }
            let matches = class.counts_in(id);
            let carries = variant.groups.contains(&id);
            let surely = matches && (carries || group.counts_everywhere);
            let counts = Arc::make_mut(&mut self.groups[id]);
            bump(&mut counts.matching, domain, if surely { count } else { 0 });
            bump(&mut counts.carriers, domain, if carries { count } else { 0 });
            bump(&mut counts.own, domain, if matches && carries { count } else { 0 });
        }
    }

    /// Whether one more pod of a class may stand in a domain.
    pub(crate) fn allows(
        &self,
        class: &Class,
        variant: &Variant,
        groups: &Groups,
        key: KeyId,
        domain: ValueId,
        vocabulary: &Vocabulary,
    ) -> bool {
        let held = variant.groups.iter().copied().filter(|id| groups.get(*id).key == key);
        let mut held =
            held.map(|id| self.holds(id, groups.get(id), class, variant, domain, vocabulary));
        let keeps_away = |id: GroupId| {
            let group = groups.get(id);
            group.key == key && group.binds_others && at(&self.groups[id].carriers, domain) > 0
        };
        held.all(|holds| holds) && !class.matched.iter().any(|id| keeps_away(id as GroupId))
    }

    /// The domains in which pods that match a group stood before.
    pub(crate) fn inhabited(&self, group: GroupId) -> impl Iterator<Item = ValueId> {
        populated(&self.groups[group].existing)
    }

    /// Whether the spreads of pods that already stand in a domain still hold.
    pub(crate) fn holds_spreads(
        &self,
        class: &Class,
        variant: &Variant,
        groups: &Groups,
        key: KeyId,
        domain: ValueId,
        vocabulary: &Vocabulary,
    ) -> bool {
        variant.groups.iter().copied().filter(|id| groups.get(*id).key == key).all(|id| {
            let Rule::Spread { max_skew, min_domains } = groups.get(id).rule else { return true };
            let least = self.least(id, groups.get(id), variant, min_domains, vocabulary);
            let own = if class.counts_in(id) { at(&self.groups[id].own, domain) } else { 0 };
            at(&self.groups[id].existing, domain) + own - least <= i64::from(max_skew)
        })
    }

    /// Pods that count for spreads in a domain: the fewer, the better a place for the next.
    pub(crate) fn crowd(
        &self,
        variant: &Variant,
        groups: &Groups,
        key: KeyId,
        domain: ValueId,
    ) -> i64 {
        let spreads = variant.groups.iter().copied().filter(|id| {
            groups.get(*id).key == key && matches!(groups.get(*id).rule, Rule::Spread { .. })
        });
        spreads.map(|id| at(&self.groups[id].matching, domain)).sum()
    }

    /// Whether one more pod may stand in a domain as far as one rule goes.
    pub(crate) fn holds(
        &self,
        id: GroupId,
        group: &Group,
        class: &Class,
        variant: &Variant,
        domain: ValueId,
        vocabulary: &Vocabulary,
    ) -> bool {
        let counts = &self.groups[id];
        match group.rule {
            Rule::Spread { max_skew, min_domains } => {
                let least = self.least(id, group, variant, min_domains, vocabulary);
                let own = if class.counts_in(id) { at(&counts.own, domain) + 1 } else { 0 };
                at(&counts.existing, domain) + own - least <= i64::from(max_skew)
            }
            Rule::Affinity if at(&counts.matching, domain) > 0 => true,
            Rule::Affinity => {
                class.counts_in(id) && !self.is_reachable(id, variant, group, vocabulary)
            }
            Rule::AntiAffinity => {
                at(&counts.matching, domain) == 0
                    && (!class.counts_in(id) || at(&counts.carriers, domain) == 0)
            }
        }
    }

    /// The pods in the emptiest domain that the pod's own rules allow.
    fn least(
        &self,
        id: GroupId,
        group: &Group,
        variant: &Variant,
        min_domains: u32,
        vocabulary: &Vocabulary,
    ) -> i64 {
        let allowed = allowed(self.groups[id].universe.domains(), group.key, variant, vocabulary);
        let counts: Vec<i64> =
            allowed.map(|domain| at(&self.groups[id].matching, domain)).collect();
        if (counts.len() as u64) < u64::from(min_domains) {
            return 0;
        }
        counts.into_iter().min().unwrap_or(0)
    }

    /// The domains that a spread compares for a pod, each with the pods that count in it.
    pub(crate) fn tally(
        &self,
        id: GroupId,
        group: &Group,
        variant: &Variant,
        vocabulary: &Vocabulary,
    ) -> Vec<(ValueId, i64)> {
        let counts = &self.groups[id];
        let allowed = allowed(counts.universe.domains(), group.key, variant, vocabulary);
        allowed.map(|domain| (domain, at(&counts.matching, domain))).collect()
    }

    /// The domains in which pods that match a group stand, placed ones included.
    pub(crate) fn inhabited_now(&self, group: GroupId) -> impl Iterator<Item = ValueId> {
        populated(&self.groups[group].matching)
    }

    /// Whether a pod that has the rule of a group stands in a domain.
    pub(crate) fn has_carrier(&self, group: GroupId, domain: ValueId) -> bool {
        at(&self.groups[group].carriers, domain) > 0
    }

    /// Whether a matching pod stands where a pod of this variant may go.
    fn is_reachable(
        &self,
        id: GroupId,
        variant: &Variant,
        group: &Group,
        vocabulary: &Vocabulary,
    ) -> bool {
        let wanted = variant.strict.find(group.key);
        populated(&self.groups[id].matching)
            .any(|domain| wanted.is_none_or(|wanted| wanted.has(domain, vocabulary)))
    }
}

/// The domains of a set that a pod's required node rules allow.
fn allowed<'a>(
    domains: &'a ValueSet,
    key: KeyId,
    variant: &'a Variant,
    vocabulary: &'a Vocabulary,
) -> impl Iterator<Item = ValueId> + 'a {
    let wanted = variant.strict.find(key);
    domains.iter().filter(move |domain| wanted.is_none_or(|wanted| wanted.has(*domain, vocabulary)))
}

/// The domains with a count above zero.
fn populated(counts: &[i64]) -> impl Iterator<Item = ValueId> {
    let populated = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    populated.map(|(index, _)| ValueId::from_index(u32::try_from(index).expect("a value's index")))
}

fn at(counts: &[i64], domain: ValueId) -> i64 {
    counts.get(domain.index() as usize).copied().unwrap_or(0)
}

fn bump(counts: &mut Vec<i64>, domain: ValueId, by: i64) {
    if by != 0 {
        let index = domain.index() as usize;
        if counts.len() <= index {
            counts.resize(index + 1, 0);
        }
        counts[index] += by;
    }
}
