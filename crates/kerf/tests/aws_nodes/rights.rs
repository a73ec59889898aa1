//! What the controller is allowed, on AWS and in the cluster, is what it uses: nothing more.

use std::collections::BTreeSet;

use kerf_aws::AwsAction;
use kerf_testbed::{ArcStandIn, FaultProxy};
use serde_json::{Value, json};

use crate::home::CLUSTER;
use crate::objects::{class, class_named, deployment, pool, pool_of};
use crate::place::Place;

const ROLES: &str = include_str!("../../../../deploy/rbac-aws.yaml");
/// A batch needs the permission of the single call.
const BATCH: (&str, &str) = ("sqs:DeleteMessageBatch", "sqs:DeleteMessage");
/// Long enough ago for EC2's checks to mean it.
const IMPAIRED_SECONDS: u32 = 300;

/// A Provisioner of a type that nobody asks for, and its template.
fn legacy() -> [Value; 2] {
    let discovered = json!({"karpenter.sh/discovery": CLUSTER});
    let types = json!(["t3.nano"]);
    [
        json!({"apiVersion": "karpenter.k8s.aws/v1alpha1", "kind": "AWSNodeTemplate",
            "metadata": {"name": "old"}, "spec": {
                "subnetSelector": discovered, "securityGroupSelector": discovered,
                "instanceProfile": "of-old"}}),
        json!({"apiVersion": "karpenter.sh/v1alpha5", "kind": "Provisioner",
            "metadata": {"name": "old"}, "spec": {"providerRef": {"name": "old"},
                "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In",
                    "values": types}]}}),
    ]
}

/// What `deploy/rbac-aws.yaml` grants, as `verb group/resource`.
fn granted() -> BTreeSet<String> {
    let documents: Vec<Value> =
        ROLES.split("\n---\n").map(|text| serde_saphyr::from_str(text).unwrap()).collect();
    let mut granted = BTreeSet::new();
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    for rule in documents.iter().filter_map(|it| it["rules"].as_array()).flatten() {
        for verb in texts(&rule["verbs"]) {
            for group in texts(&rule["apiGroups"]) {
                for resource in texts(&rule["resources"]) {
                    granted.insert(format!("{verb} {group}/{resource}"));
                }
            }
        }
    }
    granted
}

#[test]
fn every_permission_of_the_policies_and_of_the_role_file_is_used_by_a_controllers_life() {
    let arc = ArcStandIn::start().unwrap();
    let zonal_shifts = FaultProxy::start(&arc.endpoint_url()).unwrap();
    let mut place = Place::enter();
    place.variables = vec![
        ("AWS_ENDPOINT_URL_ARC_ZONAL_SHIFT", zonal_shifts.endpoint_url()),
        ("ENABLE_ZONAL_SHIFT", "true".to_owned()),
    ];
    place.start();
    let selecting = json!({
        "capacityReservationSelectorTerms": [{"tags": {"team": "web"}}],
        "placementGroupSelector": {"name": "nobody"},
    });
    let others =
        [class_named("selecting", &selecting), pool_of("other", "selecting", &["c5.large"])];
    place.apply(&others);
    // Kinds of old are told how they are, even where nobody uses them.
    place.apply(&legacy());
    place.apply(&[class(), pool(&["m5.large", "m5a.large"], &["us-east-1a"]), deployment(2)]);
    place.wait("the pods run", || place.running() == 2);
    let first = place.instances();
    let impaired = json!({"instance_id": first.first().unwrap(), "system": "impaired",
        "impaired_seconds": IMPAIRED_SECONDS});
    place.aws.control("POST instances/status", &impaired);
    place.announce(&first.iter().skip(1).cloned().collect());
    place.wait("the announced and the impaired instance are replaced", || {
        let left = place.instances();
        place.running() == 2 && left.len() == 2 && left.is_disjoint(&first)
    });
    let is_told = |kind: &str| place.all(kind).iter().all(|it| it["status"].is_object());
    place.wait("legacy objects are told how they are", || {
        ["provisioners", "awsnodetemplates"].into_iter().all(is_told)
    });
    place.clear();
    let needed: BTreeSet<&str> = AwsAction::ALL.iter().map(|it| it.permission()).collect();
    place.wait("every permission was used", || {
        let used = used(&place, &zonal_shifts);
        needed.iter().all(|it| used.contains(*it))
    });
    let used = used(&place, &zonal_shifts);
    let strange: Vec<&String> = used.iter().filter(|it| !needed.contains(it.as_str())).collect();
    assert_eq!(strange, [""; 0], "calls that no policy allows");

    let mut called: BTreeSet<String> = place.audit().into_iter().map(|(call, _)| call).collect();
    // Servers that do not know streaming lists are asked for lists before they are watched.
    let lists: Vec<_> = called.iter().filter_map(|it| it.strip_prefix("watch ")).collect();
    let lists: Vec<_> = lists.into_iter().map(|resource| format!("list {resource}")).collect();
    called.extend(lists);
    let unused: Vec<String> = granted().into_iter().filter(|it| !called.contains(it)).collect();
    assert_eq!(unused, [""; 0], "rights that no call needs");
    place.close();
}

/// The permissions that were used.
fn used(place: &Place, zonal_shifts: &FaultProxy) -> BTreeSet<String> {
    let mut used = place.called();
    if used.remove(BATCH.0) {
        used.insert(BATCH.1.to_owned());
    }
    if zonal_shifts.passed() > 0 {
        used.insert(AwsAction::GetManagedResource.permission().to_owned());
    }
    used
}
