//! Taints that keep pods away, and tolerations that let them stay.
//!
//! Distinct taints are few and pods are many, so [`TaintVocabulary`] numbers the taints once: a
//! group of pods then knows the *set* of taints it tolerates, and "may run there" is a subset test.

mod ephemeral;
mod known;
mod toleration;
mod vocabulary;

pub use ephemeral::is_known_ephemeral;
pub use known::{
    DISRUPTED_KEY, REBOOTING_KEY, UNREGISTERED_KEY, UNSCHEDULABLE_KEY, disrupted, rebooting,
    unregistered, unschedulable,
};
pub use toleration::{Toleration, TolerationOperator, untolerated};
pub use vocabulary::{TaintId, TaintSet, TaintVocabulary};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A mark on a node that pods must tolerate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Taint {
    /// The key.
    pub key: String,
    /// The value; empty when there is none.
    pub value: String,
    /// What the taint does to pods that do not tolerate it.
    pub effect: TaintEffect,
}

/// What a taint does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TaintEffect {
    /// Pods are not placed there.
    NoSchedule,
    /// Pods are placed elsewhere if possible.
    PreferNoSchedule,
    /// Pods are not placed there and running ones are evicted.
    NoExecute,
}

/// An effect that does not exist. The word must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown taint effect {0:?}; the effects are NoSchedule, PreferNoSchedule, NoExecute")]
pub struct UnknownEffect(pub String);

impl Taint {
    /// A taint.
    #[must_use]
    pub fn new(key: &str, value: &str, effect: TaintEffect) -> Self {
        Self { key: key.to_owned(), value: value.to_owned(), effect }
    }

    /// Whether both mark the same thing: a node carries one taint per key and effect.
    #[must_use]
    pub fn same_mark(&self, other: &Self) -> bool {
        self.key == other.key && self.effect == other.effect
    }
}

/// Adds to `taints` those of `more` whose key and effect are not there yet.
pub fn merge_taints(taints: &mut Vec<Taint>, more: &[Taint]) {
    for taint in more {
        if !taints.iter().any(|present| present.same_mark(taint)) {
            taints.push(taint.clone());
        }
    }
}

impl TaintEffect {
    /// Every effect.
    pub const ALL: [Self; 3] = [Self::NoSchedule, Self::PreferNoSchedule, Self::NoExecute];

    /// The word in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        }
    }
}

impl FromStr for TaintEffect {
    type Err = UnknownEffect;

    fn from_str(text: &str) -> Result<Self, UnknownEffect> {
        let named = Self::ALL.into_iter().find(|effect| effect.as_str() == text);
        named.ok_or_else(|| UnknownEffect(text.to_owned()))
    }
}

impl fmt::Display for TaintEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_empty() {
            write!(f, "{}:{}", self.key, self.effect)
        } else {
            write!(f, "{}={}:{}", self.key, self.value, self.effect)
        }
    }
}
