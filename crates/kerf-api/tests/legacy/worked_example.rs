//! The default pair of the 0.31 installation guide.

use kerf_api::legacy::{Options, Severity, convert};
use serde_json::Value;

use super::manifest::{provisioner_named, template_named, yaml};

const POOL: &str = "
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  limits: {cpu: 1000}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s}
  template:
    spec:
      expireAfter: Never
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      - {key: kubernetes.io/os, operator: In, values: [linux]}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
      - {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ['2']}
";

const CLASS: &str = "
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiSelectorTerms: [{alias: al2@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  metadataOptions:
    httpEndpoint: enabled
    httpProtocolIPv6: disabled
    httpPutResponseHopLimit: 2
    httpTokens: required
  instanceProfile: KarpenterNodeInstanceProfile-demo
";

#[test]
fn the_installation_guides_pair_becomes_the_pool_and_class_that_mean_the_same() {
    let provisioner = provisioner_named(
        "default",
        "
        providerRef: {name: default}
        requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
        limits: {resources: {cpu: 1000}}
        consolidation: {enabled: true}
        ",
    );
    let template = template_named(
        "default",
        "
        subnetSelector: {karpenter.sh/discovery: demo}
        securityGroupSelector: {karpenter.sh/discovery: demo}
        ",
    );
    let options = Options {
        default_instance_profile: Some("KarpenterNodeInstanceProfile-demo".into()),
        ..Options::default()
    };

    let converted = convert(&[provisioner], &[template], &options);

    assert_eq!(encoded(&converted.node_pools), [yaml(POOL)]);
    assert_eq!(encoded(&converted.node_classes), [yaml(CLASS)]);
    let problems: Vec<_> =
        converted.problems.iter().map(|it| (it.severity, it.field.as_str())).collect();
    assert_eq!(problems, [(Severity::Warning, "spec.amiFamily")]);
}

fn encoded<T: serde::Serialize>(objects: &[T]) -> Vec<Value> {
    objects.iter().map(|it| serde_json::to_value(it).expect("objects encode")).collect()
}
