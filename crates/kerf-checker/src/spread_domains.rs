//! The domains a spread knows of, and how full the emptiest is.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::pool::Sizing;
use kerf_model::requirement::Requirement;
use kerf_model::vocabulary::KeyId;

use crate::domain::Domain;
use crate::facts::{Facts, Place, PlacedPod};
use crate::serving::repelled_by;
use crate::spread::{Count, Group, is_by_host, node_counts};

/// How many matching pods the emptiest domain has that the carrier may go to. Of several required
/// terms the mildest counts, since it is not known by which the pod was placed.
pub(crate) fn emptiest(
    facts: &Facts,
    group: &Group,
    counts: &BTreeMap<String, Count>,
    carrier: &PlacedPod,
) -> u32 {
    let Some(key) = facts.vocabulary.find_key(&group.key).filter(|_| !is_by_host(group)) else {
        // There is always a host that does not exist yet.
        return 0;
    };
    let pod = carrier.pod.expect("carriers are placed pods");
    let known = universe(facts, group, carrier, key);
    let own = Domain::of(facts, carrier.place, &group.key);
    let own = own.known().unwrap_or_default();
    let least = |allowed: Requirement| {
        let vocabulary = &facts.vocabulary;
        if !allowed.has_text(own, vocabulary) {
            return 0;
        }
        let domains: Vec<_> =
            known.iter().filter(|domain| allowed.has_text(domain, vocabulary)).collect();
        let too_few = group.constraint.min_domains.is_some_and(|min| domains.len() < min as usize);
        let totals = domains.into_iter().map(|domain| counts.get(domain).map_or(0, Count::total));
        if too_few { 0 } else { totals.min().unwrap_or(0) }
    };
    facts.pods[pod].iter().map(|term| least(term.get(key))).max().unwrap_or(0)
}

/// Every value of the key that nodes have, or that pools could give to new ones.
fn universe(facts: &Facts, group: &Group, carrier: &PlacedPod, key: KeyId) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for node in 0..facts.nodes.len() {
        let place = Place::Existing(node);
        if node_counts(facts, group, place) {
            known.extend(Domain::of(facts, place, &group.key).known().map(str::to_owned));
        }
    }
    for (pool, offered) in facts.problem.pools.iter().zip(&facts.pools) {
        let taints = &pool.pool.template.spec.taints;
        let kept_away =
            group.constraint.honours_taints && repelled_by(taints, carrier.shape).is_some();
        if pool.pool.sizing != Sizing::Dynamic || kept_away {
            continue;
        }
        let template = offered.template.get(key);
        let types = offered.types.iter().filter_map(|each| each.requirements.find(key));
        let types = types.map(|listed| template.intersection(listed, &facts.vocabulary));
        for listed in types.chain([template.clone()]).filter(|each| !each.is_complement()) {
            let values = listed.values().iter();
            known.extend(values.map(|v| facts.vocabulary.value_text(key, v).to_owned()));
        }
    }
    known
}
