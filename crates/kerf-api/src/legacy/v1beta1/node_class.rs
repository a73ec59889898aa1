//! An EC2NodeClass of `v1beta1` to one of `v1`.

use serde_json::{Value, json};

use super::kubelet::ClassPlan;
use super::{BetaObject, fields};
use crate::legacy::finding::{Findings, Kind};

/// Says which parts of a class stand in for the Ubuntu family, which is no more.
const UBUNTU_ANNOTATION: &str = "compatibility.karpenter.k8s.aws/v1beta1-ubuntu";

pub(super) fn convert(class: &mut BetaObject<'_>, plan: &ClassPlan) -> Option<Value> {
    let mut draft = class.draft();
    draft["metadata"]["name"] = plan.name.clone().into();
    // A copy has the same faults as the class itself.
    let mut findings = Findings::about(Kind::EC2NodeClass, &class.name);
    images(class.value, &mut draft, &mut findings);
    if plan.name == class.name {
        class.findings.append(findings);
    }
    let spec = fields(&mut draft, "spec");
    let given = spec.remove("metadataOptions").unwrap_or_default();
    spec.insert("metadataOptions".to_owned(), metadata_options(&given));
    if let Some(kubelet) = &plan.kubelet {
        spec.insert("kubelet".to_owned(), kubelet.clone());
    }
    class.finish(draft)
}

/// Without terms the family alone said which image, as an alias does now.
fn images(class: &Value, draft: &mut Value, findings: &mut Findings) {
    let family = class["spec"]["amiFamily"].as_str().unwrap_or("Custom");
    let terms = class["spec"]["amiSelectorTerms"].as_array();
    let has_terms = terms.is_some_and(|terms| !terms.is_empty());
    match (family, has_terms) {
        ("Ubuntu", false) => findings.error(
            "spec.amiFamily",
            "Ubuntu images are no longer found by family; name the images in amiSelectorTerms and \
             convert again",
        ),
        ("Ubuntu", true) => stand_in_for_ubuntu(draft),
        ("Custom", false) => findings.error(
            "spec.amiSelectorTerms",
            "says which images to use, and without it a class of the family Custom has none",
        ),
        (_, true) => {}
        (family, false) => {
            if family == "AL2" {
                let message = "becomes the image alias al2@latest, which exists up to Kubernetes \
                               1.32; move to al2023@latest before upgrading the cluster";
                findings.warning("spec.amiFamily", message);
            }
            let alias = format!("{}@latest", family.to_ascii_lowercase());
            let spec = fields(draft, "spec");
            spec.remove("amiFamily");
            spec.insert("amiSelectorTerms".to_owned(), json!([{ "alias": alias }]));
        }
    }
}

/// Ubuntu images start with the script of AL2; only their root disk has another name.
fn stand_in_for_ubuntu(draft: &mut Value) {
    let mut stand_ins = "amiFamily".to_owned();
    let spec = fields(draft, "spec");
    spec.insert("amiFamily".to_owned(), "AL2".into());
    if !spec.contains_key("blockDeviceMappings") {
        stand_ins.push_str(",blockDeviceMappings");
        let ebs = json!({ "encrypted": true, "volumeType": "gp3", "volumeSize": "20Gi" });
        let root = json!([{ "deviceName": "/dev/sda1", "rootVolume": true, "ebs": ebs }]);
        spec.insert("blockDeviceMappings".to_owned(), root);
    }
    let annotations = fields(&mut draft["metadata"], "annotations");
    annotations.insert(UBUNTU_ANNOTATION.to_owned(), stand_ins.into());
}

/// All four settings in full, with the old defaults: today's hop limit is 1.
fn metadata_options(given: &Value) -> Value {
    let mut options = json!({
        "httpEndpoint": "enabled",
        "httpProtocolIPv6": "disabled",
        "httpPutResponseHopLimit": 2,
        "httpTokens": "required",
    });
    for (name, value) in given.as_object().into_iter().flatten() {
        options[name.as_str()] = value.clone();
    }
    options
}
