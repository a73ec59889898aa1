//! Replacing nodes by cheaper ones: what-ifs on several threads, then the best are taken.

use std::sync::atomic::{AtomicUsize, Ordering};

use kerf_scheduler::{CancelFlag, Effort, WhatIf};

use crate::kept::Kept;
use crate::search::Search;

/// A set of nodes whose replacement saves something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) nodes: Vec<usize>,
    saving_micros: u64,
    cost_parts: u64,
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
    /// something. A single node that cannot be replaced has its nearest cause then.
    pub(crate) fn evaluate(&mut self, sets: &[Vec<usize>]) {
        let answers = self.ask(sets);
        for (nodes, answer) in sets.iter().zip(answers) {
            let verdict = self.judge.replacement(nodes, &answer);
            match (verdict, &nodes[..]) {
                (Ok(found), _) => self.found.push(Found {
                    nodes: nodes.clone(),
                    saving_micros: found.saving.micros_per_hour(),
                    cost_parts: found.eviction_cost.parts(),
                }),
                (Err(kept), [node]) => self.keep(*node, kept),
                (Err(_), _) => {}
            }
        }
    }

    /// What becomes of the residual cluster without each set of nodes, in the order of the sets.
    fn ask(&self, sets: &[Vec<usize>]) -> Vec<WhatIf> {
        let next = AtomicUsize::new(0);
        let residual = &self.residual;
        let work = || {
            let mut answers = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(nodes) = sets.get(place) else { return answers };
                let answer = residual.replace(nodes, Effort::UNLIMITED, &CancelFlag::default());
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
        let judge = &self.judge;
        let mut kept = None;
        let unlimited = (Effort::UNLIMITED, CancelFlag::default());
        let taken = self.residual.take_if(&found.nodes, unlimited.0, &unlimited.1, |answer| {
            if answer.solution.new_nodes.is_empty() {
                return None;
            }
            judge.replacement(&found.nodes, &answer).map_err(|cause| kept = Some(cause)).ok()
        });
        match (taken, kept, &found.nodes[..]) {
            (Some(taken), ..) => self.accept(taken),
            (None, Some(kept), [node]) => self.keep(*node, kept),
            _ => {}
        }
    }

    /// Notes why a node stays, unless it takes pods by now.
    fn keep(&mut self, node: usize, kept: Kept) {
        if self.is_open(node) {
            self.kept[node] = Some(kept);
        }
    }
}
