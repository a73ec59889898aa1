//! What is found for a class.

use kerf_aws::provider::AwsSettings;
use kerf_engine::provider::Allowed;
use serde_json::{Value, json};

use crate::account::Account;

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_quick_starts_class_is_found_whole() {
    let account = Account::open().await;
    let mut class = account.class("default", &json!({}));
    let conditions = account.resolve(&mut class).await;
    assert_eq!(conditions.lacking(), [""; 0], "{conditions:?}");
    let kinds: Vec<&str> = conditions.found.conditions.iter().map(|it| it.kind.as_str()).collect();
    let order = [
        "AMIsReady",
        "CapacityReservationsReady",
        "PlacementGroupReady",
        "SubnetsReady",
        "SecurityGroupsReady",
        "InstanceProfileReady",
        "ValidationSucceeded",
    ];
    assert_eq!(kinds, order);
    let status = &*class.status.resolved;
    let mut subnets = ids(&status["subnets"]);
    subnets.sort_unstable();
    let mut expected: Vec<&str> = account.made.subnets.iter().map(|it| it.id.as_str()).collect();
    expected.sort_unstable();
    assert_eq!(subnets, expected);
    assert!(status["subnets"][0]["zoneID"].is_string(), "{status}");
    assert_eq!(ids(&status["securityGroups"]), account.made.security_groups);
    assert_eq!(status["amis"].as_array().unwrap().len(), 5, "{status}");
    assert!(status.get("conditions").is_none(), "{status}");
    let rules: Vec<&str> =
        conditions.found.drift_rules.iter().map(|it| it.reason.as_str()).collect();
    let drift = [
        "AMIDrift",
        "SecurityGroupDrift",
        "SubnetDrift",
        "CapacityReservationDrift",
        "PlacementGroupDrift",
    ];
    assert_eq!(rules, drift);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_is_kept_for_a_minute_and_looked_for_anew_for_another_spec() {
    let account = Account::open().await;
    let mut class = account.class("default", &json!({}));
    account.resolve(&mut class).await;
    account.stand_in.forget_calls();
    account.resolve(&mut class).await;
    assert_eq!(account.stand_in.calls(), [], "nothing is asked twice within a minute");
    class.meta.generation += 1;
    account.resolve(&mut class).await;
    assert_eq!(account.count("DescribeSubnets"), 1);
    assert_eq!(account.count("DescribeSecurityGroups"), 1);
    assert_eq!(account.count("DescribeImages"), 1);
    assert_eq!(account.count("GetParameter"), 0, "an alias stays good for a day");
    assert_eq!(account.count("GetInstanceProfile"), 0, "a profile for a quarter of an hour");
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_found_by_alias_id_name_tags_and_parameter() {
    let account = Account::open().await;
    let root = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard";
    let parameter = format!("{root}/recommended/image_id");
    let asked = json!({"Name": parameter});
    let image = account.stand_in.json("ssm", "AmazonSSM.GetParameter", &asked);
    let image = image["Parameter"]["Value"].as_str().unwrap().to_owned();
    account.stand_in.ec2(&format!(
        "Action=CreateTags&Version=2016-11-15&ResourceId.1={image}&Tag.1.Key=team&Tag.1.Value=web"
    ));
    let by_id = json!([{"id": image}]);
    let terms = [
        json!([{"alias": "al2023@v20260107"}]),
        by_id.clone(),
        json!([{"tags": {"team": "*"}}]),
        json!([{"ssmParameter": parameter}]),
        json!([{"name": "amazon-eks-node-al2023-arm64-standard-1.36-*", "owner": "602401143452"}]),
    ];
    for (number, terms) in terms.iter().enumerate() {
        let spec = json!({"amiFamily": "AL2023", "amiSelectorTerms": terms});
        let mut class = account.class(&format!("class-{number}"), &spec);
        let conditions = account.resolve(&mut class).await;
        assert_eq!(conditions.lacking(), [""; 0], "{terms}: {conditions:?}");
        let amis = &class.status.resolved["amis"];
        match number {
            0 => assert_eq!(amis.as_array().unwrap().len(), 5, "{amis}"),
            _ => {
                assert_eq!(ids(amis), [image.as_str()], "{terms}");
                assert_eq!(
                    amis[0]["requirements"],
                    json!([
                        {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]},
                    ])
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_image_is_flagged_and_its_successor_found_without_waiting_a_day() {
    let account = Account::open().await;
    let mut class = account.class("default", &json!({}));
    account.resolve(&mut class).await;
    let before = class.status.resolved["amis"].clone();
    for image in ids(&before) {
        let old = json!({"image_id": image, "at": "2026-01-01T00:00:00.000Z"});
        account.stand_in.control("POST images/deprecate", &old);
    }
    class.meta.generation += 1;
    let conditions = account.resolve(&mut class).await;
    assert_eq!(conditions.lacking(), [""; 0], "it is used as long as there is no other");
    assert_eq!(class.status.resolved["amis"][0]["deprecated"], true);
    let release = json!({"family": "al2023", "version": "v20260301"});
    account.stand_in.control("POST images/release", &release);
    class.meta.generation += 1;
    let conditions = account.resolve(&mut class).await;
    let after = &class.status.resolved["amis"];
    assert!(after[0].get("deprecated").is_none(), "{after}");
    assert!(ids(after).iter().all(|id| !ids(&before).contains(id)), "{after}");
    let rule = &conditions.found.drift_rules[0];
    let Allowed::FirstFit(choices) = &rule.allowed else { panic!("{rule:?}") };
    assert_eq!(choices.len(), 5, "{choices:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_dry_runs_nothing_is_tried() {
    let settings = AwsSettings { is_dry_run: false, ..AwsSettings::default() };
    let account = Account::open_with(settings).await;
    let mut class = account.class("default", &json!({}));
    assert_eq!(account.resolve(&mut class).await.lacking(), [""; 0]);
    assert_eq!(account.count("CreateLaunchTemplate"), 0);
    assert_eq!(account.count("RunInstances"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn reservations_are_found_by_id_tags_and_criteria() {
    let account = Account::open().await;
    let reserve = |id: &str, otherwise: &Value| {
        let zone = &account.made.subnets[0].zone;
        let mut asked = json!({"id": id, "instance_type": "m5.large", "zone": zone, "count": 2});
        for (field, value) in otherwise.as_object().unwrap() {
            asked[field] = value.clone();
        }
        account.stand_in.control("POST reservations", &asked);
    };
    reserve("cr-1", &json!({"tags": {"team": "web"}}));
    reserve("cr-2", &json!({"match": "open"}));
    reserve("cr-3", &json!({"interruptible": true}));
    reserve("cr-4", &json!({"tags": {"team": "web"}, "state": "expired"}));
    let terms = |terms: Value| json!({"capacityReservationSelectorTerms": terms});
    for (name, spec, expected) in [
        ("tags", terms(json!([{"tags": {"team": "*"}}])), vec!["cr-1"]),
        ("criteria", terms(json!([{"instanceMatchCriteria": "open"}])), vec!["cr-2"]),
        (
            "ids",
            terms(json!([{"id": "cr-3"}, {"id": "cr-1"}, {"id": "cr-9"}])),
            vec!["cr-1", "cr-3"],
        ),
        ("owner", terms(json!([{"tags": {"team": "web"}, "ownerID": "999999999999"}])), vec![]),
    ] {
        let mut class = account.class(name, &spec);
        let conditions = account.resolve(&mut class).await;
        assert_eq!(conditions.lacking(), [""; 0], "{name}: {conditions:?}");
        let found = &class.status.resolved["capacityReservations"];
        assert_eq!(if found.is_null() { vec![] } else { ids(found) }, expected, "{name}");
        if name == "ids" {
            assert_eq!(
                (&found[1]["interruptible"], &found[1]["state"]),
                (&json!(true), &json!("active"))
            );
            assert_eq!(found[0]["reservationType"], "default");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reservations_are_not_asked_for_while_their_gate_is_off() {
    let settings = AwsSettings { uses_reserved_capacity: false, ..AwsSettings::default() };
    let account = Account::open_with(settings).await;
    let spec = json!({"capacityReservationSelectorTerms": [{"id": "cr-1"}]});
    let mut class = account.class("default", &spec);
    let conditions = account.resolve(&mut class).await;
    assert!(!conditions.all.contains_key("CapacityReservationsReady"), "{conditions:?}");
    assert_eq!(account.count("DescribeCapacityReservations"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_placement_group_is_found_by_name_and_id_and_instances_outside_it_drift() {
    let account = Account::open().await;
    let made = account.stand_in.ec2(
        "Action=CreatePlacementGroup&Version=2016-11-15&GroupName=racks&Strategy=partition\
         &PartitionCount=3",
    );
    let id = made.split("<groupId>").nth(1).unwrap().split('<').next().unwrap();
    for (name, selector) in [("by-name", json!({"name": "racks"})), ("by-id", json!({"id": id}))] {
        let mut class = account.class(name, &json!({"placementGroupSelector": selector}));
        let conditions = account.resolve(&mut class).await;
        assert_eq!(conditions.lacking(), [""; 0], "{name}: {conditions:?}");
        let rule = conditions.found.drift_rules.last().unwrap();
        let expected = Allowed::AllOf([id.to_owned()].into());
        assert_eq!((rule.reason.as_str(), &rule.allowed), ("PlacementGroupDrift", &expected));
    }
    for selector in [json!({"name": "nobody"}), json!({"id": "pg-0123456789abcdef0"})] {
        let mut class = account.class("bad", &json!({"placementGroupSelector": selector}));
        class.meta.uid = selector.to_string().into();
        let conditions = account.resolve(&mut class).await;
        assert_eq!(conditions.lacking(), ["PlacementGroupReady=False PlacementGroupNotFound"]);
        let message = conditions.message("PlacementGroupReady");
        assert!(message.contains("spec.placementGroupSelector"), "{message}");
        let rules: Vec<&str> =
            conditions.found.drift_rules.iter().map(|it| it.reason.as_str()).collect();
        assert!(!rules.contains(&"PlacementGroupDrift"), "{rules:?}");
    }
    account.stand_in.deny(&["ec2:DescribePlacementGroups"]);
    let mut class = account.class("denied", &json!({"placementGroupSelector": {"name": "racks"}}));
    let conditions = account.resolve(&mut class).await;
    assert_eq!(conditions.lacking(), ["PlacementGroupReady=False PlacementGroupResolutionFailed"]);
    let message = conditions.message("PlacementGroupReady");
    assert!(message.contains("ec2:DescribePlacementGroups"), "{message}");
}
