//! What the charts are made to.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::manifests::{HELM, environment, object, read, render, try_render};
use crate::{CHART, CRD_CHART};

const NEEDED: &str = "settings: {clusterName: tidepool}";

/// The values of each era that say the same.
const ERAS: [&str; 4] = [
    "controller: {clusterName: tidepool, clusterEndpoint: 'https://tide.example'}",
    "{clusterName: tidepool, clusterEndpoint: 'https://tide.example'}",
    "settings: {aws: {clusterName: tidepool, clusterEndpoint: 'https://tide.example'}}",
    "settings: {clusterName: tidepool, clusterEndpoint: 'https://tide.example'}",
];

#[test]
fn helm_finds_nothing_wrong_with_the_charts() {
    for (chart, values) in [(CHART, NEEDED), (CRD_CHART, "")] {
        let said = HELM.lint(chart, values).unwrap();
        assert!(said.contains("1 chart(s) linted, 0 chart(s) failed"), "{said}");
    }
}

#[test]
fn the_definitions_are_those_of_the_workspace_and_stay_when_the_chart_goes() {
    let text = HELM.template("karpenter-crd", CRD_CHART, "", &[]).unwrap();
    let objects = read(&text);
    assert_eq!(objects.len(), 5);
    for object in objects {
        let (name, group) = (&object["spec"]["names"]["plural"], &object["spec"]["group"]);
        let file = format!("crds/{}_{}.yaml", group.as_str().unwrap(), name.as_str().unwrap());
        let stored = read(&deploy(&file)).remove(0);
        assert_eq!(
            with_whole_numbers(&object["spec"]),
            with_whole_numbers(&stored["spec"]),
            "{file}"
        );
        assert_eq!(object["metadata"]["annotations"]["helm.sh/resource-policy"], "keep");
    }
}

/// Helm writes 0 for 0.0.
fn with_whole_numbers(value: &Value) -> String {
    value.to_string().replace(".0,", ",").replace(".0}", "}")
}

#[test]
fn values_of_four_eras_give_the_same_settings() {
    let [oldest, older, old, today] =
        ERAS.map(|values| environment(object(&render(values), "Deployment", "karpenter")));
    assert_eq!((&oldest, &older, &old), (&today, &today, &today));
    assert_eq!(today["CLUSTER_NAME"], "tidepool");
    assert_eq!(today["CLUSTER_ENDPOINT"], "https://tide.example");
    let old = "settings: {aws: {clusterName: a, interruptionQueueName: q, isolatedVPC: true, \
               vmMemoryOverheadPercent: 0, reservedENIs: '2', tags: {team: x}, \
               defaultInstanceProfile: p}}";
    let variables = environment(object(&render(old), "Deployment", "karpenter"));
    for (name, value) in [
        ("INTERRUPTION_QUEUE", "q"),
        ("ISOLATED_VPC", "true"),
        ("VM_MEMORY_OVERHEAD_PERCENT", "0"),
        ("RESERVED_ENIS", "2"),
        ("AWS_DEFAULT_TAGS", r#"{"team":"x"}"#),
        ("AWS_DEFAULT_INSTANCE_PROFILE", "p"),
    ] {
        assert_eq!(variables[name], value, "{name}");
    }
}

#[test]
fn the_newest_era_wins_even_with_nothing_and_false() {
    let values = "{clusterName: old, settings: {clusterName: new, isolatedVPC: false, \
                  vmMemoryOverheadPercent: 0, ignoreDRARequests: false, \
                  aws: {isolatedVPC: true, vmMemoryOverheadPercent: 0.1}}}";
    let variables = environment(object(&render(values), "Deployment", "karpenter"));
    for (name, value) in [
        ("CLUSTER_NAME", "new"),
        ("ISOLATED_VPC", "false"),
        ("VM_MEMORY_OVERHEAD_PERCENT", "0"),
        ("IGNORE_DRA_REQUESTS", "false"),
    ] {
        assert_eq!(variables[name], value, "{name}");
    }
}

#[test]
fn a_value_that_there_is_not_or_makes_no_sense_is_refused_by_name() {
    for (values, said) in [
        ("{}", "settings.clusterName is needed: the name of the EKS cluster"),
        ("settings: {clustrName: tidepool}", "'clustrName' not allowed"),
        ("{replicaz: 1, settings: {clusterName: a}}", "'replicaz' not allowed"),
        ("{cloud: moon, settings: {clusterName: a}}", "'/cloud'"),
        ("settings: {clusterName: a, batchIdleDuration: soon}", "'/settings/batchIdleDuration'"),
        (
            "{settings: {clusterName: a}, controller: {metrics: {port: 0}}}",
            "'/controller/metrics/port'",
        ),
        (
            "{settings: {clusterName: a}, defaultPool: {requirements: {' kubernetes.io/arch': [amd64]}}}",
            "' kubernetes.io/arch' does not match",
        ),
        (
            "{settings: {clusterName: a}, defaultPool: {requirements: {kubernetes.io/arch: ['amd 64']}}}",
            "'/defaultPool/requirements/kubernetes.io~1arch/0'",
        ),
    ] {
        let error = try_render(values).unwrap_err().to_string();
        assert!(error.contains(said), "{values}: {error}");
    }
}

#[test]
fn every_variable_is_one_that_the_controller_reads() {
    let help = Command::new(env!("CARGO_BIN_EXE_kerf")).args(["controller", "--help"]).output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    // Lines are broken anywhere.
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let values = "{logLevel: debug, logFormat: legacy, settings: {clusterName: a, isolatedVPC: true, \
                  vmMemoryOverheadPercent: 0.1, reservedENIs: 1, defaultInstanceProfile: p, \
                  defaultTags: {team: x}, clusterEndpoint: b, \
                  clusterCABundle: c, interruptionQueue: d, interruptionPercentPerMinute: 50, \
                  schedulerConfig: {podTopologySpread: {defaultConstraints: []}}}}";
    let variables = environment(object(&render(values), "Deployment", "karpenter"));
    assert!(variables.len() > 25, "{variables:?}");
    for name in variables.keys() {
        assert!(
            help.contains(&format!("[env: {name}")),
            "{name} is no variable of kerf controller"
        );
    }
}

#[test]
fn rights_are_those_of_the_role_files_for_the_cloud_and_the_features_that_are_on() {
    let all = "{cloud: kwok, settings: {enableZonalAutoshift: true, \
               schedulerConfig: {podTopologySpread: {defaultConstraints: []}}}}";
    for (values, files) in [
        (NEEDED, &["rbac.yaml", "rbac-aws.yaml"][..]),
        (
            all,
            &[
                "rbac.yaml",
                "rbac-kwok.yaml",
                "rbac-zonal-autoshift.yaml",
                "rbac-scheduler-config.yaml",
            ],
        ),
    ] {
        let of = |objects: &[Value]| -> BTreeMap<String, Value> {
            let rights = objects.iter().filter(|one| is_of_rights(one));
            rights.map(without_labels).collect()
        };
        let stored: Vec<Value> = files.iter().flat_map(|file| read(&deploy(file))).collect();
        let mut rendered = render(values);
        rendered.retain(|one| one["metadata"]["name"] != "karpenter-admin");
        assert_eq!(of(&rendered), of(&stored), "{values}");
    }
}

fn is_of_rights(object: &Value) -> bool {
    object["kind"].as_str().is_some_and(|kind| kind.contains("Role"))
}

/// An object without its labels, by kind and name.
fn without_labels(object: &Value) -> (String, Value) {
    let mut object = object.clone();
    object["metadata"].as_object_mut().unwrap().remove("labels");
    (format!("{} {}", object["kind"], object["metadata"]), object)
}

#[test]
fn another_name_and_namespace_reach_every_object() {
    let arguments = ["--namespace=tide", "--set=settings.clusterName=a"];
    let text = HELM.template("kerf", CHART, "fullnameOverride: pool", &arguments).unwrap();
    for object in read(&text) {
        let name = object["metadata"]["name"].as_str().unwrap();
        assert!(name.starts_with("pool") || object["kind"] == "PodDisruptionBudget", "{object}");
        let namespace = object["metadata"]["namespace"].as_str();
        assert!(namespace.is_none_or(|it| it == "tide" || it == "kube-system"), "{object}");
        for subject in object["subjects"].as_array().into_iter().flatten() {
            assert_eq!((&subject["name"], &subject["namespace"]), (&json!("pool"), &json!("tide")));
        }
    }
}

#[test]
fn pods_are_found_by_the_old_label_and_stand_apart() {
    let objects = render("{settings: {clusterName: a}, controller: {legacyNames: true}}");
    let pod = &object(&objects, "Deployment", "karpenter-controller")["spec"]["template"];
    assert_eq!(pod["metadata"]["labels"]["karpenter"], "controller");
    let own = json!({"matchLabels": {
        "app.kubernetes.io/instance": "karpenter", "app.kubernetes.io/name": "karpenter",
    }});
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    assert_eq!(pod["spec"]["affinity"]["podAntiAffinity"][required][0]["labelSelector"], own);
    assert_eq!(pod["spec"]["topologySpreadConstraints"][0]["labelSelector"], own);
}

#[test]
fn what_is_asked_for_beside_is_made() {
    let values = "{settings: {clusterName: a}, networkPolicy: {enabled: true}, \
                  serviceMonitor: {enabled: true}, controller: {env: [{name: LOG_LEVEL, value: x}]}}";
    let monitors = "--api-versions=monitoring.coreos.com/v1";
    let text = HELM.template("karpenter", CHART, values, &[monitors]).unwrap();
    let objects = read(&text);
    let monitor = object(&objects, "ServiceMonitor", "karpenter");
    assert_eq!(monitor["spec"]["endpoints"][0]["port"], "http-metrics");
    object(&objects, "NetworkPolicy", "karpenter");
    let own = environment(object(&objects, "Deployment", "karpenter"));
    assert_eq!(own["LOG_LEVEL"], "x", "a variable given wins, and stands there once");
    assert_eq!(text.matches("name: LOG_LEVEL").count(), 1);
}

fn deploy(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(path);
    std::fs::read_to_string(path).unwrap()
}

/// What people apply who have no Helm: the charts' defaults.
const PLAIN: &str = "manifests/controller.yaml";
const PLAIN_HEADER: &str = "\
# Kerf's controller without Helm: what deploy/charts/karpenter gives for its defaults, with a namespace.
# Held to it by `cargo test -p kerf --test charts`; KERF_BLESS=1 writes it anew.
#
#   sed \"s/CLUSTER_NAME_HERE/$CLUSTER_NAME/\" deploy/manifests/controller.yaml | kubectl apply --server-side -f -
apiVersion: v1
kind: Namespace
metadata:
  name: karpenter
  labels:
    pod-security.kubernetes.io/enforce: restricted
";

const PLAIN_HANDLER: &str = "manifests/termination-handler.yaml";
const PLAIN_HANDLER_HEADER: &str = "\
# Kerf's termination handler without Helm: what deploy/charts/aws-node-termination-handler gives.
# Held to it by `cargo test -p kerf --test charts`; KERF_BLESS=1 writes it anew.
#
#   sed \"s|QUEUE_URL_HERE|$QUEUE_URL|; s|REGION_HERE|$AWS_REGION|\" deploy/manifests/termination-handler.yaml | kubectl apply --server-side -f -
";

#[test]
fn the_plain_manifest_is_what_the_chart_gives() {
    let values = "settings: {clusterName: CLUSTER_NAME_HERE, interruptionQueue: CLUSTER_NAME_HERE}";
    let text = HELM.template("karpenter", CHART, values, &["--namespace=karpenter"]).unwrap();
    is_held_to(PLAIN, PLAIN_HEADER, &text);
    let values = "{enableSqsTerminationDraining: true, queueURL: QUEUE_URL_HERE, awsRegion: REGION_HERE, \
         podSecurityContext: {seccompProfile: {type: RuntimeDefault}}}";
    let chart = "deploy/charts/aws-node-termination-handler";
    let release = "aws-node-termination-handler";
    let text = HELM.template(release, chart, values, &["--namespace=kube-system"]).unwrap();
    is_held_to(PLAIN_HANDLER, PLAIN_HANDLER_HEADER, &text);
}

/// Whether a file is what Helm gave, without what Helm says of itself.
fn is_held_to(file: &str, header: &str, text: &str) {
    let of_helm = ["# Source: ", "helm.sh/chart: ", "app.kubernetes.io/managed-by: Helm"];
    let is_plain = |line: &&str| !of_helm.iter().any(|it| line.trim_start().starts_with(it));
    let lines: Vec<&str> = text.lines().filter(is_plain).map(str::trim_end).collect();
    let plain = format!("{header}{}\n", lines.join("\n"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(file);
    if std::env::var_os("KERF_BLESS").is_some_and(|it| it == "1") {
        std::fs::write(path, &plain).unwrap();
    }
    assert_eq!(deploy(file), plain);
}

#[test]
fn every_role_has_a_manifest_that_is_pinned_probed_and_hardened() {
    for (file, role) in [
        (PLAIN, "controller"),
        (PLAIN_HANDLER, "termination-handler"),
        ("manifests/router.yaml", "router"),
        ("zonal-autoshift.yaml", "zonal-autoshift"),
    ] {
        let objects = read(&deploy(file));
        let pods = objects.iter().find(|one| one["kind"] == "Deployment");
        let pod = &pods.unwrap()["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        let words: Vec<&str> =
            container["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(words[..2], ["kerf", role], "{file}");
        let mut kerf = Command::new(env!("CARGO_BIN_EXE_kerf"));
        assert!(kerf.args(&words[1..]).arg("--help").output().unwrap().status.success(), "{file}");
        let image = container["image"].as_str().unwrap();
        assert!(image.ends_with(env!("CARGO_PKG_VERSION")), "{file}: {image}");
        assert!(container["livenessProbe"]["httpGet"]["path"].is_string(), "{file}");
        // The handler serves one probe, as the one whose place it takes.
        let is_ready = container["readinessProbe"]["httpGet"]["path"].is_string();
        assert!(is_ready || role == "termination-handler", "{file}");
        let context = |field: &str| {
            let own = &container["securityContext"][field];
            if own.is_null() { pod["securityContext"][field].clone() } else { own.clone() }
        };
        assert_eq!(context("allowPrivilegeEscalation"), false, "{file}");
        assert_eq!(context("readOnlyRootFilesystem"), true, "{file}");
        assert_eq!(context("runAsNonRoot"), true, "{file}");
        assert_eq!(context("capabilities")["drop"], json!(["ALL"]), "{file}");
        assert_eq!(context("seccompProfile")["type"], "RuntimeDefault", "{file}");
    }
}

/// `kerf install` needs no Helm, and makes what Helm makes.
#[test]
fn what_kerf_install_prints_is_what_the_chart_gives_for_the_values_it_prints() {
    let pool = "--requirement=karpenter.sh/capacity-type=spot,on-demand";
    let own = ["--namespace=tide", "--identity=irsa", "--image=registry.example/kerf:9", pool];
    for arguments in [&["--interruption=none"][..], &["--node-role=nodes", pool], &own] {
        let namespace = arguments.iter().find(|it| it.starts_with("--namespace"));
        let namespace = namespace.unwrap_or(&"--namespace=karpenter");
        let values = print("helm", arguments);
        let expected = HELM.template("karpenter", CHART, &values, &[namespace]).unwrap();
        let is_beside =
            |one: &Value| one["kind"] == "CustomResourceDefinition" || one["kind"] == "Namespace";
        let all = |text: &str| -> BTreeMap<String, Value> {
            let objects = read(text).into_iter().filter(|one| !is_beside(one));
            objects.map(|one| without_helm(&one)).collect()
        };
        assert_eq!(all(&print("yaml", arguments)), all(&expected), "{arguments:?}");
    }
}

fn print(form: &str, arguments: &[&str]) -> String {
    let mut kerf = Command::new(env!("CARGO_BIN_EXE_kerf"));
    kerf.args(["install", "--cluster=tidepool", "--print", form]).args(arguments);
    let output = kerf.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// An object without what Helm says of itself, by kind, name and namespace. Pools have no labels of
/// a chart where none made them.
fn without_helm(object: &Value) -> (String, Value) {
    let mut object = object.clone();
    let key = format!("{} {}", object["kind"], object["metadata"]["name"]);
    let key = format!("{key} {}", object["metadata"]["namespace"]);
    let is_pool = object["apiVersion"].as_str().unwrap().contains("karpenter");
    let metadata = object["metadata"].as_object_mut().unwrap();
    if is_pool {
        metadata.remove("labels");
    } else if let Some(labels) = metadata["labels"].as_object_mut() {
        labels.remove("helm.sh/chart");
        labels.remove("app.kubernetes.io/managed-by");
    }
    (key, object)
}
