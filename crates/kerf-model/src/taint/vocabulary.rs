//! Taints as dense numbers.

use super::{Taint, Toleration};
use crate::dense_id;
use crate::intern::{IdSet, Interner};

dense_id! {
    /// A distinct taint.
    pub struct TaintId
}

/// A set of taints: what a node carries, or what a group of pods tolerates.
pub type TaintSet = IdSet<TaintId>;

/// Every taint of one world.
#[derive(Clone, Debug, Default)]
pub struct TaintVocabulary {
    taints: Interner<TaintId, Taint>,
}

impl TaintVocabulary {
    /// A vocabulary without taints.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of taints of a node or pool.
    pub fn intern<'a>(&mut self, taints: impl IntoIterator<Item = &'a Taint>) -> TaintSet {
        taints.into_iter().map(|taint| self.taints.intern(taint, || taint.clone())).collect()
    }

    /// The taint behind an id.
    #[must_use]
    pub fn taint(&self, id: TaintId) -> &Taint {
        self.taints.get(id)
    }

    /// How many distinct taints are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.taints.len()
    }

    /// Whether no taint is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.taints.is_empty()
    }

    /// Which of the taints known *now* these tolerations accept. Pods may run where the node's
    /// taints are a subset of it; intern every node first.
    #[must_use]
    pub fn tolerated_by(&self, tolerations: &[Toleration]) -> TaintSet {
        let accepted = |taint: &Taint| tolerations.iter().any(|each| each.tolerates(taint));
        self.taints.iter().filter(|(_, taint)| accepted(taint)).map(|(id, _)| id).collect()
    }
}
