//! What templates are made for a launch, and what they say.

mod content;
mod network;
mod planning;

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_api::ec2_node_class::EC2NodeClass;
use kerf_model::instance_type::{InstanceType, Offering, Reservation};
use kerf_model::labels::aws;
use kerf_model::labels::well_known::{ARCH, CAPACITY_TYPE, NODE_POOL, ON_DEMAND, ZONE};
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::Operator::{DoesNotExist, In};
use kerf_model::resources::PODS;
use serde_json::{Value, json};

use super::*;
use crate::provider::KubernetesVersion;

/// What a launch is made of; tests change one thing of it.
#[derive(Clone, Debug)]
struct Scene {
    cluster: Cluster,
    settings: AwsSettings,
    class: Value,
    labels: BTreeMap<String, String>,
    requirements: Vec<RequirementEntry>,
    taints: Vec<Taint>,
    requests: ResourceList,
    capacity_type: &'static str,
    tenancy: &'static str,
}

impl Scene {
    fn new() -> Self {
        Self {
            cluster: Cluster {
                name: "c1".to_owned(),
                region: "eu-west-1".to_owned(),
                endpoint: "https://example.com".to_owned(),
                ca_bundle: "Y2E=".to_owned(),
                version: KubernetesVersion { major: 1, minor: 36 },
                service_cidr: Some("10.100.0.0/16".to_owned()),
                dns_ip: "10.100.0.10".parse().ok(),
            },
            settings: AwsSettings::default(),
            class: class(),
            labels: [(NODE_POOL.to_owned(), "general".to_owned())].into(),
            requirements: Vec::new(),
            taints: Vec::new(),
            requests: ResourceList::new(),
            capacity_type: ON_DEMAND,
            tenancy: "default",
        }
    }

    /// With something else in the node class.
    fn with(mut self, pointer: &str, value: Value) -> Self {
        let (parent, name) = pointer.rsplit_once('/').expect("a path");
        self.class.pointer_mut(parent).expect(parent)[name] = value;
        self
    }

    /// The templates for these types, whatever they are asked of.
    fn plan<T>(
        &self,
        types: &[InstanceType],
        look: impl FnOnce(Vec<LaunchTemplate<'_>>) -> T,
    ) -> Result<T, TemplateError> {
        let node_class: EC2NodeClass = serde_json::from_value(self.class.clone()).expect("a class");
        let request = TemplateRequest {
            cluster: &self.cluster,
            settings: &self.settings,
            node_class: &node_class,
            pool: self.labels.get(NODE_POOL).map(String::as_str).unwrap_or_default(),
            labels: &self.labels,
            requirements: &self.requirements,
            taints: &self.taints,
            startup_taints: &[],
            requests: &self.requests,
            capacity_type: self.capacity_type,
            tenancy: self.tenancy,
        };
        let offerings = types.iter().flat_map(|instance_type| {
            let with = move |offering| LaunchOffering { instance_type, offering };
            instance_type.offerings.iter().map(with)
        });
        plan(&request, offerings).map(look)
    }

    /// The one template for these types.
    fn only<T>(&self, types: &[InstanceType], look: impl FnOnce(&LaunchTemplate<'_>) -> T) -> T {
        let looked = self.plan(types, |templates| match templates.as_slice() {
            [template] => look(template),
            other => panic!("{} templates", other.len()),
        });
        looked.expect("a template")
    }

    /// The content of the template for one usual type.
    fn data(&self) -> RequestLaunchTemplateData {
        self.only(&[m5()], |template| template.data.clone())
    }

    /// The user data of that template.
    fn user_data(&self) -> String {
        let data = self.data();
        let text = aws_smithy_types::base64::decode(data.user_data().expect("user data"));
        String::from_utf8(text.expect("base64")).expect("a text")
    }
}

fn class() -> Value {
    let absent = |key: &str| json!({ "key": key, "operator": "DoesNotExist" });
    let arch = |arch: &str| json!({ "key": ARCH, "operator": "In", "values": [arch] });
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": { "name": "default" },
        "spec": {
            "amiSelectorTerms": [{ "alias": "al2023@latest" }],
            "role": "node", "securityGroupSelectorTerms": [], "subnetSelectorTerms": [],
        },
        "status": {
            "amis": [
                { "id": "ami-x86", "requirements":
                    [arch("amd64"), absent(aws::INSTANCE_GPU_COUNT)] },
                { "id": "ami-gpu", "requirements": [arch("amd64"),
                    { "key": aws::INSTANCE_GPU_COUNT, "operator": "Exists" }] },
                { "id": "ami-x86-older", "requirements": [arch("amd64")] },
            ],
            "instanceProfile": "profile-1",
            "securityGroups": [{ "id": "sg-1" }, { "id": "sg-2" }],
        },
    })
}

fn instance_type(name: &str, arch: &str, pods: i64) -> InstanceType {
    let mut capacity = ResourceList::new();
    capacity.insert(PODS, Quantity::from_int(pods));
    InstanceType {
        name: name.to_owned(),
        requirements: [
            RequirementEntry::new(ARCH, In, [arch]),
            RequirementEntry::new(aws::INSTANCE_GPU_COUNT, DoesNotExist, []),
        ]
        .into(),
        capacity: capacity.into(),
        overhead: Arc::default(),
        offerings: [offering(&[(CAPACITY_TYPE, ON_DEMAND), (ZONE, "eu-west-1a")])].into(),
    }
}

fn m5() -> InstanceType {
    instance_type("m5.large", "amd64", 29)
}

fn offering(labels: &[(&str, &str)]) -> Offering {
    let entry = |(key, value): &(&str, &str)| RequirementEntry::new(key, In, [*value]);
    Offering {
        requirements: labels.iter().map(entry).collect(),
        price: Price::ZERO,
        available: true,
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    }
}

fn reserved(id: &str) -> Offering {
    let reservation = Some(Reservation { id: id.to_owned(), remaining: 1 });
    Offering { reservation, ..offering(&[(CAPACITY_TYPE, "reserved"), (ZONE, "eu-west-1a")]) }
}
