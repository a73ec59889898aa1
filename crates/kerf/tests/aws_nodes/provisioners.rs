//! Manifests of 2021, typed as the guides of that time print them, served as they are.

use std::process::Command;

use serde_json::{Value, json};

use crate::home::CLUSTER;
use crate::objects::deployment;
use crate::place::Place;

/// The default Provisioner of a guide: no selectors, no image family.
const PROVISIONER: &str = r#"
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata:
  name: default
spec:
  requirements:
    - key: "node.kubernetes.io/instance-type"
      operator: In
      values: ["m5.large", "m5.2xlarge"]
    - key: "topology.kubernetes.io/zone"
      operator: In
      values: ["us-east-1a", "us-east-1b"]
    - key: "kubernetes.io/arch"
      operator: In
      values: ["arm64", "amd64"]
    - key: "karpenter.sh/capacity-type"
      operator: In
      values: ["spot", "on-demand"]
  provider:
    instanceProfile: KarpenterNodeInstanceProfile-tidepool
  ttlSecondsAfterEmpty: 30
"#;

/// What runbooks of that time wait for in the log, in the order it comes first.
const LINES: [&str; 10] = [
    "\tINFO\tcontroller.provisioning\tStarting provisioning loop\t{\"commit\": ",
    "\tINFO\tcontroller.provisioning\tWaiting to batch additional pods\t{\"commit\": ",
    " provisionable pods\t{",
    "\tINFO\tcontroller.provisioning\tComputed packing of ",
    "\tINFO\tcontroller.provisioning\tLaunched instance: i-",
    "\tINFO\tcontroller.provisioning\tBound ",
    "\tINFO\tcontroller.termination\tCordoned node\t{",
    "\tINFO\tcontroller.termination\tDeleted node\t{",
    "\tINFO\tcontroller.node\tAdded TTL to empty node\t{",
    "\tINFO\tcontroller.node\tTriggering termination after 30s for empty node\t{",
];

/// The default Provisioner that another guide applies with kubectl, from a map of requirements.
const OF_MAP: &str = r#"
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata:
  name: default
spec:
  requirements:
    - key: "node.kubernetes.io/instance-type"
      operator: In
      values: ["m5.2xlarge"]
    - key: "topology.kubernetes.io/zone"
      operator: In
      values: ["us-east-1c"]
    - key: "kubernetes.io/arch"
      operator: In
      values: ["amd64"]
    - key: "karpenter.sh/capacity-type"
      operator: In
      values: ["spot", "on-demand"]
    - key: "kubernetes.io/os"
      operator: In
      values: ["linux"]
  provider:
    instanceProfile: KarpenterNodeInstanceProfile-tidepool
  ttlSecondsAfterEmpty: 30
"#;

impl Place {
    /// What Terraform made in those days: an instance profile, and the cluster's tag on its network.
    fn make_legacy_network(&self) {
        let profile = format!("InstanceProfileName=KarpenterNodeInstanceProfile-{CLUSTER}");
        let iam = |call: &str| self.aws.query("iam", &format!("Version=2010-05-08&{call}"));
        // Tests share the account.
        if !iam("Action=ListInstanceProfiles").contains("KarpenterNodeInstanceProfile-") {
            iam(&format!("Action=CreateInstanceProfile&{profile}"));
            let role = format!("RoleName=KarpenterNodeRole-{CLUSTER}");
            iam(&format!("Action=AddRoleToInstanceProfile&{profile}&{role}"));
        }
        let subnets = self.made.subnets.iter().map(|subnet| &subnet.id);
        for id in subnets.chain(&self.made.security_groups) {
            let tag = format!("Tag.1.Key=kubernetes.io%2Fcluster%2F{CLUSTER}&Tag.1.Value=owned");
            let call = format!("Action=CreateTags&Version=2016-11-15&ResourceId.1={id}&{tag}");
            self.aws.ec2(&call);
        }
    }

    fn provisioner(&self) -> Value {
        self.all("provisioners").remove(0)
    }
}

fn is_active(provisioner: &Value) -> bool {
    let conditions = provisioner["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().any(|one| one["type"] == "Active" && one["status"] == "True")
}

#[test]
fn a_provisioner_of_2021_gives_pods_nodes_and_takes_them_away_after_its_seconds() {
    let mut place = Place::enter();
    place.variables = vec![("KERF_LOG_FORMAT", "legacy".to_owned())];
    place.start();
    place.make_legacy_network();
    place.control_plane.apply(PROVISIONER).unwrap();
    place.wait("the Provisioner is active", || is_active(&place.provisioner()));
    let applied = place.provisioner();
    place.apply(&[deployment(10)]);
    place.wait("the pods run", || place.running() == 10);
    let names = place.node_labels("karpenter.sh/provisioner-name");
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["default"]);
    for claim in place.all("nodeclaims") {
        let owner = &claim["metadata"]["ownerReferences"][0];
        assert_eq!(owner["kind"], "Provisioner", "{claim}");
        assert_eq!(owner["uid"], applied["metadata"]["uid"], "{claim}");
    }
    place.wait("the status counts what there is", || {
        let status = &place.provisioner()["status"];
        status["resources"]["nodes"] == json!(place.all("nodes").len().to_string())
            && status["lastScaleTime"].is_string()
    });

    let node = place.all("nodes").remove(0);
    let name = node["metadata"]["name"].as_str().unwrap();
    place.control_plane.kubectl(&["delete", "node", name, "--wait=false"]).unwrap();
    let instance = node["spec"]["providerID"].as_str().unwrap().rsplit('/').next().unwrap();
    place.wait("the node's instance ends, and its pods run elsewhere", || {
        !place.instances().contains(instance) && place.running() == 10
    });

    place.apply(&[deployment(0)]);
    place.wait("empty nodes and their instances go", || {
        place.all("nodeclaims").is_empty() && place.instances().is_empty()
    });
    place.wait("the log says so in the words of that time", || {
        let log = place.log();
        LINES.iter().all(|line| log.contains(line))
    });
    let left = place.provisioner();
    assert_eq!(left["spec"], applied["spec"], "it is never changed");
    let unchanged = ["uid", "generation", "annotations", "finalizers"];
    for field in unchanged {
        assert_eq!(left["metadata"][field], applied["metadata"][field], "{field}");
    }
    assert_eq!(place.all("nodepools"), [Value::Null; 0], "nothing is made in its place");
    place.close();
}

#[test]
fn a_map_of_requirements_gives_the_provisioner_of_the_guide_and_its_one_kind_of_node() {
    let mut kerf = Command::new(env!("CARGO_BIN_EXE_kerf"));
    kerf.args(["install", "--print=yaml", "--legacy", "--cluster", CLUSTER]);
    for requirement in [
        "node.kubernetes.io/instance-type=m5.2xlarge",
        "topology.kubernetes.io/zone=us-east-1c",
        "kubernetes.io/arch=amd64",
        "karpenter.sh/capacity-type=spot,on-demand",
    ] {
        kerf.args(["--requirement", requirement]);
    }
    let printed = String::from_utf8(kerf.output().unwrap().stdout).unwrap();
    let made = printed.split("\n---\n").find(|text| text.contains("\nkind: Provisioner\n"));
    let made: Value = serde_saphyr::from_str(made.unwrap()).unwrap();
    let typed: Value = serde_saphyr::from_str(OF_MAP).unwrap();
    assert_eq!(made, typed);

    let place = Place::open();
    place.make_legacy_network();
    place.control_plane.apply(&made.to_string()).unwrap();
    place.apply(&[deployment(1)]);
    place.wait("the pod runs", || place.running() == 1);
    for (label, value) in [
        ("node.kubernetes.io/instance-type", "m5.2xlarge"),
        ("topology.kubernetes.io/zone", "us-east-1c"),
        ("karpenter.sh/provisioner-name", "default"),
    ] {
        assert_eq!(place.node_labels(label).into_iter().collect::<Vec<_>>(), [value]);
    }
    place.close();
}
