//! When a simulated node counts as unhealthy. Names and times are those of Karpenter's kwok provider.

use kerf_engine::condition::{READY, Status};
use kerf_engine::provider::RepairPolicy;
use kerf_engine::time::Span;

/// How long the kubelet of a node may be silent.
const UNREADY_FOR: Span = Span::from_minutes(10);
/// How long a condition may hold that only tests set.
const UNHEALTHY_FOR: Span = Span::from_seconds(30);

/// The conditions of tests, and how long pods then have to leave. Nodes are not rebooted: one that
/// asks for it is replaced.
const OF_TESTS: [(&str, Span); 2] =
    [("KWOKUnhealthy", Span::from_seconds(45)), ("KWOKRebootRequired", Span::from_minutes(1))];

/// The policies.
pub(crate) fn policies() -> Vec<RepairPolicy> {
    let unready = |status| RepairPolicy {
        condition: READY.to_owned(),
        status,
        toleration: UNREADY_FOR,
        drain_within: Some(Span::default()),
        priority: 0,
    };
    let of_tests = |(condition, drain_within): (&str, Span)| RepairPolicy {
        condition: condition.to_owned(),
        status: Status::True,
        toleration: UNHEALTHY_FOR,
        drain_within: Some(drain_within),
        priority: 0,
    };
    let unready = [Status::False, Status::Unknown].map(unready);
    unready.into_iter().chain(OF_TESTS.map(of_tests)).collect()
}
