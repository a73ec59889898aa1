//! Choosing instances and making nodes of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::action::Launch;
use kerf_engine::event::Failure;
use kerf_engine::observed::{Claim, ClaimStatus, Meta, Revision};
use kerf_engine::time::Time;
use kerf_model::claim::NodeClaim;
use kerf_model::duration::NillableDuration;
use kerf_model::labels::{LabelRules, kwok};
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};

use crate::choice::choose;
use crate::node;

fn claim(uid: &str, requirements: Vec<RequirementEntry>) -> Claim {
    let labels = BTreeMap::from([("karpenter.sh/nodepool".to_owned(), "default".to_owned())]);
    Claim {
        meta: Meta {
            name: Arc::from("default-x7k2p"),
            uid: Arc::from(uid),
            revision: Revision(1),
            generation: 1,
            created_at: Time::default(),
            deleting_since: None,
        },
        spec: NodeClaim {
            name: "default-x7k2p".to_owned(),
            labels,
            annotations: BTreeMap::new(),
            node: NodeSpec {
                requirements,
                taints: Vec::new(),
                startup_taints: Vec::new(),
                node_class: NodeClassRef {
                    group: kwok::DOMAIN.to_owned(),
                    kind: "KWOKNodeClass".to_owned(),
                    name: "default".to_owned(),
                },
                termination_grace: None,
                expire_after: NillableDuration::NEVER,
            },
            requests: [("cpu", Quantity::from_int(3))].into_iter().collect(),
        },
        finalizers: Vec::new(),
        owner_pool: None,
        status: ClaimStatus::default(),
    }
}

fn launch(claim: Claim) -> Launch {
    Launch { claim, node_class: None, instance_types: None }
}

fn any_of(key: &str, values: &[&str]) -> RequirementEntry {
    RequirementEntry::new(key, Operator::In, values.iter().copied())
}

fn types_and_spot() -> Vec<RequirementEntry> {
    vec![
        any_of(
            "node.kubernetes.io/instance-type",
            &["m-4x-amd64-linux", "c-4x-amd64-linux", "c-2x-amd64-linux"],
        ),
        any_of("karpenter.sh/capacity-type", &["spot"]),
    ]
}

fn rules() -> LabelRules {
    LabelRules::core().with(&kwok::provider_labels())
}

#[test]
fn the_cheapest_instance_that_holds_the_pods_is_chosen() {
    let types = kerf_catalog::kwok();
    let choice = choose(&launch(claim("u1", types_and_spot())), &types, &rules()).unwrap();
    assert_eq!(choice.instance_type.name, "c-4x-amd64-linux");
    let capacity_type = &choice.offering.requirements[0];
    assert_eq!(capacity_type.values, ["spot"]);
}

#[test]
fn the_same_claim_always_gets_the_same_instance_and_others_spread_over_equals() {
    let types = kerf_catalog::kwok();
    let zone = |uid: &str| {
        let launch = launch(claim(uid, types_and_spot()));
        let choice = choose(&launch, &types, &rules()).unwrap();
        choice.offering.requirements[1].values[0].clone()
    };
    assert_eq!(zone("u1"), zone("u1"));
    let zones: std::collections::BTreeSet<String> =
        (0..64).map(|number| zone(&format!("uid-{number}"))).collect();
    assert_eq!(zones.len(), 4, "{zones:?}");
    assert_eq!(node::name(&claim("u1", Vec::new())), node::name(&claim("u1", Vec::new())));
    assert_ne!(node::name(&claim("u1", Vec::new())), node::name(&claim("u2", Vec::new())));
}

#[test]
fn a_claim_that_names_impossible_types_or_none_without_a_pool_is_refused() {
    let types = kerf_catalog::kwok();
    let nothing = choose(&launch(claim("u1", Vec::new())), &types, &rules()).err().unwrap();
    assert!(matches!(nothing, Failure::LaunchRefused { .. }), "{nothing:?}");
    let mut of_static_pool = launch(claim("u1", Vec::new()));
    of_static_pool.instance_types = Some(types.clone().into());
    let choice = choose(&of_static_pool, &types, &rules()).unwrap();
    assert!(
        !node::make(&of_static_pool.claim, &choice).status.unwrap().capacity.unwrap().is_empty()
    );
    let too_small = vec![any_of("node.kubernetes.io/instance-type", &["c-2x-amd64-linux"])];
    let none = choose(&launch(claim("u1", too_small)), &types, &rules()).err().unwrap();
    assert!(matches!(none, Failure::InsufficientCapacity { .. }), "{none:?}");
}

#[test]
fn a_node_carries_the_labels_tools_look_for() {
    let types = kerf_catalog::kwok();
    let claim = claim("u1", types_and_spot());
    let choice = choose(&launch(claim.clone()), &types, &rules()).unwrap();
    let made = node::make(&claim, &choice);
    let labels = made.metadata.labels.as_ref().unwrap();
    let expected = [
        ("karpenter.sh/nodepool", "default"),
        ("karpenter.sh/capacity-type", "spot"),
        ("node.kubernetes.io/instance-type", "c-4x-amd64-linux"),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/hostname", "default-x7k2p"),
        ("karpenter.kwok.sh/instance-cpu", "4"),
        ("karpenter.kwok.sh/instance-family", "c"),
        ("kwok.x-k8s.io/node", "fake"),
        ("kwok-partition", "a"),
        ("eks-node-viewer/instance-price", "0.076013"),
    ];
    for (key, value) in expected {
        assert_eq!(labels.get(key).map(String::as_str), Some(value), "{key}");
    }
    let status = made.status.as_ref().unwrap();
    assert_eq!(status.capacity.as_ref().unwrap()["cpu"].0, "3", "what the pods ask for");
    assert_eq!(status.allocatable.as_ref().unwrap()["cpu"].0, "3900m", "what the type has");
    let instance = node::instance(&made);
    assert!(instance.provider_id.starts_with("kwok://kwok-default-x7k2p-"));
    assert_eq!(instance.claim.as_deref(), Some("default-x7k2p"));
    assert!(node::is_ours(&made));
}
