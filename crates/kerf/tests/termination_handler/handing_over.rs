//! Nodes that a provisioner owns.

use serde_json::json;

use crate::account::{self, MANAGED, Queue, spot};
use crate::cluster::{apply, claim_of, define_claims, get, has_pod, is_cordoned, node, pod};
use crate::process::Handler;

const DELEGATING: (&str, &str) = ("DELEGATE_TO_PROVISIONER", "true");

#[test]
fn a_node_of_a_pool_is_closed_and_left_to_its_provisioner_and_others_are_drained() {
    define_claims();
    let queue = Queue::new("handing-over");
    let instances = account::instances(3, &[(MANAGED, "")]);
    let mut owned = node("owned", &instances[0]);
    owned["metadata"]["labels"]["karpenter.sh/nodepool"] = json!("general");
    let mut orphan = node("orphan", &instances[1]);
    orphan["metadata"]["labels"]["karpenter.sh/nodepool"] = json!("general");
    apply(&[
        owned,
        pod("on-owned", "owned"),
        orphan,
        pod("on-orphan", "orphan"),
        node("nobodys", &instances[2]),
        pod("on-nobodys", "nobodys"),
    ]);
    claim_of("owned", "general");
    let handler = Handler::start(&queue, &[("AWS_REGION", "us-east-1"), DELEGATING]);
    let ids: Vec<String> = instances.iter().map(|instance| spot(&instance.id)).collect();
    queue.send(&ids);
    handler.wait("all messages are deleted", || queue.depth() == 0);

    assert_eq!(handler.said("Handed the node over to its provisioner node_name=owned"), 1);
    assert!(is_cordoned("owned") && has_pod("on-owned"), "its provisioner drains it");
    // What deletes it finally is the provisioner, by its finalizer.
    assert_ne!(get("nodeclaim", "owned", "{.metadata.deletionTimestamp}"), "");
    assert!(is_cordoned("orphan") && !has_pod("on-orphan"), "a pool without a claim for it");
    assert!(is_cordoned("nobodys") && !has_pod("on-nobodys"));
    assert_eq!(handler.said("Node successfully cordoned and drained node_name="), 3);
}
