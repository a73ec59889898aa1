//! `kerf plan` as a person meets it: text in, text out, exit code.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const POOL: &str = "
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: small}
spec:
  template:
    spec:
      requirements:
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: karpenter.kwok.sh/instance-cpu, operator: In, values: ['4']}
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
";

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]}
";

const NODE: &str = "
apiVersion: v1
kind: Node
metadata: {name: roomy, labels: {kubernetes.io/os: linux}}
status:
  capacity: {cpu: 8, memory: 32Gi, pods: 110}
  allocatable: {cpu: 8, memory: 32Gi, pods: 110}
";

fn kerf(arguments: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kerf"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kerf starts");
    let mut input = child.stdin.take().expect("it was piped");
    // A command that fails on its arguments closes its input unread.
    let _ = input.write_all(stdin);
    drop(input);
    child.wait_with_output().expect("kerf ends")
}

struct Answer {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn plan(documents: &[&str], flags: &[&str]) -> Answer {
    let arguments = [&["plan", "-f", "-", "--detailed-exitcode"], flags].concat();
    let output = kerf(&arguments, documents.join("\n---\n").as_bytes());
    let text = |bytes| String::from_utf8(bytes).expect("kerf prints text");
    Answer { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn plan_json(documents: &[&str], flags: &[&str]) -> (Option<i32>, Value) {
    let Answer { code, stdout, stderr } = plan(documents, &[&["-o", "json"], flags].concat());
    let json = serde_json::from_str(&stdout);
    (code, json.unwrap_or_else(|error| panic!("{error}\n{stdout}\n{stderr}")))
}

#[test]
fn new_nodes_have_the_documented_shape_and_detailed_exit_code_2() {
    let (code, plan) = plan_json(&[POOL, DEPLOYMENT], &[]);
    assert_eq!(code, Some(2));
    let fields: Vec<_> = plan.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(
        fields,
        [
            "existingNodes",
            "lowerBoundPerHour",
            "newNodes",
            "pricePerHour",
            "unschedulable",
            "version"
        ]
    );
    assert_eq!(plan["version"], 1);
    let node = &plan["newNodes"][0];
    assert_eq!(plan["newNodes"].as_array().map(Vec::len), Some(1), "{plan}");
    // 4 CPU at 0.025 dollars and 8 GiB at 0.001 dollars for a billion bytes.
    assert_eq!(node["pricePerHour"], 0.10859);
    assert_eq!(plan["pricePerHour"], node["pricePerHour"]);
    assert_eq!(node["nodePool"], "small");
    assert_eq!(node["instanceType"], "c-4x-amd64-linux");
    assert_eq!(node["capacityType"], "on-demand");
    assert!(node["zone"].as_str().is_some_and(|zone| zone.starts_with("test-zone-")), "{node}");
    assert_eq!(node["instanceTypeOptions"], 3);
    let pods: Vec<_> = ["default/web-0", "default/web-1", "default/web-2"].into();
    assert_eq!(node["pods"], serde_json::json!(pods));
    assert!(plan["lowerBoundPerHour"].as_f64().is_some_and(|bound| bound <= 0.10859));
}

#[test]
fn a_pool_as_kubectl_prints_it_is_planned_with() {
    let stored = POOL.replace("{name: small}", "{name: small, resourceVersion: '7', uid: u}");
    let (code, plan) = plan_json(&[&stored, DEPLOYMENT], &[]);
    assert_eq!(code, Some(2));
    assert_eq!(plan["newNodes"][0]["nodePool"], "small", "{plan}");
}

/// Deployments with a mistake each, and what is said of it beside the place.
const MISTAKES: [(&str, &str, &str); 5] = [
    ("replicas: 3", "replica: 3", "spec.replica  is no field that exists; write: replicas"),
    (
        "resources: {requests",
        "resurces: {requests",
        "spec.template.spec.containers[0].resurces  is no field that exists; write: resources",
    ),
    (
        "memory: 1Gi}}",
        "memory: 1Gi}, limits: {memory: 512Mi}}",
        "spec.template.spec.containers[0].resources.requests.memory  1Gi is above the limit of 512Mi",
    ),
    (
        "metadata: {labels: {app: web}}",
        "metadata: {labels: {app: wed}}",
        "spec.selector  does not select the labels in spec.template.metadata.labels",
    ),
    (
        "selector: {matchLabels: {app: web}}",
        "selector: {}",
        "spec.selector  must select the pods of the template and is empty",
    ),
];

#[test]
fn mistakes_in_workloads_are_warned_of_before_the_plan_and_fail_with_strict() {
    let good = plan(&[POOL, DEPLOYMENT], &["--strict"]);
    assert_eq!((good.code, good.stderr.as_str()), (Some(2), ""));
    for (right, wrong, said) in MISTAKES {
        let document = DEPLOYMENT.replace(right, wrong);
        assert_ne!(document, DEPLOYMENT, "{wrong}");
        let warned = plan(&[POOL, &document], &[]);
        assert_eq!(warned.code, Some(2), "{}", warned.stderr);
        let lines: Vec<&str> = warned.stderr.lines().filter(|line| !line.is_empty()).collect();
        assert!(lines.iter().all(|line| line.starts_with("WARNING  ")), "{lines:?}");
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[1].contains("Deployment/web") && lines[1].ends_with(said), "{lines:?}");
        let failed = plan(&[POOL, &document], &["--strict"]);
        assert_eq!((failed.code, failed.stdout.as_str()), (Some(1), ""));
        assert!(failed.stderr.trim_end().ends_with(said), "{}", failed.stderr);
    }
}

#[test]
fn what_an_api_server_has_stored_is_not_doubted() {
    let document = DEPLOYMENT.replace("{name: web}", "{name: web, resourceVersion: '7'}");
    let document = document.replace("replicas: 3", "replicas: 3\n  newField: 1");
    let answer = plan(&[POOL, &document], &["--strict"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(2), ""));
}

#[test]
fn pools_of_v1beta1_are_converted_first() {
    let pods = DEPLOYMENT.replace(
        "spec: {containers",
        "spec: {tolerations: [{key: dedicated, operator: Exists}], containers",
    );
    let (code, json) = plan_json(&[include_str!("convert/v1beta1.yaml"), &pods], &[]);
    assert_eq!(code, Some(2), "{json}");
    assert_eq!(json["newNodes"][0]["nodePool"], "general");
    let beta = include_str!("convert/v1beta1.yaml").replace("weight", "wieght");
    let answer = plan(&[&beta, &pods], &[]);
    assert_eq!(answer.code, Some(1));
    assert!(answer.stderr.contains("NodePool/general  spec.wieght"), "{}", answer.stderr);
}

#[test]
fn yaml_says_the_same_as_json() {
    let json = plan_json(&[POOL, DEPLOYMENT], &[]).1;
    let yaml = plan(&[POOL, DEPLOYMENT], &["-o", "yaml"]).stdout;
    let yaml: Value = serde_saphyr::from_str(&yaml).expect("YAML");
    assert_eq!(yaml, json);
}

#[test]
fn what_fits_as_it_is_needs_nothing() {
    let (code, json) = plan_json(&[POOL, DEPLOYMENT, NODE], &[]);
    assert_eq!(code, Some(0), "{json}");
    assert_eq!(json["existingNodes"][0]["name"], "roomy");
    assert_eq!(json["existingNodes"][0]["pods"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["pricePerHour"], 0.0);
    let table = plan(&[POOL, DEPLOYMENT, NODE], &[]);
    assert!(table.stdout.contains("3 pods on 1 node that exist"), "{}", table.stdout);
}

#[test]
fn pods_that_do_not_fit_are_told_with_their_reasons_and_detailed_exit_code_3() {
    let huge = DEPLOYMENT.replace("cpu: 1,", "cpu: 1000,").replace("name: web", "name: huge");
    let (code, json) = plan_json(&[POOL, DEPLOYMENT, &huge], &[]);
    assert_eq!(code, Some(3));
    let unschedulable = json["unschedulable"].as_array().expect("a list");
    assert_eq!(unschedulable.len(), 3, "{json}");
    assert_eq!(unschedulable[0]["pod"], "default/huge-0");
    assert!(unschedulable[0]["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    assert_eq!(json["newNodes"].as_array().map(Vec::len), Some(1), "{json}");
    let table = plan(&[POOL, DEPLOYMENT, &huge], &[]).stdout;
    assert!(table.contains("3 pods do not fit"), "{table}");
    assert!(table.contains("default/huge-0, default/huge-1, default/huge-2"), "{table}");
}

#[test]
fn a_table_fits_80_columns_and_has_no_colour_in_a_pipe() {
    let long = POOL.replace("name: small", &format!("name: {}", "long".repeat(12)));
    for flags in [&[][..], &["--plain"]] {
        let Answer { code, stdout, .. } = plan(&[&long, DEPLOYMENT], flags);
        assert_eq!(code, Some(2));
        assert!(!stdout.contains('\u{1b}'), "{stdout}");
        for line in stdout.lines() {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
        assert_eq!(flags.is_empty(), !stdout.is_ascii(), "{stdout}");
        assert!(stdout.contains("1 node to launch"), "{stdout}");
        assert!(stdout.contains("0.1086 $/hour, 79.27 $/month"), "{stdout}");
        assert!(stdout.contains("c-4x-amd64-linux "), "the type is whole in {stdout}");
    }
}

#[test]
fn a_price_is_that_of_the_row_and_the_wide_table_has_that_of_the_node_too() {
    let apart = DEPLOYMENT.replace("cpu: 1,", "cpu: 3,");
    let table = plan(&[POOL, &apart], &[]).stdout;
    assert!(table.contains(" 0.3258 "), "three nodes of 0.10859 in {table}");
    assert!(!table.contains("$/NODE"), "{table}");
    let wide = plan(&[POOL, &apart], &["-o", "wide"]).stdout;
    let node = wide.lines().find(|line| line.contains("×3")).expect("a line of nodes");
    assert!(node.contains(" 0.1086 ") && node.contains(" 0.3258 "), "{wide}");
}

#[test]
fn gpus_and_other_devices_have_a_column_where_any_is_asked_for() {
    let pod = |name: &str, device: &str, count: u32| {
        let limits = format!("{{{device}: {count}}}");
        let resources = format!("{{requests: {{cpu: 1, memory: 1Gi}}, limits: {limits}}}");
        let spec = format!("{{containers: [{{name: a, resources: {resources}}}]}}");
        format!("{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {spec}}}")
    };
    let pool = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: any}, spec: {template: \
                {spec: {requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, \
                values: [c, g, inf]}], nodeClassRef: {group: karpenter.k8s.aws, kind: \
                EC2NodeClass, name: default}}}}}";
    let header = |documents: &[&str]| {
        let Answer { stdout, .. } = plan(documents, &["--plain"]);
        let wide: Vec<&str> = stdout.lines().filter(|line| line.len() > 80).collect();
        assert!(wide.is_empty(), "{stdout}");
        stdout.lines().nth(1).unwrap_or_default().to_owned() + &stdout
    };
    let (gpu, neuron) = (pod("a", "nvidia.com/gpu", 1), pod("b", "aws.amazon.com/neuron", 1));
    assert!(!header(&[pool, DEPLOYMENT]).contains("GPU"));
    let gpus = header(&[pool, &gpu]);
    assert!(gpus.contains("  GPU  ") && gpus.contains(" 1/1 "), "{gpus}");
    let both = header(&[pool, &gpu, &neuron]);
    assert!(both.contains("DEVICES") && both.contains("1/1 neuron"), "{both}");
}

/// Ten pods that may not share a node need ten nodes, and no plan is blamed for that.
#[test]
fn the_least_price_counts_what_spreads_and_anti_affinity_and_whole_pods_force() {
    let term = "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}";
    let anti = format!(
        "spec: {{affinity: {{podAntiAffinity: \
         {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}, containers"
    );
    let spread = "spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: \
                  kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: \
                  {matchLabels: {app: web}}}], containers";
    let ten = DEPLOYMENT.replace("replicas: 3", "replicas: 10");
    // A node of four processors holds one pod of three.
    let large = ten.replace("cpu: 1,", "cpu: 3,");
    for document in
        [ten.replace("spec: {containers", &anti), ten.replace("spec: {containers", spread), large]
    {
        let (_, plan) = plan_json(&[POOL, &document], &[]);
        assert_eq!(plan["newNodes"].as_array().map(Vec::len), Some(10), "{plan}");
        assert_eq!(plan["pricePerHour"], plan["lowerBoundPerHour"], "{document}");
    }
}

#[test]
fn equal_nodes_stand_on_one_line() {
    let apart = DEPLOYMENT.replace("cpu: 1,", "cpu: 3,");
    let table = plan(&[POOL, &apart], &[]).stdout;
    assert!(table.contains("  ×3  c-4x-amd64-linux  test-zone-"), "{table}");
    let spread = apart.replace(
        "spec: {containers",
        "spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, \
         whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}], containers",
    );
    let table = plan(&[POOL, &spread], &[]).stdout;
    assert!(table.contains("  ×3  c-4x-amd64-linux  test-zone-a,b,c  on-demand"), "{table}");
}

#[test]
fn without_a_pool_one_is_assumed_and_said() {
    for (catalogue, word) in [("kwok", "all linux/amd64"), ("aws:eu-west-1", "c, m and r")] {
        let Answer { code, stdout, stderr } = plan(&[DEPLOYMENT], &["--catalogue", catalogue]);
        assert_eq!(code, Some(2), "{stdout}{stderr}");
        assert!(stdout.contains("no NodePool given"), "{stdout}");
        assert!(stdout.contains(word), "{stdout}");
    }
}

#[test]
fn a_file_of_instance_types_replaces_the_built_in_ones() {
    let types = r#"[{"name": "only", "architecture": "amd64", "operatingSystems": ["linux"],
        "resources": {"cpu": "4", "memory": "8Gi"}, "offerings": [{"Price": 0.5,
        "Requirements": [
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["here"]}]}]}]"#;
    let path = std::env::temp_dir().join(format!("kerf-plan-{}.json", std::process::id()));
    std::fs::write(&path, types).expect("a file can be written");
    let (code, json) = plan_json(&[DEPLOYMENT], &["--catalogue", &path.display().to_string()]);
    std::fs::remove_file(&path).expect("it was there");
    assert_eq!(code, Some(2));
    let node = &json["newNodes"][0];
    assert_eq!((&node["instanceType"], &node["zone"]), (&"only".into(), &"here".into()));
}

#[test]
fn an_old_provisioner_is_planned_with_as_the_pool_it_becomes() {
    let provisioner = "
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: old}
spec: {providerRef: {name: old}}
---
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: old}
spec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}
";
    let (code, json) = plan_json(&[provisioner, DEPLOYMENT], &[]);
    assert_eq!(code, Some(2), "{json}");
    assert_eq!(json["newNodes"][0]["nodePool"], "old");
}

#[test]
fn a_node_class_changes_what_its_instances_hold() {
    let pool =
        POOL.replace("karpenter.kwok.sh/instance-cpu", "karpenter.k8s.aws/instance-cpu").replace(
            "group: karpenter.kwok.sh, kind: KWOKNodeClass",
            "group: karpenter.k8s.aws, kind: EC2NodeClass",
        );
    let class = "
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
  kubelet: {maxPods: 1}
";
    let nodes =
        |documents: &[&str]| plan_json(documents, &[]).1["newNodes"].as_array().map(Vec::len);
    assert_eq!(nodes(&[&pool, DEPLOYMENT]), Some(1));
    assert_eq!(nodes(&[&pool, DEPLOYMENT, class]), Some(3));
}

#[test]
fn what_a_node_class_was_taken_for_and_what_is_not_known_of_it_is_said() {
    let pool = POOL.replace(
        "group: karpenter.kwok.sh, kind: KWOKNodeClass",
        "group: karpenter.k8s.aws, kind: EC2NodeClass",
    );
    let pool = pool.replace("karpenter.kwok.sh/instance-cpu", "karpenter.k8s.aws/instance-cpu");
    let class = |terms: &str, status: &str| {
        format!(
            "
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: default}}
spec:
  role: nodes
  {terms}
  subnetSelectorTerms: [{{tags: {{a: b}}}}]
  securityGroupSelectorTerms: [{{tags: {{a: b}}}}]
{status}
"
        )
    };
    // Long lines are broken.
    let said = |class: &str| plan(&[&pool, DEPLOYMENT, class], &[]).stdout.replace('\n', " ");
    let plain = said(&class("amiSelectorTerms: [{alias: bottlerocket@latest}]", ""));
    assert!(plain.contains("EC2NodeClass default: Bottlerocket; "), "{plain}");
    assert!(plain.contains("prices: us-east-1, 2026-"), "{plain}");
    assert!(plain.contains("; spot: estimated, 40 to 50 %; zones: all, assumed"), "{plain}");
    assert!(plain.contains(" CPUs and ") && !plain.contains("only AWS can tell"), "{plain}");
    let terms = "amiSelectorTerms: [{id: ami-1}]\n  amiFamily: AL2023\n  \
                 capacityReservationSelectorTerms: [{id: cr-1}]";
    let subnets = "[{id: subnet-1, zone: us-east-1b}, {id: subnet-2, zone: us-east-1a}]";
    let known = said(&class(terms, &format!("status: {{subnets: {subnets}}}")));
    assert!(known.contains("AL2023, zones us-east-1a, us-east-1b; "), "{known}");
    assert!(!known.contains("assumed"), "{known}");
    let unknown = "only AWS can tell for which architectures its images are, what is left of its";
    assert!(known.contains(unknown), "{known}");
}

#[test]
fn a_cron_job_is_skipped_and_said_so() {
    let job = "{apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly}}";
    let settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}";
    let Answer { code, stdout, .. } = plan(&[POOL, job, settings], &[]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("no pods to place"), "{stdout}");
    assert!(stdout.contains("1 CronJob skipped"), "{stdout}");
    assert!(stdout.contains("1 ConfigMap"), "{stdout}");
}

/// Bad input, and what must be said of it.
const BAD: &[(&str, &str)] = &[
    ("a: b\n---\na: [\n", "-:3 (document 2)  "),
    ("{}", "-:1 (document 1)  no kind  apiVersion  every manifest needs"),
    (
        "{apiVersion: v1, kind: Nod, metadata: {name: a}}",
        "-:1 (document 1)  Nod/a  kind  there is no kind \"Nod\" in v1",
    ),
    (
        "{apiVersion: karpenter.sh/v1, kind: Nodepool, metadata: {name: a}}",
        "(document 1)  Nodepool/a  kind  there is no kind \"Nodepool\" in the group karpenter.sh",
    ),
    (
        "---\n# first\n---\n{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: \
         [{name: x, resources: {requests: {cpu: 1e99}}}]}}",
        "(document 1)  Pod/a  spec.containers[0].resources.requests.cpu  ",
    ),
    (
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: x, resources: \
         {requests: {cpu: '99999999999999999999999999999999999999999'}}}]}}",
        "is too large to be kept exactly",
    ),
    (
        "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Pod, \
         metadata: {name: a, labels: {x: y}}}",
        "(document 2)  Pod/a  was given before and differs",
    ),
    (
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {limits: {cpu: \
         lots}}}",
        "spec.limits.cpu",
    ),
];

#[test]
fn bad_input_is_named_by_file_document_field_and_reason_with_exit_code_1() {
    for (document, expected) in BAD {
        let Answer { code, stdout, stderr } = plan(&[document], &[]);
        assert_eq!(code, Some(1), "{document}\n{stderr}");
        assert!(stdout.is_empty(), "{stdout}");
        assert!(stderr.contains(expected), "{document}\n{stderr}");
    }
}

#[test]
fn wrong_values_are_wrong_usage_and_files_that_are_missing_are_bad_input() {
    for (arguments, code) in [
        (["-f", "/no/such/file", "--plain"], 1),
        (["-f-", "--catalogue", "aws:us-esat-1"], 2),
        (["-f-", "--catalogue", "/no/such/file.json"], 1),
        (["-f-", "--scheduler-config", "/no/such/file"], 1),
        (["-f-", "--catalog", "azure"], 2),
        (["-f-", "--catalogue", "azure"], 2),
        (["-f-", "--preference-policy", "Maybe"], 2),
        (["-f-", "--min-values-policy", "Lax"], 2),
    ] {
        let output = kerf(&[&["plan"], &arguments[..]].concat(), DEPLOYMENT.as_bytes());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    assert_eq!(kerf(&["plan", "--help"], b"").status.code(), Some(0));
}

/// Settings of the scheduler that are refused, and what is said beside the file's name.
const BAD_SETTINGS: &[(&str, &str)] = &[
    ("podTopologySpread: [", "line 1"),
    ("podTopologySpraed: {}", "unknown field `podTopologySpraed`"),
    (
        "podTopologySpread: {defaultConstraints: [{maxSkew: 0, topologyKey: zone, \
         whenUnsatisfiable: DoNotSchedule}]}",
        "podTopologySpread.defaultConstraints[0].maxSkew  0 is not a number from 1",
    ),
];

#[test]
fn bad_settings_of_the_scheduler_are_bad_input_and_empty_ones_say_nothing() {
    let file = std::env::temp_dir().join(format!("kerf-settings-{}.yaml", std::process::id()));
    let path = file.display().to_string();
    for (text, expected) in BAD_SETTINGS {
        std::fs::write(&file, text).expect("a file can be written");
        let answer = plan(&[POOL, DEPLOYMENT], &["--scheduler-config", &path]);
        assert_eq!(answer.code, Some(1), "{text}");
        assert!(answer.stderr.starts_with(&path), "{}", answer.stderr);
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
    }
    std::fs::write(&file, "\n").expect("a file can be written");
    let with = plan_json(&[POOL, DEPLOYMENT], &["--scheduler-config", &path]);
    std::fs::remove_file(&file).expect("it was written");
    assert_eq!(with, plan_json(&[POOL, DEPLOYMENT], &[]));
}

#[test]
fn bytes_that_are_no_text_and_files_that_are_too_large_are_refused() {
    let output = kerf(&["plan", "-f", "-"], &[0xff, 0xfe, 0x00]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not UTF-8"));
    let large = vec![b'#'; 65 * 1024 * 1024];
    let output = kerf(&["plan", "-f", "-"], &large);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("larger than 64 MiB"));
}

#[test]
fn the_example_shows_a_fleet() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/inflate.yaml");
    let output = kerf(&["plan", "-f", example, "-o", "json"], b"");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0), "a plan is a success, whatever is in it");
    let nodes = json["newNodes"].as_array().expect("a list");
    let pods: usize = nodes.iter().filter_map(|node| node["pods"].as_array()).map(Vec::len).sum();
    assert_eq!(pods, 10);
}

/// A plan makes only those of AWS's labels that the input names; which ones are made must not change
/// what is planned.
#[test]
fn naming_every_label_of_aws_in_passing_changes_nothing() {
    let flags = ["--catalogue", "aws:us-east-1"];
    let names = kerf_model::labels::aws::WELL_KNOWN.join(" ");
    let remark = format!("metadata: {{name: web, annotations: {{remark: '{names}'}}}}");
    let remarked = DEPLOYMENT.replace("metadata: {name: web}", &remark);
    assert!(remarked.contains("karpenter.k8s.aws/instance-family"), "{remarked}");
    assert_eq!(plan_json(&[&remarked], &flags), plan_json(&[DEPLOYMENT], &flags));
}

/// The label decides, so that it must have been made.
#[test]
fn a_label_of_aws_that_a_pod_asks_for_is_there() {
    let with_selector =
        "spec: {nodeSelector: {karpenter.k8s.aws/instance-family: m6i}, containers: ";
    let picky = DEPLOYMENT.replace("spec: {containers: ", with_selector);
    let (_, plan) = plan_json(&[&picky], &["--catalogue", "aws:us-east-1"]);
    let types = plan["newNodes"].as_array().expect("a list").iter();
    let types: Vec<&str> = types.filter_map(|node| node["instanceType"].as_str()).collect();
    assert!(!types.is_empty() && types.iter().all(|name| name.starts_with("m6i.")), "{plan}");
}

/// Pods for spot instances never share a node with pods for any other.
#[test]
fn pods_that_cannot_share_a_node_cost_at_least_what_each_cost_alone() {
    let wanting = |name: &str, capacity_type: &str| {
        let selector = format!("karpenter.sh/capacity-type: {capacity_type}");
        let spec = format!("spec: {{nodeSelector: {{{selector}}}, containers: ");
        DEPLOYMENT.replace("spec: {containers: ", &spec).replace("web", name)
    };
    let (spot, on_demand) = (wanting("cheap", "spot"), wanting("sure", "on-demand"));
    let least = |documents: &[&str]| {
        let (_, plan) = plan_json(documents, &["--catalogue", "aws:us-east-1"]);
        plan["lowerBoundPerHour"].as_f64().unwrap_or_else(|| panic!("{plan}"))
    };
    let together = least(&[&spot, &on_demand]);
    let apart = least(&[&spot]) + least(&[&on_demand]);
    assert!((together - apart).abs() < 1e-9, "{together} {apart}");
    assert!(together > 1.2 * 2.0 * least(&[&spot]), "the sure ones cost more: {together}");
}
