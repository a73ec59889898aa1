//! Tags on everything that is made in AWS: they say whose it is, and permissions go by them.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::{
    LaunchTemplateTagSpecificationRequest, ResourceType, Tag, TagSpecification,
};
use kerf_model::labels::aws::NODE_CLASS;
use kerf_model::labels::well_known::{NODE_POOL, REGION};

use super::Cluster;

/// The tag with the name of the cluster; what belongs to it is found by this.
pub(crate) const CLUSTER_NAME: &str = "eks:eks-cluster-name";
/// The tag with the name of the claim an instance was launched for.
pub(crate) const NODE_CLAIM: &str = "karpenter.sh/nodeclaim";

/// What the key that says which cluster owns something begins with.
const CLUSTER_PREFIX: &str = "kubernetes.io/cluster/";
const OWNED: &str = "owned";

/// Tags by key.
pub(crate) type Tags = BTreeMap<String, String>;

/// The tags of all that is launched for a pool: templates, fleets, instances, volumes, interfaces
/// and spot requests. Nothing of a single claim is among them, so that launches can be merged.
pub(crate) fn of_launch(cluster: &str, class: &str, pool: &str, own: Option<&Tags>) -> Tags {
    let mut tags = of_cluster(cluster, class, own);
    tags.insert(NODE_POOL.to_owned(), pool.to_owned());
    tags
}

/// The tags of an instance profile. IAM is the same in all regions, so they name the region.
pub(crate) fn of_instance_profile(cluster: &Cluster, class: &str, own: Option<&Tags>) -> Tags {
    let mut tags = of_cluster(&cluster.name, class, own);
    tags.insert(REGION.to_owned(), cluster.region.clone());
    tags
}

/// The key that says that a cluster owns something.
fn cluster_key(cluster: &str) -> String {
    format!("{CLUSTER_PREFIX}{cluster}")
}

/// Whether only Kerf may set a tag.
pub(crate) fn is_restricted(key: &str) -> bool {
    let names_cluster = |name: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_allowed)
    };
    [CLUSTER_NAME, NODE_CLAIM, NODE_POOL, NODE_CLASS].contains(&key)
        || key.strip_prefix(CLUSTER_PREFIX).is_some_and(names_cluster)
}

/// Tags as EC2 reads them.
pub(crate) fn for_ec2(tags: &Tags) -> Vec<Tag> {
    tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build()).collect()
}

/// Tags as IAM reads them.
pub(crate) fn for_iam(tags: &Tags) -> Vec<aws_sdk_iam::types::Tag> {
    let tag = |(key, value): (&String, &String)| {
        let tag = aws_sdk_iam::types::Tag::builder().key(key).value(value).build();
        tag.expect("a tag has a key and a value")
    };
    tags.iter().map(tag).collect()
}

/// The tags of what a call makes, of one kind.
pub(crate) fn specification(kind: ResourceType, tags: &Tags) -> TagSpecification {
    TagSpecification::builder().resource_type(kind).set_tags(Some(for_ec2(tags))).build()
}

/// The tags of what instances of a launch template bring with them, of one kind.
pub(crate) fn template_specification(
    kind: ResourceType,
    tags: &Tags,
) -> LaunchTemplateTagSpecificationRequest {
    LaunchTemplateTagSpecificationRequest::builder()
        .resource_type(kind)
        .set_tags(Some(for_ec2(tags)))
        .build()
}

/// The class's own tags, and over them those that discovery and permissions go by.
fn of_cluster(cluster: &str, class: &str, own: Option<&Tags>) -> Tags {
    let mut tags = own.cloned().unwrap_or_default();
    tags.insert(cluster_key(cluster), OWNED.to_owned());
    tags.insert(CLUSTER_NAME.to_owned(), cluster.to_owned());
    tags.insert(NODE_CLASS.to_owned(), class.to_owned());
    tags
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::KubernetesVersion;

    fn own() -> Tags {
        let tags = [("team", "green"), (NODE_POOL, "other"), (CLUSTER_NAME, "other")];
        tags.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    }

    fn lines(tags: &Tags) -> Vec<String> {
        tags.iter().map(|(key, value)| format!("{key}={value}")).collect()
    }

    #[test]
    fn what_is_launched_names_cluster_pool_and_class_whatever_the_class_says() {
        assert_eq!(
            lines(&of_launch("c1", "default", "general", Some(&own()))),
            [
                "eks:eks-cluster-name=c1",
                "karpenter.k8s.aws/ec2nodeclass=default",
                "karpenter.sh/nodepool=general",
                "kubernetes.io/cluster/c1=owned",
                "team=green",
            ]
        );
    }

    #[test]
    fn an_instance_profile_names_its_region_and_no_pool() {
        let cluster = Cluster {
            name: "c1".to_owned(),
            region: "eu-west-1".to_owned(),
            endpoint: String::new(),
            ca_bundle: String::new(),
            version: KubernetesVersion { major: 1, minor: 36 },
            service_cidr: None,
            dns_ip: None,
        };
        assert_eq!(
            lines(&of_instance_profile(&cluster, "default", None)),
            [
                "eks:eks-cluster-name=c1",
                "karpenter.k8s.aws/ec2nodeclass=default",
                "kubernetes.io/cluster/c1=owned",
                "topology.kubernetes.io/region=eu-west-1",
            ]
        );
    }

    #[test]
    fn tags_that_permissions_go_by_are_restricted() {
        for key in [
            "eks:eks-cluster-name",
            "karpenter.sh/nodepool",
            "karpenter.sh/nodeclaim",
            "karpenter.k8s.aws/ec2nodeclass",
            "kubernetes.io/cluster/any-1_x",
        ] {
            assert!(is_restricted(key), "{key}");
        }
        for key in ["Name", "team", "kubernetes.io/cluster/", "kubernetes.io/cluster/-a"] {
            assert!(!is_restricted(key), "{key}");
        }
    }
}
