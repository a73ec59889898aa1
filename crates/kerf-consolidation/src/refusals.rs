//! Sets of nodes that nothing cheaper can take the place of, so that others like them need no what-if.
//!
//! Most nodes of a large cluster are alike, and most cannot go. What was answered for one set holds
//! for every set of nodes like these, as long as nothing is taken.

use std::collections::BTreeMap;

use crate::kept::Kept;

/// What was refused so far, and for which nodes.
pub(crate) struct Refusals {
    /// Of each node the number it shares with those like it.
    alike: Vec<u32>,
    known: BTreeMap<Vec<u32>, Kept>,
}

impl Refusals {
    pub(crate) fn among(alike: Vec<u32>) -> Self {
        Self { alike, known: BTreeMap::new() }
    }

    /// What sets of nodes have in common where they are made of nodes that are alike.
    pub(crate) fn kind(&self, nodes: &[usize]) -> Vec<u32> {
        let mut kind: Vec<u32> = nodes.iter().map(|node| self.alike[*node]).collect();
        kind.sort_unstable();
        kind
    }

    /// Why nodes stay, if others like them did.
    pub(crate) fn of(&self, nodes: &[usize]) -> Option<Kept> {
        let kept = self.known.get(&self.kind(nodes))?;
        Some(match (kept, nodes) {
            (Kept::NoPlace { pod, reason }, [node]) => {
                let pod = kerf_scheduler::Displaced { node: *node, ..*pod };
                Kept::NoPlace { pod, reason: reason.clone() }
            }
            _ => kept.clone(),
        })
    }

    /// Notes why nodes stay, unless that depends on more than what they are: what it costs to evict
    /// pods differs between nodes that are alike.
    pub(crate) fn note(&mut self, nodes: &[usize], kept: &Kept) {
        if matches!(kept, Kept::NoPlace { .. } | Kept::NotCheaper { .. }) {
            self.known.insert(self.kind(nodes), kept.clone());
        }
    }

    /// The cluster looks different now.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }
}
