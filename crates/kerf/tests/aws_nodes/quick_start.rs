//! The quick start of the documentation, to its end.

use serde_json::Value;

use crate::home::CLUSTER;
use crate::objects::{deployment, quick_start};
use crate::place::Place;

#[test]
fn the_pages_quick_start_gives_pods_nodes_and_takes_them_away_again() {
    let place = Place::open();
    place.control_plane.apply(&quick_start()).unwrap();
    let is_ready = |object: &Value| {
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
    };
    place.wait("the class is ready", || place.all("ec2nodeclasses").iter().any(is_ready));
    place.wait("the pool is ready", || place.all("nodepools").iter().any(is_ready));
    place.apply(&[deployment(3)]);
    place.wait("the pods run", || place.running() == 3);
    place.wait("every claim is ready", || place.all("nodeclaims").iter().all(is_ready));

    let nodes = place.all("nodes");
    assert_eq!(place.instances().len(), nodes.len(), "an instance for each node, and no other");
    let capacity_types = place.node_labels("karpenter.sh/capacity-type");
    assert_eq!(capacity_types.into_iter().collect::<Vec<_>>(), ["spot"], "the cheaper one");
    for node in &nodes {
        let id = node["spec"]["providerID"].as_str().unwrap();
        assert!(id.starts_with("aws:///us-east-1"), "{id}");
        let labels = &node["metadata"]["labels"];
        for key in ["topology.k8s.aws/zone-id", "karpenter.k8s.aws/instance-family"] {
            assert!(labels[key].is_string(), "{key}: {labels}");
        }
        let taints = node["spec"]["taints"].to_string();
        assert!(!taints.contains("unregistered"), "{taints}");
    }
    let described = place.aws.ec2("Action=DescribeInstances&Version=2016-11-15");
    for tag in ["karpenter.sh/nodepool", "eks:eks-cluster-name", "karpenter.sh/nodeclaim"] {
        assert!(described.contains(&format!("<key>{tag}</key>")), "{tag}: {described}");
    }
    let page = place.metrics();
    for part in [
        "karpenter_cloudprovider_instance_type_offering_price_estimate{capacity_type=\"spot\"",
        "aws_sdk_go_request_total{service=\"EC2\",action=\"CreateFleet\",code=\"200\"}",
        "aws_sdk_go_request_attempt_total{service=\"SQS\",action=\"ReceiveMessage\",code=\"200\"}",
    ] {
        assert!(page.contains(part), "{part}");
    }

    place.apply(&[deployment(0)]);
    place.wait("empty nodes and their instances go", || {
        place.all("nodeclaims").is_empty() && place.instances().is_empty()
    });
    let arguments = ["delete", "nodepool,ec2nodeclass", "default", "--wait=false"];
    place.control_plane.kubectl(&arguments).unwrap();
    place.wait("the class goes", || place.all("ec2nodeclasses").is_empty());
    let profiles = place.aws.query("iam", "Action=ListInstanceProfiles&Version=2010-05-08");
    // Others of the account have no hash behind the cluster's name.
    let of_class = format!("<InstanceProfileName>{CLUSTER}_");
    assert!(!profiles.contains(&of_class), "its profile goes with it: {profiles}");
    place.close();
}
