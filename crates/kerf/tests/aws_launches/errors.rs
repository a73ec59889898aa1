//! What becomes of launches that EC2 does not carry out.

use std::sync::Arc;

use kerf_engine::condition::{Conditions, READY, Status};
use kerf_engine::event::Failure;
use kerf_engine::time::Time;
use kerf_kube::Provider;
use kerf_model::instance_type::{InstanceType, Offering};
use serde_json::json;

use crate::account::Account;

fn available<'t>(types: &'t [InstanceType], name: &str) -> Vec<&'t Offering> {
    let of_type = types.iter().filter(|it| it.name == name).flat_map(|it| it.offerings.iter());
    of_type.filter(|offering| offering.available).collect()
}

fn is_in(offering: &Offering, capacity_type: &str, zone: &str) -> bool {
    let has = |value: &str| offering.requirements.iter().any(|it| it.values == [value]);
    has(capacity_type) && has(zone)
}

#[tokio::test]
async fn what_is_out_of_stock_is_not_offered_for_a_while() {
    let account = Account::open().await;
    let none = json!({"instance_type": "m5.large", "zone": "us-east-1a", "left": 0});
    account.stand_in.control("POST capacity", &none);
    let mut launch = account.launch_of("uid-1", &["m5.large"], &["on-demand"]);
    let zone = kerf_model::requirement::RequirementEntry::new(
        "topology.kubernetes.io/zone",
        kerf_model::requirement::Operator::In,
        ["us-east-1a"],
    );
    launch.claim.spec.node.requirements.push(zone);
    let failed = account.aws.launch(&launch).await.unwrap_err();
    let Failure::InsufficientCapacity { message } = &failed else { panic!("{failed:?}") };
    assert!(message.contains("m5.large in us-east-1a"), "{message}");
    let types = account.offered().await;
    let left = available(&types, "m5.large");
    assert!(!left.iter().any(|it| is_in(it, "on-demand", "us-east-1a")));
    assert!(left.iter().any(|it| is_in(it, "on-demand", "us-east-1b")));
    assert!(left.iter().any(|it| is_in(it, "spot", "us-east-1a")));
    let page = account.registry.page().finish();
    let metric = "karpenter_cloudprovider_instance_launch_failures_total";
    assert!(page.contains(metric), "{page}");
}

#[tokio::test]
async fn no_capacity_in_one_zone_leads_to_another() {
    let account = Account::open().await;
    for zone in ["us-east-1a", "us-east-1b"] {
        let none = json!({"zone": zone, "left": 0});
        account.stand_in.control("POST capacity", &none);
    }
    let instance = account.launch("uid-1").await.unwrap();
    let zone = &instance.labels["topology.kubernetes.io/zone"];
    assert!(!["us-east-1a", "us-east-1b"].contains(&zone.as_str()), "{zone}");
}

#[tokio::test]
async fn a_permission_that_is_missing_is_named() {
    let account = Account::open().await;
    account.stand_in.deny(&["ec2:CreateFleet"]);
    let failed = account.launch("uid-1").await.unwrap_err();
    let Failure::LaunchRefused { reason, message } = &failed else { panic!("{failed:?}") };
    assert_eq!(reason, "Unauthorized");
    assert!(message.contains("ec2:CreateFleet"), "{message}");
    account.stand_in.deny(&["ec2:CreateLaunchTemplate"]);
    account.launch("uid-2").await.unwrap();
    account.stand_in.deny(&[]);
    account.launch("uid-1").await.unwrap();
    assert_eq!(account.listed().await.len(), 2, "granting it helps");
}

#[tokio::test]
async fn a_class_that_cannot_be_used_launches_nothing() {
    let account = Account::open().await;
    let ready = account.class.as_ref();
    let mut deleted = ready.clone();
    deleted.meta.deleting_since = Some(Time::from_seconds(1));
    let mut new = ready.clone();
    new.status.conditions = Conditions::default();
    let mut bad = ready.clone();
    for condition in bad.status.conditions.0.iter_mut().filter(|it| it.kind == READY) {
        condition.status = Status::False;
        condition.message = "SubnetsReady=False".to_owned();
    }
    let mut failed = Vec::new();
    for class in [None, Some(deleted), Some(new), Some(bad)] {
        let mut launch = account.launch_of("uid-1", &["m5.large"], &["on-demand"]);
        launch.node_class = class.map(Arc::new);
        launch.instance_types = Some(account.offered().await);
        failed.push(account.aws.launch(&launch).await.unwrap_err());
    }
    // Without a class the pods go elsewhere at once; one that is new is waited for.
    let message = |text: &str| text.to_owned();
    let expected = [
        Failure::InsufficientCapacity { message: message("there is no EC2NodeClass default") },
        Failure::InsufficientCapacity { message: message("there is no EC2NodeClass default") },
        Failure::LaunchRefused {
            reason: "NodeClassReadinessUnknown".to_owned(),
            message: message("EC2NodeClass default was not looked at yet"),
        },
        Failure::NodeClassNotReady {
            message: message("EC2NodeClass default is not ready: SubnetsReady=False"),
        },
    ];
    assert_eq!(failed, expected);
    // After a restart types are asked for by the launch itself.
    let mut apart = ready.clone();
    let mut spec = apart.spec.as_ref().clone();
    spec["placementGroupSelector"] = json!({"name": "nobody"});
    (apart.spec, apart.meta.generation) = (Arc::new(spec), apart.meta.generation + 1);
    let mut launch = account.launch_of("uid-1", &["m5.large"], &["on-demand"]);
    launch.node_class = Some(Arc::new(apart));
    let failed = account.aws.launch(&launch).await.unwrap_err();
    let Failure::LaunchRefused { reason, message } = &failed else { panic!("{failed:?}") };
    assert_eq!(reason, "InstanceTypeResolutionFailed");
    assert!(message.contains("placement group"), "{message}");
    assert_eq!(account.count("CreateFleet"), 0);
}
