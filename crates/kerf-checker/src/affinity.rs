//! Required affinities have their pods near.
//!
//! Pods are placed one after the other, so nearness must start somewhere: with a pod that runs
//! already, with one that needs nobody near, or with one that matches its own term where nobody
//! else does ("self-started"). From these the others follow. Pods that only have each other, and
//! do not match their own terms, have no order in which they could have been placed.

use std::collections::BTreeSet;

use kerf_model::pod::PodAffinityTerm;

use crate::domain::Domain;
use crate::facts::{Facts, PlacedPod};
use crate::selecting::Selection;
use crate::violation::{Rule, Violation};

/// A placed pod's required term.
struct Need<'a> {
    /// Index into the standing pods.
    carrier: usize,
    key: &'a str,
    meant: Selection,
    /// The carrier's domain; none if it is not settled or not there.
    domain: Option<String>,
}

impl Need<'_> {
    fn same_group(&self, other: &Need) -> bool {
        self.key == other.key && self.meant == other.meant
    }
}

/// A group's start in a domain.
struct Start<'n, 'a> {
    need: &'n Need<'a>,
    domain: &'n str,
}

/// Checks every required term of every placed pod.
pub(crate) fn check(facts: &Facts) -> Vec<Violation> {
    let needs = needs(facts);
    let mut found = Vec::new();
    for need in needs.iter().filter(|need| need.domain.is_none()) {
        let carrier = &facts.placed[need.carrier];
        let (place, key) = (facts.place_name(carrier.place), need.key);
        let sentence =
            format!("pod {} needs pods near, but {key} of {place} is open", carrier.name);
        found.push(Violation::new(Rule::Affinity, sentence));
    }
    let (lonely, starts) = ground(facts, &needs);
    for need in lonely {
        let carrier = &facts.placed[need.carrier];
        let (place, key) = (facts.place_name(carrier.place), need.key);
        let sentence =
            format!("pod {} on {place} lacks a pod it needs near by {key}", carrier.name);
        found.push(Violation::new(Rule::Affinity, sentence));
    }
    found.extend(scattered(facts, &needs, &starts));
    found
}

fn needs<'a>(facts: &Facts<'a>) -> Vec<Need<'a>> {
    let mut needs = Vec::new();
    for (position, carrier) in facts.placed.iter().enumerate() {
        if carrier.pod.is_none() {
            continue;
        }
        let shape = carrier.shape;
        let need = |term: &'a PodAffinityTerm| Need {
            carrier: position,
            key: &term.topology_key,
            meant: Selection::of_term(term, &shape.namespace, facts.problem),
            domain: Domain::of(facts, carrier.place, &term.topology_key).known().map(str::to_owned),
        };
        needs.extend(shape.affinity.required.iter().map(need));
    }
    needs
}

/// Lets nearness spread until nothing changes. Returns the needs that are never met, and the pods
/// that had to start a domain by themselves.
fn ground<'n, 'a>(
    facts: &Facts<'a>,
    needs: &'n [Need<'a>],
) -> (Vec<&'n Need<'a>>, Vec<Start<'n, 'a>>) {
    let mut waiting: BTreeSet<usize> = needs.iter().map(|need| need.carrier).collect();
    let mut starts = Vec::new();
    let of = |carrier| needs.iter().filter(move |need| need.carrier == carrier);
    loop {
        let met = |need: &Need| is_met(facts, need, &waiting);
        let next = waiting.iter().copied().find(|&carrier| of(carrier).all(met));
        let next = next.or_else(|| {
            let can_start = |need: &Need| met(need) || may_start(facts, need);
            let starter = waiting.iter().copied().find(|&carrier| of(carrier).all(can_start))?;
            for need in of(starter).filter(|need| !met(need)) {
                starts.extend(need.domain.as_deref().map(|domain| Start { need, domain }));
            }
            Some(starter)
        });
        let Some(next) = next else { break };
        waiting.remove(&next);
    }
    let lonely = needs.iter().filter(|need| waiting.contains(&need.carrier));
    (lonely.filter(|need| !is_met(facts, need, &waiting)).collect(), starts)
}

/// Whether a pod that is already there, in the order so far, is near. A need whose domain is not
/// known is reported elsewhere and counts as met.
fn is_met(facts: &Facts, need: &Need, waiting: &BTreeSet<usize>) -> bool {
    let Some(domain) = &need.domain else { return true };
    let candidates = facts.placed.iter().enumerate();
    let mut others =
        candidates.filter(|(other, _)| *other != need.carrier && !waiting.contains(other));
    others.any(|(_, other)| is_match_in(facts, need, other, domain))
}

fn is_match_in(facts: &Facts, need: &Need, other: &PlacedPod, domain: &str) -> bool {
    need.meant.means(other.shape)
        && Domain::of(facts, other.place, need.key).known() == Some(domain)
}

/// Whether the carrier matches its own term and no running pod does in any domain it may go to.
fn may_start(facts: &Facts, need: &Need) -> bool {
    let carrier = &facts.placed[need.carrier];
    need.meant.means(carrier.shape)
        && !facts.placed.iter().any(|other| {
            other.pod.is_none()
                && need.meant.means(other.shape)
                && Domain::of(facts, other.place, need.key)
                    .known()
                    .is_some_and(|domain| may_go(facts, need, domain))
        })
}

/// Whether every alternative of the carrier's node affinity allows the domain; if one does not, it
/// may be the one the pod was placed by.
fn may_go(facts: &Facts, need: &Need, domain: &str) -> bool {
    let pod = facts.placed[need.carrier].pod.expect("needs are those of placed pods");
    let key = facts.problem.settings.label_rules.normalization().key(need.key);
    let Some(key) = facts.vocabulary.find_key(key) else { return true };
    facts.pods[pod].iter().all(|term| term.get(key).has_text(domain, &facts.vocabulary))
}

/// A group may start once; again only where a pod may not join what was started before.
fn scattered(facts: &Facts, needs: &[Need], starts: &[Start]) -> Vec<Violation> {
    let alone: Vec<_> = starts.iter().filter(|start| !has_outsider(facts, start)).collect();
    let mut found = Vec::new();
    for (position, one) in alone.iter().enumerate() {
        for other in &alone[position + 1..] {
            let apart = one.need.same_group(other.need)
                && one.domain != other.domain
                && could_join(facts, needs, one, other.domain)
                && could_join(facts, needs, other, one.domain);
            if apart {
                let name = |start: &Start| facts.placed[start.need.carrier].name;
                let sentence = format!(
                    "pods {} in {} and {} in {} each start by themselves what should be near by {}",
                    name(one),
                    one.domain,
                    name(other),
                    other.domain,
                    one.need.key,
                );
                found.push(Violation::new(Rule::Affinity, sentence));
            }
        }
    }
    found
}

/// Whether everyone who may have started the domain could have gone to `elsewhere` instead.
fn could_join(facts: &Facts, needs: &[Need], start: &Start, elsewhere: &str) -> bool {
    let mut starters = needs.iter().filter(|need| {
        need.same_group(start.need)
            && need.domain.as_deref() == Some(start.domain)
            && need.meant.means(facts.placed[need.carrier].shape)
    });
    starters.all(|need| may_go(facts, need, elsewhere))
}

/// Whether the domain also holds a matching pod that does not itself carry the term: then that pod
/// may have come first.
fn has_outsider(facts: &Facts, start: &Start) -> bool {
    let (need, carrier) = (start.need, start.need.carrier);
    facts.placed.iter().enumerate().any(|(position, other)| {
        let terms = &other.shape.affinity.required;
        let carries = terms.iter().any(|term| {
            term.topology_key == need.key
                && Selection::of_term(term, &other.shape.namespace, facts.problem) == need.meant
        });
        position != carrier && !carries && is_match_in(facts, need, other, start.domain)
    })
}
