//! What is wrong with an answer.

use std::fmt;

/// A rule that an answer breaks, in a sentence that names who and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// Who breaks it, where, and how.
    pub sentence: String,
}

/// The rules of a legal answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Every pod is named once, in order, and so is everything else.
    Bookkeeping,
    /// The prices are those of the offerings, and they add up.
    Price,
    /// Pods that ask for devices are not placed.
    ResourceClaims,
    /// Pods tolerate the taints of their node.
    Taints,
    /// The labels of the node satisfy the pod's selector and one required term.
    NodeAffinity,
    /// Everything on a node fits, daemons too.
    Resources,
    /// No two pods take one port of a node.
    HostPorts,
    /// Volumes can be reached and attached.
    Volumes,
    /// New nodes keep to their pool's requirements, and only dynamic pools get any.
    PoolWithTypes,
    /// Every instance type a new node may be can serve it.
    InstanceTypes,
    /// Enough distinct values stay possible.
    MinValues,
    /// No reservation is used by more nodes than are left in it.
    Reservations,
    /// Pools stay within their limits.
    Limits,
    /// Heavier pools are filled to their limits first.
    Weights,
    /// Required spreads are not too skewed.
    Spread,
    /// Required affinities have their pods near.
    Affinity,
    /// Required anti-affinities have none of their pods near.
    AntiAffinity,
}

impl Violation {
    pub(crate) fn new(rule: Rule, sentence: String) -> Self {
        Self { rule, sentence }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.sentence)
    }
}
