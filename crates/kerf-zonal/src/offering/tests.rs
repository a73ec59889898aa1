//! What a cloud offers while zones are shifted.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use kerf_engine::observed::{ClaimStatus, Meta, Revision};
use kerf_model::claim::NodeClaim;
use kerf_model::duration::NillableDuration;
use kerf_model::node_spec::{NodeClassRef, NodeSpec};

use super::*;

fn zones(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The zones in which something is available.
fn available(types: &[InstanceType]) -> BTreeSet<String> {
    let offerings = types.iter().flat_map(|it| &it.offerings).filter(|offering| offering.available);
    let entries = offerings.flat_map(|offering| &*offering.requirements);
    entries.filter(|entry| entry.key == ZONE).flat_map(|entry| entry.values.clone()).collect()
}

#[test]
fn nothing_is_available_in_shifted_zones_and_everything_stays_known() {
    let types: Arc<[InstanceType]> = kerf_catalog::kwok().into();
    let all = available(&types);
    assert!(all.contains("test-zone-a") && all.len() > 2, "{all:?}");
    let left = offered(types.clone(), &zones(&["test-zone-a", "test-zone-b"]));
    assert_eq!(left.len(), types.len());
    let count = |types: &[InstanceType]| types.iter().map(|it| it.offerings.len()).sum::<usize>();
    assert_eq!(count(&left), count(&types), "prices of what cannot be had are still told");
    let expected = all.iter().filter(|zone| !["test-zone-a", "test-zone-b"].contains(&&***zone));
    assert_eq!(available(&left), expected.cloned().collect());
    assert!(Arc::ptr_eq(&offered(types.clone(), &zones(&[])), &types), "no copy for nothing");
}

#[test]
fn a_claim_that_allows_a_shifted_zone_is_launched_in_another() {
    let claim = Claim {
        meta: Meta {
            name: Arc::from("web-x7k2p"),
            uid: Arc::from("u1"),
            revision: Revision(1),
            generation: 1,
            created_at: Time::default(),
            deleting_since: None,
        },
        spec: NodeClaim {
            name: "web-x7k2p".to_owned(),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            node: NodeSpec {
                requirements: vec![RequirementEntry::new(ZONE, Operator::In, ["a", "b"])],
                taints: Vec::new(),
                startup_taints: Vec::new(),
                node_class: NodeClassRef {
                    group: "karpenter.kwok.sh".to_owned(),
                    kind: "KWOKNodeClass".to_owned(),
                    name: "default".to_owned(),
                },
                termination_grace: None,
                expire_after: NillableDuration::NEVER,
            },
            requests: std::iter::empty::<(&str, kerf_model::quantity::Quantity)>().collect(),
        },
        finalizers: Vec::new(),
        owner_pool: None,
        status: ClaimStatus::default(),
    };
    assert_eq!(narrowed(&claim, &zones(&[])), claim);
    let narrowed = narrowed(&claim, &zones(&["a"]));
    assert_eq!(
        narrowed.spec.node.requirements[1],
        RequirementEntry::new(ZONE, Operator::NotIn, ["a"])
    );
}
