//! What is not the handler's business, and what it must not do.

use crate::account::{self, MANAGED, Queue, event, spot};
use crate::cluster::{apply, has_pod, is_cordoned, node, pod};
use crate::process::Handler;

const REGION: (&str, &str) = ("AWS_REGION", "us-east-1");

#[test]
fn messages_about_others_are_finished_and_their_nodes_left_alone() {
    let queue = Queue::new("others");
    let untagged = account::instances(1, &[]).remove(0);
    let tagged = account::instances(2, &[(MANAGED, "")]);
    apply(&[
        node("others-untagged", &untagged),
        pod("others-untagged", "others-untagged"),
        node("others-tagged", &tagged[0]),
        pod("others-tagged", "others-tagged"),
    ]);
    // The region is that of the queue's host, which a stand-in does not have.
    let handler = Handler::start(&queue, &[REGION]);
    queue.send(&[
        spot(&untagged.id),
        spot("i-0000000000000dead"),
        "no JSON at all".to_owned(),
        r#"{"source": "aws.s3", "detail-type": "Object Created", "detail": {}}"#.to_owned(),
        event("EC2 Instance State-change Notification", &tagged[0].id)
            .replace(r#""instance-action":"terminate""#, r#""state":"""#),
    ]);
    handler.wait("all messages are deleted", || queue.depth() == 0);
    assert_eq!(handler.said("Adding new event to the event store"), 0);
    assert!(!is_cordoned("others-untagged") && has_pod("others-untagged"));
    assert!(!is_cordoned("others-tagged") && has_pod("others-tagged"));

    // Another cluster's node, or one that is yet to come: its message is left for whoever knows it.
    queue.send(&[spot(&tagged[1].id), spot(&tagged[0].id)]);
    handler.wait_said("Node successfully cordoned and drained node_name=others-tagged ", 1);
    handler.wait("the other message is left", || queue.depth() == 1);
    let left = r#"kerf_nth_events_total{kind="SPOT_ITN",result="no_node"}"#;
    handler.wait("it was looked at", || handler.metrics().contains(left));
    assert!(handler.end());
}

#[test]
fn a_dry_run_says_what_it_would_do_and_does_nothing() {
    let queue = Queue::new("dry");
    let instance = account::instances(1, &[(MANAGED, "")]).remove(0);
    apply(&[node("dry-node", &instance), pod("dry-pod", "dry-node")]);
    let handler = Handler::start(&queue, &[REGION, ("DRY_RUN", "1")]);
    queue.send(&[spot(&instance.id)]);
    handler.wait_said("would have been cordoned and drained, but dry-run flag was set", 1);
    assert!(handler.end());
    assert!(!is_cordoned("dry-node") && has_pod("dry-pod"));
    assert_eq!(queue.depth(), 1);
}
