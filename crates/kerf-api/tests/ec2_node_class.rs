//! EC2NodeClass: what its definition says.

use kerf_api::crds;
use kerf_api::ec2_node_class::{AmiFamily, AmiSelectorTerm, EC2NodeClassSpec};
use serde_json::{Value, json};

fn definition() -> Value {
    let crds = crds();
    let crd = crds.iter().find(|crd| crd.spec.names.kind == "EC2NodeClass").expect("served");
    serde_json::to_value(crd).expect("a definition is plain data")
}

/// The schema at a path such as `spec.amiSelectorTerms[].alias`; `{}` steps into a map's values.
fn schema_at<'a>(definition: &'a Value, path: &str) -> &'a Value {
    let root = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    path.split('.').fold(root, |schema, step| {
        let name = step.trim_end_matches("[]").trim_end_matches("{}");
        let schema = &schema["properties"][name];
        match &step[name.len()..] {
            "[]" => &schema["items"],
            "{}" => &schema["additionalProperties"],
            _ => schema,
        }
    })
}

#[test]
fn the_names_columns_and_subresource_are_those_of_the_public_api() {
    let definition = definition();
    let spec = &definition["spec"];
    assert_eq!(definition["metadata"]["name"], "ec2nodeclasses.karpenter.k8s.aws");
    assert_eq!(spec["scope"], "Cluster");
    assert_eq!(
        spec["names"],
        json!({
            "categories": ["karpenter"],
            "kind": "EC2NodeClass",
            "plural": "ec2nodeclasses",
            "shortNames": ["ec2nc", "ec2ncs"],
            "singular": "ec2nodeclass",
        })
    );
    let versions = spec["versions"].as_array().expect("a list");
    assert_eq!(versions.len(), 1);
    assert_eq!(versions[0]["name"], "v1");
    assert_eq!(versions[0]["subresources"], json!({ "status": {} }));
    assert_eq!(
        versions[0]["additionalPrinterColumns"],
        json!([
            {
                "name": "Ready",
                "type": "string",
                "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status",
            },
            { "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" },
            { "name": "Role", "type": "string", "jsonPath": ".spec.role", "priority": 1 },
        ])
    );
}

#[test]
fn every_bound_pattern_default_and_choice_of_the_public_api_is_in_the_schema() {
    let definition = definition();
    for (path, keyword, expected) in keywords() {
        let found = &schema_at(&definition, path)[keyword];
        let equal = match (found.as_f64(), expected.as_f64()) {
            (Some(found), Some(expected)) => found == expected,
            _ => *found == expected,
        };
        assert!(equal, "{path} {keyword}: expected {expected}, found {found}");
    }
}

/// From 0 to 100 percent with two decimals at most, or a quantity that is not negative.
const EVICTION_THRESHOLD: &str = concat!(
    r"^((([0-9]{1,2}(\.[0-9]{1,2})?|100(\.0{1,2})?)%)|",
    r"(\+?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))",
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?))$"
);

fn keywords() -> Vec<(&'static str, &'static str, Value)> {
    let mut table = spec_keywords();
    table.extend(kubelet_keywords());
    table.extend(status_keywords());
    table
}

fn spec_keywords() -> Vec<(&'static str, &'static str, Value)> {
    let size = "^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$";
    let families =
        ["AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"];
    let metadata = json!({
        "httpEndpoint": "enabled",
        "httpProtocolIPv6": "disabled",
        "httpPutResponseHopLimit": 1,
        "httpTokens": "required",
    });
    let required = ["amiSelectorTerms", "securityGroupSelectorTerms", "subnetSelectorTerms"];
    let toggle = json!(["enabled", "disabled"]);
    let interface = ["deviceIndex", "interfaceType", "networkCardIndex"];
    let volume_types = ["standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"];
    vec![
        ("spec", "required", json!(required)),
        ("spec.subnetSelectorTerms", "maxItems", json!(30)),
        ("spec.subnetSelectorTerms[].id", "pattern", json!("subnet-[0-9a-z]+")),
        ("spec.subnetSelectorTerms[].tags", "maxProperties", json!(20)),
        ("spec.securityGroupSelectorTerms", "maxItems", json!(30)),
        ("spec.securityGroupSelectorTerms[].id", "pattern", json!("sg-[0-9a-z]+")),
        ("spec.securityGroupSelectorTerms[].tags", "maxProperties", json!(20)),
        ("spec.capacityReservationSelectorTerms", "maxItems", json!(30)),
        ("spec.capacityReservationSelectorTerms[].id", "pattern", json!("^cr-[0-9a-z]+$")),
        ("spec.capacityReservationSelectorTerms[].ownerID", "pattern", json!("^[0-9]{12}$")),
        ("spec.capacityReservationSelectorTerms[].tags", "maxProperties", json!(20)),
        (
            "spec.capacityReservationSelectorTerms[].instanceMatchCriteria",
            "enum",
            json!(["open", "targeted"]),
        ),
        ("spec.placementGroupSelector.name", "minLength", json!(1)),
        ("spec.placementGroupSelector.id", "pattern", json!("^pg-[0-9a-z]+$")),
        ("spec.amiSelectorTerms", "minItems", json!(1)),
        ("spec.amiSelectorTerms", "maxItems", json!(30)),
        ("spec.amiSelectorTerms[].alias", "maxLength", json!(30)),
        ("spec.amiSelectorTerms[].id", "pattern", json!("ami-[0-9a-z]+")),
        ("spec.amiSelectorTerms[].tags", "maxProperties", json!(20)),
        ("spec.amiFamily", "enum", json!(families)),
        ("spec.tags{}", "type", json!("string")),
        ("spec.blockDeviceMappings", "maxItems", json!(50)),
        ("spec.blockDeviceMappings[].ebs.volumeSize", "pattern", json!(size)),
        ("spec.blockDeviceMappings[].ebs.volumeSize", "type", json!("string")),
        ("spec.blockDeviceMappings[].ebs.volumeType", "enum", json!(volume_types)),
        ("spec.blockDeviceMappings[].ebs.iops", "format", json!("int64")),
        ("spec.blockDeviceMappings[].ebs.throughput", "format", json!("int64")),
        ("spec.blockDeviceMappings[].ebs.volumeInitializationRate", "format", json!("int32")),
        ("spec.blockDeviceMappings[].ebs.volumeInitializationRate", "minimum", json!(100)),
        ("spec.blockDeviceMappings[].ebs.volumeInitializationRate", "maximum", json!(300)),
        ("spec.instanceStorePolicy", "enum", json!(["RAID0"])),
        ("spec.networkInterfaces", "maxItems", json!(150)),
        ("spec.networkInterfaces[]", "required", json!(interface)),
        ("spec.networkInterfaces[].networkCardIndex", "minimum", json!(0)),
        ("spec.networkInterfaces[].deviceIndex", "minimum", json!(0)),
        ("spec.networkInterfaces[].interfaceType", "enum", json!(["interface", "efa-only"])),
        ("spec.detailedMonitoring", "type", json!("boolean")),
        ("spec.associatePublicIPAddress", "type", json!("boolean")),
        ("spec.ipPrefixCount", "format", json!("int32")),
        ("spec.ipPrefixCount", "minimum", json!(0)),
        ("spec.metadataOptions", "default", metadata),
        ("spec.metadataOptions.httpEndpoint", "default", json!("enabled")),
        ("spec.metadataOptions.httpEndpoint", "enum", toggle.clone()),
        ("spec.metadataOptions.httpProtocolIPv6", "default", json!("disabled")),
        ("spec.metadataOptions.httpProtocolIPv6", "enum", toggle.clone()),
        ("spec.metadataOptions.httpPutResponseHopLimit", "default", json!(1)),
        ("spec.metadataOptions.httpPutResponseHopLimit", "minimum", json!(1)),
        ("spec.metadataOptions.httpPutResponseHopLimit", "maximum", json!(64)),
        ("spec.metadataOptions.httpPutResponseHopLimit", "format", json!("int64")),
        ("spec.metadataOptions.httpTokens", "default", json!("required")),
        ("spec.metadataOptions.httpTokens", "enum", json!(["required", "optional"])),
        ("spec.connectionTracking.tcpEstablishedTimeout", "minimum", json!(60)),
        ("spec.connectionTracking.tcpEstablishedTimeout", "maximum", json!(432_000)),
        ("spec.connectionTracking.udpStreamTimeout", "minimum", json!(60)),
        ("spec.connectionTracking.udpStreamTimeout", "maximum", json!(180)),
        ("spec.connectionTracking.udpTimeout", "minimum", json!(30)),
        ("spec.connectionTracking.udpTimeout", "maximum", json!(60)),
        ("spec.cpuOptions.nestedVirtualization", "enum", toggle),
        ("spec.context", "type", json!("string")),
        ("spec.userData", "type", json!("string")),
    ]
}

fn kubelet_keywords() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("spec.kubelet", "x-kubernetes-preserve-unknown-fields", json!(true)),
        ("spec.kubelet", "additionalProperties", Value::Null),
        ("spec.kubelet.clusterDNS[]", "type", json!("string")),
        ("spec.kubelet.cpuCFSQuota", "type", json!("boolean")),
        ("spec.kubelet.maxPods", "x-kubernetes-int-or-string", json!(true)),
        ("spec.kubelet.maxPods", "type", Value::Null),
        ("spec.kubelet.podsPerCore", "minimum", json!(0)),
        ("spec.kubelet.podsPerCore", "format", json!("int32")),
        ("spec.kubelet.evictionMaxPodGracePeriod", "minimum", json!(0)),
        ("spec.kubelet.imageGCHighThresholdPercent", "minimum", json!(0)),
        ("spec.kubelet.imageGCHighThresholdPercent", "maximum", json!(100)),
        ("spec.kubelet.imageGCLowThresholdPercent", "minimum", json!(0)),
        ("spec.kubelet.imageGCLowThresholdPercent", "maximum", json!(100)),
        ("spec.kubelet.evictionHard{}", "type", json!("string")),
        ("spec.kubelet.evictionHard{}", "pattern", json!(EVICTION_THRESHOLD)),
        ("spec.kubelet.evictionSoft{}", "type", json!("string")),
        ("spec.kubelet.evictionSoft{}", "pattern", json!(EVICTION_THRESHOLD)),
        ("spec.kubelet.evictionSoftGracePeriod{}", "type", json!("string")),
        ("spec.kubelet.kubeReserved{}", "type", json!("string")),
        ("spec.kubelet.kubeReserved{}", "pattern", Value::Null),
        ("spec.kubelet.systemReserved{}", "type", json!("string")),
    ]
}

fn status_keywords() -> Vec<(&'static str, &'static str, Value)> {
    let reservation =
        ["availabilityZone", "id", "instanceMatchCriteria", "instanceType", "ownerID"];
    let kinds = ["default", "capacity-block"];
    vec![
        ("status.subnets[]", "required", json!(["id", "zone"])),
        ("status.subnets[].zoneID", "type", json!("string")),
        ("status.securityGroups[]", "required", json!(["id"])),
        ("status.amis[]", "required", json!(["id", "requirements"])),
        ("status.amis[].deprecated", "type", json!("boolean")),
        ("status.amis[].requirements[]", "required", json!(["key", "operator"])),
        ("status.capacityReservations[]", "required", json!(reservation)),
        ("status.capacityReservations[].reservationType", "enum", json!(kinds)),
        ("status.capacityReservations[].reservationType", "default", json!("default")),
        ("status.capacityReservations[].state", "enum", json!(["active", "expiring"])),
        ("status.capacityReservations[].state", "default", json!("active")),
        ("status.capacityReservations[].endTime", "format", json!("date-time")),
        ("status.capacityReservations[].interruptible", "type", json!("boolean")),
        ("status.instanceProfile", "type", json!("string")),
        ("status.conditions", "x-kubernetes-list-type", json!("map")),
    ]
}

#[test]
fn every_field_a_person_can_write_says_what_it_is_for() {
    let definition = definition();
    let mut silent = Vec::new();
    collect_undescribed(schema_at(&definition, "spec"), "spec", &mut silent);
    collect_undescribed(schema_at(&definition, "status"), "status", &mut silent);
    assert_eq!(silent, Vec::<String>::new());
}

fn collect_undescribed(schema: &Value, path: &str, silent: &mut Vec<String>) {
    let fields = schema["properties"].as_object().into_iter().flatten();
    for (name, field) in fields {
        let path = format!("{path}.{name}");
        if field["description"].as_str().is_none_or(|text| text.is_empty() || text.contains('\n')) {
            silent.push(path.clone());
        }
        collect_undescribed(field, &path, silent);
        collect_undescribed(&field["items"], &path, silent);
    }
}

#[test]
fn the_family_is_the_one_named_or_else_that_of_the_alias() {
    let cases = [
        (None, Some("al2@latest"), Some(AmiFamily::AL2)),
        (None, Some("al2023@v20250101"), Some(AmiFamily::AL2023)),
        (None, Some("bottlerocket@latest"), Some(AmiFamily::Bottlerocket)),
        (None, Some("windows2019@latest"), Some(AmiFamily::Windows2019)),
        (None, Some("windows2022@latest"), Some(AmiFamily::Windows2022)),
        (None, Some("windows2025@latest"), Some(AmiFamily::Windows2025)),
        (None, Some("ubuntu@latest"), None),
        (None, Some("al2"), None),
        (Some(AmiFamily::Custom), Some("al2023@latest"), Some(AmiFamily::Custom)),
        (Some(AmiFamily::AL2), None, Some(AmiFamily::AL2)),
        (None, None, None),
    ];
    for (ami_family, alias, expected) in cases {
        let term = AmiSelectorTerm { alias: alias.map(str::to_owned), ..Default::default() };
        let spec =
            EC2NodeClassSpec { ami_family, ami_selector_terms: vec![term], ..Default::default() };
        assert_eq!(spec.resolved_ami_family(), expected, "{ami_family:?} {alias:?}");
    }
}

#[test]
fn a_family_is_named_as_it_is_written() {
    let families = schema_at(&definition(), "spec.amiFamily")["enum"].clone();
    for name in families.as_array().expect("a list") {
        let family: AmiFamily = serde_json::from_value(name.clone()).expect("every choice is read");
        assert_eq!(family.name(), name);
    }
}
