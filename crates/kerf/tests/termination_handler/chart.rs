//! The chart, installed by Helm with the values file of the guide, and what it starts.

use std::path::Path;
use std::time::Duration;

use kerf_testbed::{ControlPlane, Helm, ImdsStandIn, Options, Program, wait_until};
use serde_json::json;

use crate::account::{self, Instance, Queue};
use crate::cluster::{node, pod};

const CHART: &str = "deploy/charts/aws-node-termination-handler";
const RELEASE: &str = "aws-node-termination-handler";
/// The machine may be compiling at the same time.
const SOON: Duration = Duration::from_secs(120);

/// Made by hand in the guide, with the role that the queue's policy names.
const SERVICE_ACCOUNT: &str = "
apiVersion: v1
kind: ServiceAccount
metadata:
  name: nth
  namespace: kube-system
  annotations: {eks.amazonaws.com/role-arn: 'arn:aws:iam::123456789012:role/nth'}
";

fn guide(queue_url: &str) -> String {
    format!(
        "
enableSqsTerminationDraining: true
queueURL: {queue_url}
awsRegion: us-east-1
serviceAccount: {{create: false, name: nth}}
checkASGTagBeforeDraining: false
assumeAsgTagPropagation: true
enableSpotInterruptionDraining: true
"
    )
}

#[test]
fn the_values_of_the_guide_install_a_handler_that_has_every_right_it_needs() {
    let cluster = ControlPlane::start(Options::api_server()).unwrap();
    cluster.apply(SERVICE_ACCOUNT).unwrap();
    let (queue, helm) = (Queue::new("chart"), Helm::ready().unwrap());
    let values = guide(&queue.url);
    let said =
        helm.install(&cluster, RELEASE, CHART, &values, &["--namespace=kube-system"]).unwrap();
    for line in [
        "Mode :         Queue Processor",
        "Warning: checkASGTagBeforeDraining is deprecated: write checkTagBeforeDraining.",
        "Warning: assumeAsgTagPropagation has no effect",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let kerf = Path::new(env!("CARGO_BIN_EXE_kerf"));
    let mut command = cluster.container("kube-system", RELEASE, kerf).unwrap();
    command.envs(account::environment());
    let program = Program::start(command, &["PROBES_SERVER_PORT"]).unwrap();
    let started = "INF Started monitoring for events event_type=SQS_TERMINATE\n";
    assert!(wait_until(SOON, || program.written().contains(started)), "it does not start");
    let (is_well, log) = program.end().unwrap();
    assert!(is_well && !log.contains("forbidden"), "{log}");
}

#[test]
fn the_old_name_of_the_tag_check_replaces_the_new_one_and_unknown_names_are_refused() {
    let helm = Helm::ready().unwrap();
    helm.lint(CHART, &guide("https://sqs.us-east-1.amazonaws.com/1/nth")).unwrap();
    let text = helm.template(RELEASE, CHART, &guide("q"), &[]).unwrap();
    assert!(text.contains("name: CHECK_ASG_TAG_BEFORE_DRAINING"), "{text}");
    assert!(!text.contains("name: CHECK_TAG_BEFORE_DRAINING"), "{text}");
    assert!(!text.contains("kind: ServiceAccount\nmetadata"), "the guide makes it: {text}");
    let refused = helm.template(RELEASE, CHART, "queueUrl: x", &[]).unwrap_err().to_string();
    assert!(refused.contains("queueUrl"), "{refused}");
}

#[test]
fn without_a_queue_each_node_gets_a_handler_that_drains_it() {
    let cluster = ControlPlane::start(Options::api_server()).unwrap();
    let helm = Helm::ready().unwrap();
    // The testbed calls the node of every container so.
    let instance = Instance { id: "i-testbed".to_owned(), dns_name: String::new() };
    let objects = [node("testbed", &instance), pod("chart-pod", "testbed")];
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    cluster.apply(&list.to_string()).unwrap();
    let imds = ImdsStandIn::start(&instance.id).unwrap();
    let values = format!("instanceMetadataURL: {}\nemitKubernetesEvents: true\n", imds.url());
    let said =
        helm.install(&cluster, RELEASE, CHART, &values, &["--namespace=kube-system"]).unwrap();
    assert!(said.contains("Mode :         IMDS\n"), "{said}");
    let kerf = Path::new(env!("CARGO_BIN_EXE_kerf"));
    let daemon_set = format!("daemonset/{RELEASE}");
    let command = cluster.container("kube-system", &daemon_set, kerf).unwrap();
    let program = Program::start(command, &[]).unwrap();
    // The chart asks for it, the program by itself does not.
    let started = "INF Started monitoring for events event_type=ASG_LIFECYCLE_MONITOR\n";
    assert!(wait_until(SOON, || program.written().contains(started)), "it does not start");
    imds.set("autoscaling/target-lifecycle-state", "Terminated");
    let drained = "INF Node successfully cordoned and drained node_name=testbed ";
    assert!(wait_until(SOON, || program.written().contains(drained)), "it does not drain");
    let events = ["get", "events", "--field-selector=reason=CordonAndDrain", "--output=name"];
    let is_told = || !cluster.kubectl(&events).unwrap().is_empty();
    assert!(wait_until(SOON, is_told), "there is no Event");
    let (is_well, log) = program.end().unwrap();
    assert!(is_well && !log.contains("forbidden"), "{log}");
}

#[test]
fn daemon_sets_are_made_for_the_operating_systems_that_are_named() {
    let helm = Helm::ready().unwrap();
    let values = "
targetNodeOs: linux windows
enablePrometheusServer: true
podMonitor: {create: true}
nodeSelector: {pool: general}
windowsNodeSelector: {pool: windows}
windowsPodLabels: {team: win}
";
    helm.lint(CHART, values).unwrap();
    let text = helm.template(RELEASE, CHART, values, &[]).unwrap();
    let count = |words: &str| text.matches(words).count();
    for (words, times) in [
        ("kind: DaemonSet\n", 2),
        ("  name: aws-node-termination-handler-win\n", 1),
        ("hostNetwork: true\n", 1),
        ("runAsNonRoot: true\n", 1),
        ("        pool: general\n", 1),
        ("        pool: windows\n", 1),
        ("        team: win\n", 1),
        ("kind: PodMonitor\n", 1),
        ("kind: Service\n", 0),
        ("kind: Deployment\n", 0),
        ("resources: [leases]", 0),
    ] {
        assert_eq!(count(words), times, "{words}{text}");
    }
    let values = "
webhookURLSecretName: hook
webhookTemplateConfigMapName: bodies
webhookTemplateConfigMapKey: slack
webhookHeaders: '{\"X-Key\":\"a\"}'
";
    let text = helm.template(RELEASE, CHART, values, &[]).unwrap();
    for words in [
        "secretKeyRef:\n              name: hook\n              key: webhookurl\n",
        "value: \"/config/slack\"\n",
        "mountPath: /config\n",
        "configMap:\n          name: bodies\n",
        r#"value: "{\"X-Key\":\"a\"}""#,
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for (wrong, why) in [
        ("targetNodeOs: plan9", "allowed are linux, windows"),
        ("heartbeatInterval: 60", "heartbeatInterval and heartbeatUntil are for lifecycle hooks"),
    ] {
        let refused = helm.template(RELEASE, CHART, wrong, &[]).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
}
