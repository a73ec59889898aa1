//! Which templates there are, and which offerings each serves.

use kerf_model::labels::well_known::{ON_DEMAND, SPOT};

use super::*;

/// Each template's image, pods and reservation, with the types it serves.
fn outline(templates: Vec<LaunchTemplate<'_>>) -> Vec<String> {
    let one = |template: LaunchTemplate<'_>| {
        let types: Vec<&str> =
            template.offerings.iter().map(|it| it.instance_type.name.as_str()).collect();
        let reservation = template.reservation.map(|id| format!(" {id}")).unwrap_or_default();
        format!("{}{reservation}: {}", template.image_id, types.join(" "))
    };
    let mut outline: Vec<String> = templates.into_iter().map(one).collect();
    outline.sort();
    outline
}

#[test]
fn types_share_a_template_unless_pods_or_image_differ() {
    let mut gpu = instance_type("g5.large", "amd64", 29);
    let one = RequirementEntry::new(aws::INSTANCE_GPU_COUNT, In, ["1"]);
    Arc::make_mut(&mut gpu.requirements)[1] = one;
    let types = [
        m5(),
        instance_type("c5.large", "amd64", 29),
        instance_type("m5.xlarge", "amd64", 58),
        gpu,
        instance_type("m6g.large", "arm64", 29),
    ];
    let outline = Scene::new().plan(&types, outline).unwrap();
    assert_eq!(
        outline,
        ["ami-gpu: g5.large", "ami-x86: m5.large c5.large", "ami-x86: m5.xlarge"],
        "and nothing for a type that no image runs on"
    );
}

#[test]
fn a_number_of_pods_in_the_class_makes_types_share_a_template() {
    let types = [m5(), instance_type("m5.xlarge", "amd64", 58)];
    let scene = Scene::new().with("/spec/kubelet", json!({ "maxPods": 40 }));
    assert_eq!(scene.plan(&types, outline).unwrap(), ["ami-x86: m5.large m5.xlarge"]);
}

#[test]
fn without_an_image_that_fits_the_types_are_named() {
    let types: Vec<InstanceType> =
        (0..7).map(|i| instance_type(&format!("m{i}g.large"), "arm64", 29)).collect();
    let error = Scene::new().plan(&types, outline).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no image of EC2NodeClass default runs on any of m0g.large, m1g.large, m2g.large, \
         m3g.large, m4g.large and 2 more; see its status.amis"
    );
    let none = Scene::new().with("/status/amis", Value::Null).plan(&[m5()], outline);
    assert!(matches!(none, Err(TemplateError::NoImage { .. })));
}

#[test]
fn a_label_that_a_type_does_not_name_is_one_it_does_not_have() {
    let mut plain = m5();
    plain.requirements = plain.requirements[..1].into();
    let gpu_only = Scene::new().class["status"]["amis"][1].clone();
    let scene = Scene::new().with("/status/amis", json!([gpu_only]));
    assert!(matches!(scene.plan(&[plain], outline), Err(TemplateError::NoImage { .. })));
}

#[test]
fn each_reservation_has_a_template_of_its_own() {
    let mut both = m5();
    both.offerings = [reserved("cr-1"), reserved("cr-2")].into();
    let mut other = instance_type("c5.large", "amd64", 29);
    other.offerings = [reserved("cr-2")].into();
    let mut scene = Scene::new();
    scene.capacity_type = "reserved";
    let outline = scene.plan(&[both, other], outline).unwrap();
    assert_eq!(outline, ["ami-x86 cr-1: m5.large", "ami-x86 cr-2: m5.large c5.large"]);
}

#[test]
fn fabric_adapters_tell_types_apart_only_where_pods_ask_for_them() {
    let with = |name: &str, count: i64| {
        let mut instance_type = instance_type(name, "amd64", 29);
        Arc::make_mut(&mut instance_type.capacity)
            .insert("vpc.amazonaws.com/efa", Quantity::from_int(count));
        instance_type
    };
    let types = [with("p4d.24xlarge", 4), with("p5.48xlarge", 32), with("g6.8xlarge", 1)];
    let mut scene = Scene::new();
    assert_eq!(scene.plan(&types, |templates| templates.len()), Ok(1));
    scene.requests.insert("vpc.amazonaws.com/efa", Quantity::from_int(1));
    assert_eq!(scene.plan(&types, |templates| templates.len()), Ok(3));
}

#[test]
fn amounts_that_depend_on_the_type_tell_types_apart() {
    let with = |name: &str, memory: &str| {
        let mut instance_type = instance_type(name, "amd64", 29);
        let memory = Quantity::parse(memory).unwrap();
        Arc::make_mut(&mut instance_type.overhead).kube_reserved.insert("memory", memory);
        instance_type
    };
    let types = [with("a.large", "512Mi"), with("b.large", "1Gi")];
    let scene = Scene::new();
    assert_eq!(scene.plan(&types, |templates| templates.len()), Ok(1), "the class says nothing");
    let same = json!({ "kubeReserved": { "memory": "300Mi" } });
    let same = Scene::new().with("/spec/kubelet", same);
    assert_eq!(same.plan(&types, |templates| templates.len()), Ok(1));
    let expression = json!({ "kubeReserved": { "memory": "memory_mib / 10", "pid": "nonsense(" } });
    let by_type = Scene::new().with("/spec/kubelet", expression);
    assert_eq!(by_type.plan(&types, |templates| templates.len()), Ok(2));
    let texts = by_type.only(&types[..1], |template| template.data.user_data.clone().unwrap());
    let text = String::from_utf8(aws_smithy_types::base64::decode(texts).unwrap()).unwrap();
    assert!(text.contains("kubeReserved:\n        memory: 512Mi\n"), "{text}");
}

#[test]
fn the_name_changes_with_everything_that_is_in_the_template() {
    let base = Scene::new;
    let mut tainted = base();
    tainted.taints.push(Taint::new("a", "", kerf_model::taint::TaintEffect::NoSchedule));
    let mut spot = base();
    spot.capacity_type = SPOT;
    let mut dedicated = base();
    dedicated.tenancy = "dedicated";
    let mut pool = base();
    pool.labels.insert(NODE_POOL.to_owned(), "other".to_owned());
    let mut label = base();
    label.labels.insert("team".to_owned(), "a".to_owned());
    let mut cluster = base();
    cluster.cluster.name = "c2".to_owned();
    let mut gate = base();
    gate.settings.uses_reserved_capacity = false;
    let scenes = [
        base(),
        tainted,
        spot,
        dedicated,
        pool,
        label,
        cluster,
        gate,
        base().with("/spec/userData", json!("#!/bin/sh")),
        base().with("/spec/tags", json!({ "a": "b" })),
        base().with("/spec/detailedMonitoring", json!(true)),
        base().with("/spec/ipPrefixCount", json!(1)),
        base().with("/status/instanceProfile", json!("profile-2")),
        base().with("/status/securityGroups", json!([{ "id": "sg-1" }])),
        base().with("/status/amis/0/id", json!("ami-new")),
        base().with("/metadata/name", json!("other")),
    ];
    let mut names: Vec<String> =
        scenes.iter().map(|scene| scene.only(&[m5()], |it| it.name.clone())).collect();
    assert_eq!(names[0], base().only(&[m5()], |it| it.name.clone()), "always the same");
    let more = [m5(), instance_type("c5.large", "amd64", 29)];
    assert_eq!(names[0], base().only(&more, |it| it.name.clone()), "whatever types it serves");
    let digits = names[0].strip_prefix("karpenter.k8s.aws/").expect(&names[0]);
    assert!(digits.parse::<u64>().is_ok(), "{digits}");
    names.sort();
    names.dedup();
    assert_eq!(names.len(), scenes.len());
}

#[test]
fn what_is_wrong_with_user_data_is_said() {
    let scene = Scene::new().with("/spec/userData", json!("x".repeat(17_000)));
    let error = scene.plan(&[m5()], outline).unwrap_err();
    assert!(matches!(&error, TemplateError::UserData(error) if error.is_too_large()), "{error}");
    let scene = Scene::new().with("/spec/userData", json!("x".repeat(15_000)));
    let (bytes, warnings) =
        scene.only(&[m5()], |template| (template.user_data_bytes, template.warnings.clone()));
    assert_eq!(warnings, [UserDataWarning::NearlyTooLarge { bytes }]);
    let unknown = Scene::new().with("/spec/amiSelectorTerms", json!([{ "id": "ami-x86" }]));
    let error = unknown.plan(&[m5()], outline).unwrap_err().to_string();
    assert!(error.starts_with("EC2NodeClass default has neither amiFamily nor"), "{error}");
}

#[test]
fn nodes_are_told_labels_taints_dns_and_pods() {
    let mut scene = Scene::new();
    scene.labels.insert("team".to_owned(), "a".to_owned());
    scene.labels.insert("kubernetes.io/arch".to_owned(), "amd64".to_owned());
    scene.capacity_type = ON_DEMAND;
    let text = scene.user_data();
    for expected in [
        "clusterDNS:\n      - 10.100.0.10\n      maxPods: 29\n",
        "key: karpenter.sh/unregistered\n",
        "--node-labels=\"karpenter.sh/capacity-type=on-demand,karpenter.sh/do-not-sync-taints=true,\
         karpenter.sh/nodepool=general,team=a\"\n",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let own = json!({ "clusterDNS": ["10.0.0.53"], "maxPods": 5, "cpuManagerPolicy": "static" });
    let text = scene.with("/spec/kubelet", own).user_data();
    let expected =
        "clusterDNS:\n      - 10.0.0.53\n      cpuManagerPolicy: static\n      maxPods: 5\n";
    assert!(text.contains(expected), "{text}");
}
