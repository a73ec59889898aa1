//! When a simulated node counts as unhealthy. Names and times are those of Karpenter's kwok provider.

use kerf_engine::condition::{READY, Status};
use kerf_engine::provider::{RepairAction, RepairPolicies, RepairPolicy};
use kerf_engine::time::Span;

/// How long the kubelet of a node may be silent.
const UNREADY_FOR: Span = Span::from_minutes(10);
/// How long a condition may hold that only tests set.
const UNHEALTHY_FOR: Span = Span::from_seconds(30);
/// Any reason.
const ANY: &str = ".*";

/// The conditions of tests, how long pods then have to leave, and what is done about them.
const OF_TESTS: [(&str, Span, RepairAction); 2] = [
    ("KWOKUnhealthy", Span::from_seconds(45), RepairAction::ReplaceNode),
    ("KWOKRebootRequired", Span::from_minutes(1), RepairAction::RebootNode),
];

/// The policies.
pub(crate) fn policies() -> RepairPolicies {
    // One of them must be for reasons that no other is for.
    let unready = |(status, reason): (Status, &str)| RepairPolicy {
        condition: READY.to_owned(),
        status,
        reason: reason.to_owned(),
        toleration: UNREADY_FOR,
        drain_within: Some(Span::default()),
        priority: 0,
        action: RepairAction::ReplaceNode,
    };
    let of_tests = |(condition, drain_within, action): (&str, Span, RepairAction)| RepairPolicy {
        condition: condition.to_owned(),
        status: Status::True,
        reason: ANY.to_owned(),
        toleration: UNHEALTHY_FOR,
        drain_within: Some(drain_within),
        priority: 0,
        action,
    };
    let unready = [(Status::False, ""), (Status::Unknown, ANY)].map(unready);
    let policies = unready.into_iter().chain(OF_TESTS.map(of_tests)).collect();
    RepairPolicies::new(policies).expect("they make sense together")
}
