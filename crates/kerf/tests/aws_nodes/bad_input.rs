//! Classes that cannot work say so, with the field, and hold up no other.

use serde_json::{Value, json};

use crate::objects::{class, class_named, deployment, pod_in, pool, pool_of};
use crate::place::Place;

/// An image that runs on arm64 alone.
const ARM_IMAGE: &str =
    "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard/recommended/image_id";

/// A class said otherwise, the condition and reason it gets, and a piece of the message.
fn bad_classes() -> Vec<(&'static str, Value, [&'static str; 3])> {
    let bottlerocket = json!([{"alias": "bottlerocket@latest"}]);
    vec![
        (
            "unmergeable",
            json!({"amiSelectorTerms": bottlerocket, "userData": "[settings"}),
            ["ValidationSucceeded", "InvalidUserData", "spec.userData"],
        ),
        (
            "no-subnets",
            json!({"subnetSelectorTerms": [{"tags": {"team": "nobody"}}]}),
            ["SubnetsReady", "SubnetsNotFound", "SubnetSelector did not match any Subnets"],
        ),
        (
            "no-alias",
            json!({"amiSelectorTerms": [{"alias": "al2023@v19990101"}]}),
            ["AMIsReady", "AMINotFound", "al2023@v19990101"],
        ),
        (
            "no-role",
            json!({"role": "nobody"}),
            ["InstanceProfileReady", "RoleNotFound", "spec.role: there is no role nobody"],
        ),
        (
            "unsupported",
            json!({"amiSelectorTerms": bottlerocket, "kubelet": {"podsPerCore": 4}}),
            ["ValidationSucceeded", "UnsupportedKubeletConfiguration", "spec.kubelet.podsPerCore"],
        ),
    ]
}

/// What the API server does not take, and what it says.
fn refused_classes() -> [(&'static str, Value, &'static str); 2] {
    [
        (
            "restricted-tag",
            json!({"tags": {"karpenter.sh/nodepool": "mine"}}),
            "spec.tags: Invalid value: tag karpenter.sh/nodepool is restricted",
        ),
        ("out-of-range", json!({"kubelet": {"podsPerCore": -1}}), "spec.kubelet.podsPerCore"),
    ]
}

#[test]
fn classes_that_cannot_work_say_why_and_hold_up_no_other() {
    let place = Place::open();
    let bad = bad_classes();
    let mut objects: Vec<Value> = Vec::new();
    for (name, otherwise, _) in &bad {
        objects.extend([class_named(name, otherwise), pool_of(name, name, &["m5.large"])]);
    }
    let terms = json!([{"ssmParameter": ARM_IMAGE}]);
    let arm = json!({"amiFamily": "AL2023", "amiSelectorTerms": terms});
    objects.extend([class_named("arm", &arm), pool_of("arm", "arm", &["m5.large"])]);
    objects.push(pod_in("arm"));
    let mut good = pool(&["m5.large"], &["us-east-1a"]);
    // Asked before the pool whose class is ready and whose images run nowhere.
    good["spec"]["weight"] = json!(10);
    objects.extend([class(), good, deployment(1)]);
    place.apply(&objects);
    for (name, otherwise, words) in refused_classes() {
        let class = class_named(name, &otherwise).to_string();
        let refusal = place.control_plane.apply(&class).unwrap_err().to_string();
        assert!(refusal.contains(words), "{refusal}");
    }
    place.wait("the pod runs", || place.running() == 1);
    let nodes = place.node_labels("karpenter.sh/nodepool");
    assert_eq!(nodes.into_iter().collect::<Vec<_>>(), ["default"]);
    for (name, _, [condition, reason, message]) in &bad {
        let is_told = || {
            let classes = place.all("ec2nodeclasses");
            let class = classes.iter().find(|it| it["metadata"]["name"] == *name).unwrap();
            let conditions = class["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.iter().any(|it| {
                it["type"] == *condition
                    && it["status"] != "True"
                    && it["reason"] == *reason
                    && it["message"].as_str().is_some_and(|text| text.contains(message))
            })
        };
        place.wait(&format!("{name} says {condition}={reason}, and {message}"), is_told);
    }
    // A pod that insists on images that cannot run there waits; nothing is tried for it.
    place.wait("the log names the class and a type", || {
        let words = ["no image of the EC2NodeClass runs on these", "\"class\":\"arm\""];
        place.log().lines().any(|line| words.iter().all(|word| line.contains(word)))
    });
    let pools = place.all("nodeclaims");
    let pools: Vec<&Value> =
        pools.iter().map(|it| &it["metadata"]["labels"]["karpenter.sh/nodepool"]).collect();
    assert_eq!(pools, ["default"], "no claim that could only fail");
    place.close();
}
