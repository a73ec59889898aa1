//! The chart, installed by Helm with the values file of the guide, and what it starts.

use std::path::Path;
use std::time::Duration;

use kerf_testbed::{ControlPlane, Helm, Options, Program, wait_until};

use crate::account::{self, Queue};

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
fn the_old_name_of_the_tag_check_replaces_the_new_one_and_the_other_mode_is_refused() {
    let helm = Helm::ready().unwrap();
    helm.lint(CHART, &guide("https://sqs.us-east-1.amazonaws.com/1/nth")).unwrap();
    let text = helm.template(RELEASE, CHART, &guide("q"), &[]).unwrap();
    assert!(text.contains("name: CHECK_ASG_TAG_BEFORE_DRAINING"), "{text}");
    assert!(!text.contains("name: CHECK_TAG_BEFORE_DRAINING"), "{text}");
    assert!(!text.contains("kind: ServiceAccount\nmetadata"), "the guide makes it: {text}");
    let refused = helm.template(RELEASE, CHART, "", &[]).unwrap_err().to_string();
    assert!(refused.contains("is not there yet"), "{refused}");
    let refused = helm.template(RELEASE, CHART, "queueUrl: x", &[]).unwrap_err().to_string();
    assert!(refused.contains("queueUrl"), "{refused}");
}
