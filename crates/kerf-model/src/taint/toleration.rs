//! Which taints a pod accepts.

use serde::{Deserialize, Serialize};

use super::{Taint, TaintEffect};

/// A pod's acceptance of some taints.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Toleration {
    /// The key; empty accepts every key.
    pub key: String,
    /// How `value` is compared with the taint's.
    pub operator: TolerationOperator,
    /// The value.
    pub value: String,
    /// The effect; none accepts every effect.
    pub effect: Option<TaintEffect>,
}

/// How a toleration compares values.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum TolerationOperator {
    /// The same value. Also what an omitted operator means.
    #[default]
    Equal,
    /// Any value.
    Exists,
    /// The taint's integer is greater than the toleration's.
    Gt,
    /// The taint's integer is less than the toleration's.
    Lt,
}

impl TolerationOperator {
    /// Reads the word in the API; empty is `Equal`. A word that does not exist tolerates nothing,
    /// so it has no operator.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "" | "Equal" => Some(Self::Equal),
            "Exists" => Some(Self::Exists),
            "Gt" => Some(Self::Gt),
            "Lt" => Some(Self::Lt),
            _ => None,
        }
    }
}

impl Toleration {
    /// A toleration of everything.
    #[must_use]
    pub fn of_everything() -> Self {
        Self { operator: TolerationOperator::Exists, ..Self::default() }
    }

    /// A toleration of every taint with this effect.
    #[must_use]
    pub fn of_effect(effect: TaintEffect) -> Self {
        Self { effect: Some(effect), ..Self::of_everything() }
    }

    /// Whether this toleration alone accepts `taint`.
    #[must_use]
    pub fn tolerates(&self, taint: &Taint) -> bool {
        if self.effect.is_some_and(|effect| effect != taint.effect) {
            return false;
        }
        if !self.key.is_empty() && self.key != taint.key {
            return false;
        }
        let integers = || Some((decimal(&taint.value)?, decimal(&self.value)?));
        match self.operator {
            TolerationOperator::Exists => true,
            TolerationOperator::Equal => self.value == taint.value,
            TolerationOperator::Gt => integers().is_some_and(|(taint, own)| taint > own),
            TolerationOperator::Lt => integers().is_some_and(|(taint, own)| taint < own),
        }
    }
}

/// The taints that no toleration accepts. `PreferNoSchedule` counts like any other: a pod that may
/// ignore it is given a toleration of that effect.
pub fn untolerated<'a>(
    taints: impl IntoIterator<Item = &'a Taint>,
    tolerations: &[Toleration],
) -> impl Iterator<Item = &'a Taint> {
    taints.into_iter().filter(|taint| !tolerations.iter().any(|each| each.tolerates(taint)))
}

/// An integer in the strict form that comparing tolerations need: no plus sign, no leading zeros,
/// no minus zero, within 64 bits.
fn decimal(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let strict = text == "0" || digits.starts_with(|first: char| ('1'..='9').contains(&first));
    if strict { text.parse().ok() } else { None }
}
