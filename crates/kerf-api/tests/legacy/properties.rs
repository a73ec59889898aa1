//! What holds for every input.

use kerf_api::legacy::{AWSNodeTemplate, Options, Provisioner, convert};
use kerf_api::validation::{label_rules, validate_node_pool};
use kerf_api::{ec2_node_class::validate_kubelet, legacy};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Names that make an arbitrary object look like one of ours often enough to matter.
const FIELDS: [&str; 34] = [
    "annotations",
    "consolidation",
    "enabled",
    "kubeletConfiguration",
    "maxPods",
    "labels",
    "limits",
    "resources",
    "cpu",
    "provider",
    "providerRef",
    "name",
    "requirements",
    "key",
    "operator",
    "values",
    "taints",
    "startupTaints",
    "effect",
    "ttlSecondsAfterEmpty",
    "ttlSecondsUntilExpired",
    "weight",
    "subnetSelector",
    "securityGroupSelector",
    "amiSelector",
    "aws-ids",
    "aws::name",
    "amiFamily",
    "tags",
    "metadataOptions",
    "blockDeviceMappings",
    "deviceName",
    "ebs",
    "volumeSize",
];
const TEXTS: [&str; 14] = [
    "In",
    "Gt",
    "t",
    "NoSchedule",
    "Ubuntu",
    "Custom",
    "AL2",
    "subnet-1,subnet-2",
    "a,b",
    "",
    "1Gi",
    "-5",
    "é,,",
    "kubernetes.io/arch",
];

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0i64..120).prop_map(Value::from),
        proptest::sample::select(TEXTS.as_slice()).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let name = prop_oneof![
            4 => proptest::sample::select(FIELDS.as_slice()).prop_map(str::to_owned),
            1 => ".{0,6}",
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(name, inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn spec() -> impl Strategy<Value = Map<String, Value>> {
    let name = proptest::sample::select(FIELDS.as_slice()).prop_map(str::to_owned);
    proptest::collection::btree_map(name, json_value(), 0..8)
        .prop_map(|map| map.into_iter().collect())
}

/// The object with as much of the spec as decodes: each field is tried by itself.
fn leniently<T: serde::de::DeserializeOwned>(kind: Value, spec: Map<String, Value>) -> T {
    let object = |spec: Value| {
        let mut object = kind.clone();
        object["metadata"] = json!({ "name": "t" });
        object["spec"] = spec;
        serde_json::from_value::<T>(object)
    };
    let decodes = |name: &String, value: &Value| object(json!({ name: value })).is_ok();
    let kept: Map<_, _> = spec.into_iter().filter(|(name, value)| decodes(name, value)).collect();
    object(Value::Object(kept)).expect("fields that decode alone decode together")
}

fn options() -> Options {
    Options { role: Some("role".into()), ..Options::default() }
}

/// Whole objects that are mostly right, so that conversion is reached.
fn likely_provisioner() -> impl Strategy<Value = Provisioner> {
    let key = proptest::sample::select(
        ["example.com/a", "kubernetes.io/arch", "topology.kubernetes.io/zone", "team"].as_slice(),
    );
    let requirement = (key, proptest::sample::select(["In", "NotIn", "Exists"].as_slice()))
        .prop_map(|(key, operator)| json!({ "key": key, "operator": operator, "values": ["x"] }));
    (
        proptest::collection::vec(requirement, 0..4),
        proptest::option::of(0i64..10_000_000_000),
        proptest::option::of(0i64..100_000),
        any::<bool>(),
        proptest::option::of(0i32..120),
        proptest::option::of(-1i32..200),
    )
        .prop_map(|(requirements, expired, empty, enabled, weight, max_pods)| {
            let mut spec = json!({
                "providerRef": { "name": "t" },
                "requirements": requirements,
                "consolidation": { "enabled": enabled },
            });
            let optional = [
                ("ttlSecondsUntilExpired", expired.map(Value::from)),
                ("ttlSecondsAfterEmpty", empty.map(Value::from)),
                ("weight", weight.map(Value::from)),
                ("kubeletConfiguration", max_pods.map(|pods| json!({ "maxPods": pods }))),
            ];
            for (name, value) in optional {
                if let Some(value) = value {
                    spec[name] = value;
                }
            }
            let object = json!({ "apiVersion": "karpenter.sh/v1alpha5", "kind": "Provisioner",
                "metadata": { "name": "p" }, "spec": spec });
            serde_json::from_value(object).expect("the object is well formed")
        })
}

fn likely_template() -> impl Strategy<Value = AWSNodeTemplate> {
    let selector =
        proptest::collection::btree_map("[a-z:]{1,4}", "[a-z]{1,3}(,[a-z]{1,3}){0,2}", 1..4);
    let family = proptest::sample::select(
        ["AL2", "Bottlerocket", "Ubuntu", "Windows2022", "Custom"].as_slice(),
    );
    let size = (1u64..70_000, proptest::sample::select(["", "M", "G", "Gi", "Ti", "T"].as_slice()));
    (selector.clone(), selector.clone(), proptest::option::of(selector), family, size).prop_map(
        |(subnets, groups, images, family, (size, unit))| {
            let mut spec = json!({
                "subnetSelector": subnets, "securityGroupSelector": groups, "amiFamily": family,
                "blockDeviceMappings": [
                    { "deviceName": "/dev/a", "ebs": { "volumeSize": format!("{size}{unit}") } },
                ],
            });
            if let Some(images) = images {
                spec["amiSelector"] = json!(images);
            }
            let object = json!({ "apiVersion": "karpenter.k8s.aws/v1alpha1",
                "kind": "AWSNodeTemplate", "metadata": { "name": "t" }, "spec": spec });
            serde_json::from_value(object).expect("the object is well formed")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_object_makes_the_conversion_panic(first in spec(), second in spec(), third in spec()) {
        let kind = json!({ "apiVersion": "karpenter.sh/v1alpha5", "kind": "Provisioner" });
        let mut provisioner: Provisioner = leniently(kind, first);
        provisioner.spec.provider = Some(third).filter(|it| it.len() % 2 == 0);
        let kind = json!({ "apiVersion": "karpenter.k8s.aws/v1alpha1", "kind": "AWSNodeTemplate" });
        let template: AWSNodeTemplate = leniently(kind, second);
        let has_provider = provisioner.spec.provider.is_some();
        let converted = convert(&[provisioner], &[template], &options());
        let refused = converted.problems.iter().filter(|it| it.is_error());
        let is_of = |kind| move |it: &&legacy::LegacyFinding| it.kind == kind;
        let bad_provisioner = refused.clone().any(|it| is_of(legacy::Kind::Provisioner)(&it));
        let bad_template = refused.clone().any(|it| is_of(legacy::Kind::AWSNodeTemplate)(&it));
        prop_assert_eq!(converted.node_pools.is_empty(), bad_provisioner);
        if bad_template && !has_provider {
            prop_assert!(converted.node_classes.is_empty());
        }
    }

    #[test]
    fn what_comes_out_passes_the_rules_of_its_kind(
        provisioner in likely_provisioner(), template in likely_template(),
    ) {
        let converted = convert(&[provisioner], &[template], &options());
        for pool in &converted.node_pools {
            prop_assert_eq!(validate_node_pool(&pool.spec, &label_rules()), vec![]);
            prop_assert!(pool.spec.weight.is_none_or(|weight| (1..=100).contains(&weight)));
            prop_assert!(!pool.spec.template.spec.node_class_ref.name.is_empty());
        }
        for class in &converted.node_classes {
            let spec = &class.spec;
            prop_assert_eq!(validate_kubelet(spec), vec![]);
            prop_assert!((1..=30).contains(&spec.ami_selector_terms.len()));
            prop_assert!((1..=30).contains(&spec.subnet_selector_terms.len()));
            prop_assert!((1..=30).contains(&spec.security_group_selector_terms.len()));
            prop_assert!(spec.role.is_some() != spec.instance_profile.is_some());
            let has_alias = spec.ami_selector_terms.iter().any(|term| term.alias.is_some());
            prop_assert!(has_alias != spec.ami_family.is_some());
            prop_assert!(!has_alias || spec.ami_selector_terms.len() == 1);
        }
    }

    #[test]
    fn the_same_objects_always_become_the_same(
        provisioner in likely_provisioner(), template in likely_template(),
    ) {
        let (provisioners, templates) = ([provisioner], [template]);
        let first = convert(&provisioners, &templates, &options());
        prop_assert_eq!(first, convert(&provisioners, &templates, &options()));
    }
}
