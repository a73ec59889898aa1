//! When a node counts as unhealthy, and what is done about it.

use regex::Regex;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::condition::{Condition, Status};
use crate::time::Span;

/// A condition of a node that makes it unhealthy, once it has held for so long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairPolicy {
    /// The type of the node's condition.
    pub condition: String,
    /// The status that is bad.
    pub status: Status,
    /// The reasons of the condition that it is for: what this regular expression is found in. The
    /// one policy without is for reasons that no other is for, whatever condition they are given for.
    #[serde(default)]
    pub reason: String,
    /// How long it may last.
    pub toleration: Span,
    /// How long pods have to leave such a node; as long as their claim says where nothing is said.
    pub drain_within: Option<Span>,
    /// Who is repaired first: from 0 to 100, the highest first.
    pub priority: u8,
    /// What is done about it.
    #[serde(default)]
    pub action: RepairAction,
}

/// What is done about an unhealthy node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RepairAction {
    /// Another comes in its place.
    #[default]
    ReplaceNode,
    /// Its instance is restarted.
    RebootNode,
}

/// Policies that make sense together; none at all where nothing is repaired.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<RepairPolicy>", into = "Vec<RepairPolicy>")]
pub struct RepairPolicies(Vec<RankedPolicy>);

/// A policy, read.
#[derive(Clone, Debug)]
struct RankedPolicy {
    policy: RepairPolicy,
    /// None in the fallback.
    reason: Option<Regex>,
    /// The place of its priority among those there are.
    rank: u8,
}

/// A policy that a condition of a node meets, whatever its age.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicyMatch<'a> {
    pub(crate) policy: &'a RepairPolicy,
    /// The place of its priority among those there are.
    pub(crate) rank: u8,
}

/// Policies that make no sense together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("repair policies cannot be used: {}", .0.join("; "))]
pub struct InvalidRepairPolicies(pub Vec<String>);

/// The highest priority.
const PRIORITY_MAX: u8 = 100;

impl RepairPolicies {
    /// These policies, read.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn new(policies: Vec<RepairPolicy>) -> Result<Self, InvalidRepairPolicies> {
        if policies.is_empty() {
            return Ok(Self::default());
        }
        let mut faults = Vec::new();
        let mut priorities: Vec<u8> = policies.iter().map(|policy| policy.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let mut read = Vec::with_capacity(policies.len());
        for (place, policy) in policies.into_iter().enumerate() {
            let named = format!("policy {place} ({}={})", policy.condition, policy.status);
            let mut fault = |what: String| faults.push(format!("{named} {what}"));
            if policy.condition.is_empty() {
                fault("names no condition".to_owned());
            }
            if policy.priority > PRIORITY_MAX {
                fault(format!("has the priority {}, more than {PRIORITY_MAX}", policy.priority));
            }
            if policy.reason.is_empty() && policy.action == RepairAction::RebootNode {
                fault("is for any reason and reboots; only ReplaceNode can be".to_owned());
            }
            let reason = match policy.reason.as_str() {
                "" => None,
                pattern => {
                    Regex::new(pattern).map_err(|error| fault(format!("for reasons {error}"))).ok()
                }
            };
            let lower = priorities.partition_point(|other| *other < policy.priority);
            read.push(RankedPolicy { policy, reason, rank: lower.try_into().unwrap_or(u8::MAX) });
        }
        let fallbacks = read.iter().filter(|it| it.policy.reason.is_empty()).count();
        if fallbacks != 1 {
            faults.push(format!("{fallbacks} policies are for any reason; there must be one"));
        }
        if faults.is_empty() { Ok(Self(read)) } else { Err(InvalidRepairPolicies(faults)) }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The policies, as they were given.
    pub fn iter(&self) -> impl Iterator<Item = &RepairPolicy> {
        self.0.iter().map(|it| &it.policy)
    }

    /// Whether a policy names the condition with this status, whatever its reason.
    pub(crate) fn name(&self, condition: &Condition) -> bool {
        self.0.iter().any(|it| it.is_about(condition))
    }

    /// Every policy that the condition meets: those for its reason, or else the one for reasons
    /// that no other is for.
    pub(crate) fn met_by(&self, condition: &Condition) -> Vec<PolicyMatch<'_>> {
        if !self.name(condition) {
            return Vec::new();
        }
        let own = self.0.iter().filter(|it| it.is_about(condition) && it.is_for(&condition.reason));
        let own: Vec<_> = own.map(RankedPolicy::matched).collect();
        if !own.is_empty() {
            return own;
        }
        self.0.iter().filter(|it| it.reason.is_none()).map(RankedPolicy::matched).collect()
    }
}

impl RankedPolicy {
    fn is_about(&self, condition: &Condition) -> bool {
        self.policy.condition == condition.kind && self.policy.status == condition.status
    }

    fn is_for(&self, reason: &str) -> bool {
        self.reason.as_ref().is_some_and(|pattern| pattern.is_match(reason))
    }

    fn matched(&self) -> PolicyMatch<'_> {
        PolicyMatch { policy: &self.policy, rank: self.rank }
    }
}

impl PartialEq for RepairPolicies {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for RepairPolicies {}

impl TryFrom<Vec<RepairPolicy>> for RepairPolicies {
    type Error = InvalidRepairPolicies;

    fn try_from(policies: Vec<RepairPolicy>) -> Result<Self, InvalidRepairPolicies> {
        Self::new(policies)
    }
}

impl From<RepairPolicies> for Vec<RepairPolicy> {
    fn from(policies: RepairPolicies) -> Self {
        policies.0.into_iter().map(|it| it.policy).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    fn policy(condition: &str, reason: &str, priority: u8) -> RepairPolicy {
        RepairPolicy {
            condition: condition.to_owned(),
            status: Status::False,
            reason: reason.to_owned(),
            toleration: Span::from_minutes(10),
            drain_within: None,
            priority,
            action: RepairAction::ReplaceNode,
        }
    }

    fn met(policies: &[RepairPolicy], condition: &str, reason: &str) -> Vec<(String, u8)> {
        let policies = RepairPolicies::new(policies.to_vec()).expect("they make sense");
        let condition = Condition {
            kind: condition.to_owned(),
            status: Status::False,
            reason: reason.to_owned(),
            message: String::new(),
            changed_at: Time::default(),
            observed_generation: 0,
        };
        let met = policies.met_by(&condition);
        met.iter().map(|it| (it.policy.reason.clone(), it.rank)).collect()
    }

    #[test]
    fn every_policy_for_a_reason_counts_and_the_fallback_only_without_one() {
        let policies = [
            policy("Ready", "", 0),
            policy("Gpu", "^Xid", 90),
            policy("Gpu", "48|79", 50),
            policy("Gpu", "Fan", 50),
        ];
        let fallback = vec![(String::new(), 0)];
        let both = vec![("^Xid".to_owned(), 2), ("48|79".to_owned(), 1)];
        assert_eq!(met(&policies, "Gpu", "Xid79"), both, "found anywhere in the reason");
        assert_eq!(met(&policies, "Gpu", "Hot"), fallback, "of a condition that is named");
        assert_eq!(met(&policies, "Ready", "KubeletNotReady"), fallback);
        assert_eq!(met(&policies, "Disk", "Xid79"), vec![], "no policy names the condition");
    }

    #[test]
    fn a_pattern_for_everything_is_no_fallback() {
        let policies = [policy("Ready", "", 0), policy("Gpu", ".*", 0)];
        assert_eq!(met(&policies, "Gpu", ""), vec![(".*".to_owned(), 0)]);
    }

    #[test]
    fn everything_that_is_wrong_is_told_together() {
        let reboots = RepairPolicy { action: RepairAction::RebootNode, ..policy("Gpu", "", 0) };
        let wrong = vec![policy("", "(", 101), policy("Ready", "", 0), reboots];
        let faults = RepairPolicies::new(wrong).expect_err("nothing of it makes sense").0;
        for part in ["names no condition", "101", "reasons regex", "only ReplaceNode", "2 policies"]
        {
            assert!(faults.iter().any(|fault| fault.contains(part)), "{part}: {faults:?}");
        }
        assert_eq!(faults.len(), 5, "{faults:?}");
        let none = RepairPolicies::new(vec![policy("Ready", ".*", 0)]);
        assert!(none.is_err(), "somebody must be for reasons that nobody names");
        assert!(RepairPolicies::new(Vec::new()).expect("nothing is repaired").is_empty());
    }
}
