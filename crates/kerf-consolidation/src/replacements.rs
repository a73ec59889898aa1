//! Replacing nodes by cheaper ones: what-ifs on several threads, then the best are taken.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use kerf_scheduler::{CancelFlag, Effort, NotTaken, Onto, Question, WhatIf};

use crate::kept::Kept;
use crate::plan::Move;
use crate::removals::refused;
use crate::search::Search;

/// A set of nodes whose replacement saves something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) nodes: Vec<usize>,
    saving_micros: u64,
    cost_parts: u64,
    /// What is saved by the time everything must have paid back, evictions and launches taken off;
    /// in micro-dollars and seconds per hour.
    pub(crate) gain: u128,
}

impl Search<'_> {
    /// Whether a node can still be replaced: it may go, is still there, and takes no pods.
    pub(crate) fn is_open(&self, node: usize) -> bool {
        self.kept[node].is_some()
            && self.snapshot.nodes[node].may_go.is_ok()
            && !self.residual.receives(node)
            && self.judge.check_policy(node).is_ok()
    }

    /// Asks what would become of each set of nodes, on several threads, and notes those that save
    /// something. A single node that cannot be replaced has its nearest cause then. Of sets that are
    /// alike one is asked about first; the others only if it could be replaced.
    pub(crate) fn evaluate(&mut self, sets: &[Vec<usize>]) {
        let mut kinds = BTreeSet::new();
        let (first, others): (Vec<&[usize]>, Vec<&[usize]>) =
            sets.iter().map(Vec::as_slice).partition(|set| kinds.insert(self.refusals.kind(set)));
        let mut found = BTreeMap::new();
        for turn in [first, others] {
            let mut asked = turn;
            asked.retain(|nodes| !self.is_known_refused(nodes));
            self.what_ifs += asked.len();
            let answers = self.ask(&asked);
            for (nodes, answer) in asked.into_iter().zip(answers) {
                self.conclude(nodes, &answer, &mut found);
            }
        }
        // In the order of the sets, whichever was asked about first.
        self.found.extend(sets.iter().filter_map(|set| found.remove(set.as_slice())));
    }

    /// Whether nodes like these were refused before; they stay for the same cause then.
    fn is_known_refused(&mut self, nodes: &[usize]) -> bool {
        let Some(kept) = self.refusals.of(nodes) else { return false };
        if let [node] = nodes {
            self.keep(*node, kept);
        }
        true
    }

    fn conclude<'s>(
        &mut self,
        nodes: &'s [usize],
        answer: &WhatIf,
        found: &mut BTreeMap<&'s [usize], Found>,
    ) {
        match self.judge.replacement(nodes, answer) {
            Ok(replacement) => {
                let replacement = Found {
                    nodes: nodes.to_vec(),
                    saving_micros: replacement.saving.micros_per_hour(),
                    cost_parts: replacement.eviction_cost.parts(),
                    gain: self.judge.gain(&replacement),
                };
                found.insert(nodes, replacement);
            }
            Err(kept) => {
                self.refusals.note(nodes, &kept);
                if let [node] = nodes {
                    self.keep(*node, kept);
                }
            }
        }
    }

    /// What becomes of the residual cluster without each set of nodes, in the order of the sets.
    fn ask(&self, sets: &[&[usize]]) -> Vec<WhatIf> {
        let next = AtomicUsize::new(0);
        let residual = &self.residual;
        let work = || {
            let mut answers = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(nodes) = sets.get(place) else { return answers };
                let answer = residual.replace(&question(nodes, Onto::AnyNode));
                answers.push((place, answer.expect("nobody cancels it")));
            }
        };
        let others = self.settings.threads.get().min(sets.len()).saturating_sub(1);
        let mut answers: Vec<(usize, WhatIf)> = std::thread::scope(|scope| {
            let others: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
            let mut answers = work();
            for other in others {
                answers.extend(other.join().expect("a what-if does not panic"));
            }
            answers
        });
        answers.sort_unstable_by_key(|(place, _)| *place);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    /// Puts what was found in the order it is taken: the most saved per eviction last, to be popped.
    pub(crate) fn sort_found(&mut self) {
        self.found.sort_by(|one, other| {
            let ratio =
                |a: &Found, b: &Found| u128::from(a.saving_micros) * u128::from(b.cost_parts);
            ratio(one, other)
                .cmp(&ratio(other, one))
                .then(one.saving_micros.cmp(&other.saving_micros))
                .then_with(|| other.nodes.cmp(&one.nodes))
        });
    }

    /// Takes a set of an earlier plan, if that still saves something.
    pub(crate) fn take_planned(&mut self, nodes: &[usize]) {
        if !self.is_within_limits(nodes) {
            return;
        }
        let found = Found { nodes: nodes.to_vec(), saving_micros: 0, cost_parts: 0, gain: 0 };
        self.take(&found);
    }

    /// Takes a set that was found, if that still saves something after what was taken before it.
    pub(crate) fn take(&mut self, found: &Found) {
        if !found.nodes.iter().all(|node| self.is_open(*node)) {
            return;
        }
        // Without a launch it must fit in every order.
        if let Ok(removal) = self.removal(&found.nodes) {
            self.accept(removal);
            return;
        }
        // Where kube-scheduler might leave somebody over, they may still fit on a new node together.
        let taken = self.take_onto(&found.nodes, Onto::AnyNode).or_else(|kept| {
            let is_order = matches!(kept, Kept::NotInEveryOrder { .. });
            if is_order {
                self.take_onto(&found.nodes, Onto::NewNodes).or(Err(kept))
            } else {
                Err(kept)
            }
        });
        match (taken, &found.nodes[..]) {
            (Ok(taken), _) => self.accept(taken),
            (Err(kept), [node]) => self.keep(*node, kept),
            _ => {}
        }
    }

    fn take_onto(&mut self, nodes: &[usize], onto: Onto) -> Result<Move, Kept> {
        let judge = &self.judge;
        let mut cause = Kept::NotReached;
        let taken = self.residual.take_if(&question(nodes, onto), |answer| {
            judge.replacement(nodes, &answer).map_err(|kept| cause = kept).ok()
        });
        taken.map_err(|not_taken| match not_taken {
            NotTaken::Refused(refusal) => refused(refusal),
            NotTaken::NotAccepted | NotTaken::Cancelled => cause,
        })
    }

    /// Notes why a node stays, unless it takes pods by now.
    fn keep(&mut self, node: usize, kept: Kept) {
        if self.is_open(node) {
            self.kept[node] = Some(kept);
        }
    }
}

fn question(nodes: &[usize], onto: Onto) -> Question<'_> {
    Question { nodes, onto, effort: Effort::UNLIMITED, cancel: CancelFlag::default() }
}
