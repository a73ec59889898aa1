//! Why a node stays, in words: one place for Events, logs and screens.

use kerf_model::price::Price;
use kerf_scheduler::{Displaced, PlacementProblem};

use crate::kept::{Ineligible, Kept};
use crate::payback::payback_text;

impl Kept {
    /// The cause by a name that does not change, as in the API: `PodDisruptionBudget`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ineligible(cause) => cause.name(),
            Self::OnlyWhenEmpty => "OnlyWhenEmpty",
            Self::Receives => "Receives",
            Self::NoRoom { .. } => "NoRoom",
            Self::NotInEveryOrder { .. } => "NotInEveryOrder",
            Self::NoPlace { .. } => "NoPlace",
            Self::NotCheaper { .. } => "NotCheaper",
            Self::SpotToSpotOff => "SpotToSpotOff",
            Self::TooFewTypes { .. } => "TooFewTypes",
            Self::PaybackTooLong { .. } => "PaybackTooLong",
            Self::NotWorthIt { .. } => "NotWorthIt",
            Self::NotReached => "NotReached",
        }
    }

    /// What a screen says where many nodes stay for the same cause.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        match self {
            Self::Ineligible(cause) => cause.summary(),
            Self::OnlyWhenEmpty => "not empty, and the pool's policy is WhenEmpty",
            Self::Receives => "take pods of nodes that go",
            Self::NoRoom { .. } => "no room for their pods on other nodes",
            Self::NotInEveryOrder { .. } => "pods fit elsewhere, but not in every order",
            Self::NoPlace { .. } => "a pod would have no place to go",
            Self::NotCheaper { .. } => "nothing cheaper holds their pods",
            Self::SpotToSpotOff => "spot is not replaced by spot",
            Self::TooFewTypes { .. } => "too few instance types are cheaper",
            Self::PaybackTooLong { .. } => "it would take too long to pay back",
            Self::NotWorthIt { .. } => "the saving is not worth the disruption",
            Self::NotReached => "not looked at yet",
        }
    }

    /// The cause in words, with names from the problem it was found in. `time` prints Unix seconds.
    #[must_use]
    pub fn text(&self, problem: &PlacementProblem, time: impl Fn(i64) -> String) -> String {
        let named = |pod: &Displaced| {
            let pod = pod.of(problem);
            format!("{}/{}", pod.shape.namespace, pod.name)
        };
        match self {
            Self::Ineligible(cause) => cause.text(time),
            Self::OnlyWhenEmpty => {
                "it is not empty, and its pool's consolidationPolicy is WhenEmpty".to_owned()
            }
            Self::Receives => "it takes pods of nodes that go".to_owned(),
            Self::NoRoom { pod } => {
                format!("pod {} fits on no other node, and no launch was tried", named(pod))
            }
            Self::NotInEveryOrder { pod } => format!(
                "its pods fit elsewhere if they are bound in the right order; in another order \
                 pod {} is left over",
                named(pod)
            ),
            Self::NoPlace { pod, reason } => {
                format!("pod {} would have no place to go: {reason}", named(pod))
            }
            Self::NotCheaper { price, best } => not_cheaper(*price, *best),
            Self::SpotToSpotOff => "only another spot node could replace it, and the feature gate \
                                    SpotToSpotConsolidation is off"
                .to_owned(),
            Self::TooFewTypes { found, needed } => {
                format!("only {found} instance types are cheaper, and {needed} are needed")
            }
            Self::PaybackTooLong { payback_seconds, most_seconds } => format!(
                "{}, and {} min is the limit",
                payback_text(*payback_seconds),
                most_seconds / 60
            ),
            Self::NotWorthIt { score_millis } => format!(
                "its score is {}.{:03}, and the policy Balanced needs 0.500",
                score_millis / 1000,
                score_millis % 1000
            ),
            Self::NotReached => "the search was stopped before it came to this node".to_owned(),
        }
    }
}

fn not_cheaper(price: Price, best: Price) -> String {
    match price {
        Price::ZERO => "its price is not known".to_owned(),
        _ => format!("it costs {price} $/h, and what could take its place costs {best}"),
    }
}

impl Ineligible {
    /// The cause by a name that does not change, as in the API.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotManaged => "NotManaged",
            Self::NotInitialized => "NotInitialized",
            Self::BeingDeleted => "BeingDeleted",
            Self::Rebooting => "Rebooting",
            Self::InCommand => "InCommand",
            Self::Nominated => "Nominated",
            Self::DoNotDisruptNode => "DoNotDisruptNode",
            Self::DoNotDisruptPod { .. } => "DoNotDisruptPod",
            Self::PodDisruptionBudget { .. } => "PodDisruptionBudget",
            Self::SeveralPodDisruptionBudgets { .. } => "SeveralPodDisruptionBudgets",
            Self::Budget { .. } => "Budget",
            Self::ConsolidateAfter { .. } => "ConsolidateAfter",
            Self::ConsolidationNever => "ConsolidationNever",
            Self::StaticPool => "StaticPool",
            Self::Unknown => "Unknown",
            Self::ZoneShifted => "ZoneShifted",
        }
    }

    fn summary(&self) -> &'static str {
        match self {
            Self::NotManaged => "not made by a NodePool",
            Self::NotInitialized => "not up yet",
            Self::BeingDeleted => "being deleted already",
            Self::Rebooting => "being rebooted",
            Self::InCommand => "being disrupted already",
            Self::Nominated => "pods that wait are meant for them",
            Self::DoNotDisruptNode => "the node says do-not-disrupt",
            Self::DoNotDisruptPod { .. } => "a pod says do-not-disrupt",
            Self::PodDisruptionBudget { .. } => "a PodDisruptionBudget allows no eviction",
            Self::SeveralPodDisruptionBudgets { .. } => "a pod has several PodDisruptionBudgets",
            Self::Budget { .. } => "the pool's disruption budget allows none",
            Self::ConsolidateAfter { .. } => "within consolidateAfter",
            Self::ConsolidationNever => "consolidateAfter is Never",
            Self::StaticPool => "the pool is static",
            Self::Unknown => "pool, instance type, zone or capacity type not known",
            Self::ZoneShifted => "in a zone that is shifted away from",
        }
    }

    /// The cause in words. `time` prints Unix seconds.
    #[must_use]
    pub fn text(&self, time: impl Fn(i64) -> String) -> String {
        match self {
            Self::NotManaged => "no NodeClaim belongs to it".to_owned(),
            Self::NotInitialized => "it has not come up fully".to_owned(),
            Self::BeingDeleted => "it is being deleted already".to_owned(),
            Self::Rebooting => "it is being rebooted".to_owned(),
            Self::InCommand => "it is being disrupted already".to_owned(),
            Self::Nominated => "pods that wait are meant for it".to_owned(),
            Self::DoNotDisruptNode => {
                "the node has the annotation karpenter.sh/do-not-disrupt".to_owned()
            }
            Self::DoNotDisruptPod { pod } => {
                format!("pod {pod} has the annotation karpenter.sh/do-not-disrupt")
            }
            Self::PodDisruptionBudget { pod, pdb } => {
                format!("the PodDisruptionBudget {pdb} does not let pod {pod} go now")
            }
            Self::SeveralPodDisruptionBudgets { pod } => {
                format!("several PodDisruptionBudgets cover pod {pod}, so it cannot be evicted")
            }
            Self::Budget { until: Some(until) } => {
                format!("the disruption budgets of its pool allow none until {}", time(*until))
            }
            Self::Budget { until: None } => {
                "the disruption budgets of its pool allow none now".to_owned()
            }
            Self::ConsolidateAfter { until } => {
                format!("its pods changed lately; consolidateAfter ends at {}", time(*until))
            }
            Self::ConsolidationNever => "consolidateAfter of its pool is Never".to_owned(),
            Self::StaticPool => "its pool has a fixed number of nodes".to_owned(),
            Self::Unknown => {
                "its pool or instance type is not known, or it has no zone or capacity type"
                    .to_owned()
            }
            Self::ZoneShifted => "the cluster is shifted away from its zone".to_owned(),
        }
    }
}
