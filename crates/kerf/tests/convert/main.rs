//! `kerf convert` as a person meets it: text in, text out, exit code.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A Provisioner and its template that convert without a word.
const PAIR: &str = "
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: web}
spec:
  providerRef: {name: web}
---
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: web}
spec:
  amiFamily: Bottlerocket
  instanceProfile: nodes
  subnetSelector: {team: web}
  securityGroupSelector: {team: web}
";

fn kerf(arguments: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kerf"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kerf starts");
    let mut input = child.stdin.take().expect("it was piped");
    // A command that fails on its arguments closes its input unread.
    let _ = input.write_all(stdin.as_bytes());
    drop(input);
    child.wait_with_output().expect("kerf ends")
}

fn convert(manifest: &str, flags: &[&str]) -> (Option<i32>, String, String) {
    let output = kerf(&[&["convert", "-f", "-"], flags].concat(), manifest);
    let text = |bytes| String::from_utf8(bytes).expect("kerf prints text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn assert_lints_clean(manifest: &str) {
    let output = kerf(&["lint", "-f", "-"], manifest);
    let report = String::from_utf8(output.stdout).expect("kerf prints text");
    assert_eq!(output.status.code(), Some(0), "{report}\n{manifest}");
}

/// The items of the JSON form, by kind.
fn items(json: &str, kind: &str) -> Vec<Value> {
    let list: Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(list["kind"], "List");
    let items = list["items"].as_array().expect("a list has items").iter();
    items.filter(|item| item["kind"] == kind).cloned().collect()
}

#[test]
fn the_examples_convert_and_the_result_lints_clean() {
    for name in ["provisioner-awsnodetemplate", "provisioner-inline-provider"] {
        let path = format!("{}/../../examples/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let output = kerf(&["convert", "-f", &path], "");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}");
        let kinds: Vec<_> = text.lines().filter(|line| line.starts_with("kind: ")).collect();
        assert_eq!(kinds, ["kind: EC2NodeClass", "kind: NodePool"], "{name}");
        assert_lints_clean(&text);
    }
}

/// A NodePool and its EC2NodeClass, as they were written for v1beta1.
const BETA: &str = include_str!("v1beta1.yaml");

#[test]
fn objects_of_v1beta1_become_those_of_v1_that_mean_the_same() {
    let claim = "
---
apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata: {name: general-x7k2p, labels: {karpenter.sh/nodepool: general}, uid: abc}
spec:
  nodeClassRef: {name: default}
  kubelet: {maxPods: 58}
  requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]
  resources: {requests: {cpu: 2}}
status: {providerID: 'aws:///us-east-1a/i-1'}
";
    let (code, json, stderr) = convert(&[BETA, claim].concat(), &["-o", "json"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_lints_clean(&json);

    let pool = &items(&json, "NodePool")[0];
    assert_eq!(pool["apiVersion"], "karpenter.sh/v1");
    let (spec, template) = (&pool["spec"], &pool["spec"]["template"]["spec"]);
    let disruption = serde_json::json!({
        "consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s",
        "budgets": [{"nodes": "10%"}],
    });
    assert_eq!(spec["disruption"], disruption);
    assert_eq!((&spec["weight"], &spec["limits"]["cpu"]), (&10.into(), &1000.into()));
    assert_eq!(template["expireAfter"], "336h");
    let class = serde_json::json!(
        {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    assert_eq!(template["nodeClassRef"], class);
    assert_eq!(template["requirements"][1]["minValues"], 2);
    assert!(template.get("kubelet").is_none());

    let class = &items(&json, "EC2NodeClass")[0]["spec"];
    assert_eq!(class["amiSelectorTerms"], serde_json::json!([{"alias": "al2023@latest"}]));
    assert!(class.get("amiFamily").is_none());
    assert_eq!(class["kubelet"]["maxPods"], 58);
    assert_eq!(class["metadataOptions"]["httpPutResponseHopLimit"], 2, "as it was then");

    let claim = &items(&json, "NodeClaim")[0];
    assert_eq!(claim["spec"]["expireAfter"], "336h", "as its pool says");
    assert_eq!(claim["spec"]["nodeClassRef"]["kind"], "EC2NodeClass");
    assert!(claim.get("status").is_none() && claim["metadata"].get("uid").is_none());
    assert!(stderr.contains("NodeClaim/general-x7k2p  status  warning: is left out"), "{stderr}");
}

#[test]
fn pools_of_v1beta1_with_other_kubelet_settings_get_a_copy_of_their_class() {
    let (pool, class) = BETA.split_once("---\n").unwrap();
    let other = pool.replace("name: general", "name: small").replace("maxPods: 58", "maxPods: 20");
    let manifest = [pool, other.as_str(), class].join("---\n");
    let (code, json, stderr) = convert(&manifest, &["-o", "json"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_lints_clean(&json);
    let classes = items(&json, "EC2NodeClass");
    let of = |class: &Value| {
        (class["metadata"]["name"].clone(), class["spec"]["kubelet"]["maxPods"].clone())
    };
    assert_eq!(of(&classes[0]), ("default".into(), 58.into()));
    assert_eq!(of(&classes[1]), ("default-small".into(), 20.into()));
    let pools = items(&json, "NodePool");
    let names: Vec<_> =
        pools.iter().map(|it| &it["spec"]["template"]["spec"]["nodeClassRef"]["name"]).collect();
    assert_eq!(names, ["default", "default-small"]);
    assert!(stderr.contains("NodePool/small  spec.template.spec.kubelet  warning: "), "{stderr}");
}

/// Changes to the manifests of v1beta1, and what keeps which object from being converted.
const BETA_REFUSED: [(&str, &str, &str); 6] = [
    (
        "name: default\nspec",
        "name: other\nspec",
        "NodePool/general  spec.template.spec.kubelet  moves to",
    ),
    ("weight: 10", "wieght: 10", "NodePool/general  spec.wieght  "),
    ("amiFamily: AL2023", "amiFamily: Ubuntu", "EC2NodeClass/default  spec.amiFamily  "),
    ("amiFamily: AL2023", "amiFamily: Custom", "EC2NodeClass/default  spec.amiSelectorTerms  "),
    (
        "consolidationPolicy: WhenUnderutilized",
        "consolidationPolicy: WhenEmpty",
        "NodePool/general  spec.disruption.consolidateAfter  ",
    ),
    ("role: Kar", "roel: Kar", "EC2NodeClass/default  spec.roel  "),
];

#[test]
fn what_has_no_meaning_in_v1_refuses_the_object_of_v1beta1_and_no_other() {
    for (right, wrong, said) in BETA_REFUSED {
        let manifest = BETA.replace(right, wrong);
        assert_ne!(manifest, BETA, "{wrong}");
        let (code, stdout, stderr) = convert(&manifest, &[]);
        assert_eq!(code, Some(1), "{wrong}: {stderr}");
        assert!(stderr.contains(said), "{wrong}: {stderr}");
        let refused = said.split('/').next().unwrap();
        for kind in ["NodePool", "EC2NodeClass"] {
            let is_made = stdout.lines().any(|line| line == format!("kind: {kind}"));
            assert_eq!(is_made, kind != refused, "{wrong}: {stdout}");
        }
    }
}

#[test]
fn yaml_and_json_say_the_same() {
    let (_, yaml, _) = convert(PAIR, &[]);
    let (code, json, _) = convert(PAIR, &["-o", "json"]);
    assert_eq!(code, Some(0));
    assert_lints_clean(&json);
    let inputs = [kerf_lint::Input::new("-", yaml), kerf_lint::Input::new("-", json)];
    let [from_yaml, from_json] = inputs.map(|input| {
        let objects = kerf_lint::objects(&[input]).objects.into_iter();
        objects.map(|object| object.value).collect::<Vec<_>>()
    });
    assert_eq!(from_yaml.len(), 2);
    assert_eq!(from_yaml, from_json);
}

/// kubectl reads `yes` as a boolean and `0777` as a number, so such text needs quotes.
#[test]
fn texts_that_yaml_reads_as_something_else_stay_text() {
    let long = "word ".repeat(60);
    let awkward = [
        "yes",
        "no",
        "on",
        "y",
        "0777",
        "0o17",
        "1e3",
        "0x1F",
        "12:30:45",
        "2024-01-01",
        "~",
        "",
        "null",
        "- a",
        "a: b",
        "# a",
        " a ",
        "a\nb\n\n",
        "\ta",
        "%a",
        "*a",
        "&a",
        "1_000",
        ".5",
        "+1",
        ".inf",
        "=",
        "<<",
        "a\u{85}b",
        "\u{1b}[31m",
        "---",
        "...",
        &long,
    ];
    let tags: Vec<String> =
        awkward.iter().enumerate().map(|(place, value)| format!("k{place}={value}")).collect();
    let flags: Vec<&str> = tags.iter().flat_map(|tag| ["--tag", tag]).collect();
    let (code, yaml, stderr) = convert(PAIR, &flags);
    assert_eq!(code, Some(0), "{stderr}");
    let read = kerf_lint::objects(&[kerf_lint::Input::new("-", yaml.as_str())]);
    assert!(read.findings.is_empty(), "{:?}\n{yaml}", read.findings);
    for (place, value) in awkward.iter().enumerate() {
        let tag = &read.objects[0].value["spec"]["tags"][format!("k{place}")];
        assert_eq!(tag, value, "{yaml}");
    }
}

#[test]
fn flags_stand_in_for_the_old_global_settings() {
    let bare = PAIR.replace("  instanceProfile: nodes\n", "");
    let (code, _, stderr) = convert(&bare, &[]);
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("AWSNodeTemplate/web  spec.instanceProfile  "), "{stderr}");

    let flags =
        ["-o", "json", "--role", "node", "--tag", "a=b=c", "--tag", "d=", "--strict-budgets"];
    let (code, json, stderr) = convert(&bare, &flags);
    assert_eq!(code, Some(0), "{stderr}");
    let class = &items(&json, "EC2NodeClass")[0]["spec"];
    assert_eq!(class["role"], "node");
    assert_eq!(class["tags"], serde_json::json!({"a": "b=c", "d": ""}));
    let pool = &items(&json, "NodePool")[0]["spec"];
    assert_eq!(pool["disruption"]["budgets"], serde_json::json!([{"nodes": "100%"}]));

    let (code, json, _) = convert(&bare, &["-o", "json", "--default-instance-profile", "old"]);
    assert_eq!(code, Some(0));
    assert_eq!(items(&json, "EC2NodeClass")[0]["spec"]["instanceProfile"], "old");
}

#[test]
fn a_tag_without_a_key_or_a_value_is_a_usage_error() {
    for tag in ["a", "=a"] {
        let (code, stdout, stderr) = convert(PAIR, &["--tag", tag]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains("--tag"), "{stderr}");
    }
}

#[test]
fn a_launch_template_is_refused_by_its_field_and_the_pool_is_still_made() {
    let manifest = PAIR
        .replace(
            "  amiFamily: Bottlerocket\n  instanceProfile: nodes\n",
            "  launchTemplate: mine\n",
        )
        .replace("  securityGroupSelector: {team: web}\n", "");
    let (code, stdout, stderr) = convert(&manifest, &[]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.starts_with("AWSNodeTemplate/web  spec.launchTemplate  "), "{stderr}");
    assert!(stdout.contains("\nkind: NodePool") && !stdout.contains("\nkind: EC2NodeClass"));
}

/// A misspelt field would otherwise vanish, and with it what its author meant.
#[test]
fn a_field_nobody_knows_refuses_the_object_and_no_other() {
    let manifest =
        PAIR.replace("spec:\n  providerRef", "spec:\n  ttlSecondsAfterEmty: 30\n  providerRef");
    let (code, stdout, stderr) = convert(&manifest, &[]);
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("Provisioner/web  spec.ttlSecondsAfterEmty  "), "{stderr}");
    assert!(stderr.contains("ttlSecondsAfterEmpty"), "no advice: {stderr}");
    assert!(stdout.contains("\nkind: EC2NodeClass") && !stdout.contains("\nkind: NodePool"));
}

#[test]
fn a_key_given_twice_refuses_the_object() {
    let manifest =
        PAIR.replace("spec:\n  providerRef", "spec:\n  weight: 1\n  weight: 2\n  providerRef");
    let (code, _, stderr) = convert(&manifest, &[]);
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("Provisioner/web  spec.weight  "), "{stderr}");
}

#[test]
fn other_kinds_are_passed_over_and_said() {
    let manifest = format!("{PAIR}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n");
    let (code, stdout, stderr) = convert(&manifest, &[]);
    assert_eq!(code, Some(0));
    assert_eq!(stderr, "passed over: 1 ConfigMap\n");
    assert!(!stdout.contains("ConfigMap"));
}

#[test]
fn a_broken_document_is_said_and_hides_no_other() {
    let (code, stdout, stderr) = convert(&format!("{PAIR}---\nkind: [\n"), &[]);
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("-:17:"), "{stderr}");
    assert_lints_clean(&stdout);
    assert!(stdout.contains("\nkind: NodePool"));
}

#[test]
fn a_file_that_is_not_there_is_unreadable_input() {
    let output = kerf(&["convert", "-f", "no-such-file.yaml"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("no-such-file.yaml  "));
}
