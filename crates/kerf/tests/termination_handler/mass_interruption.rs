//! A zone is taken back at once: nobody waits behind others, and nobody is asked more than once.

use std::time::Instant;

use kerf_testbed::ApiProxy;

use crate::account::{self, MANAGED, Queue, calls, spot};
use crate::cluster::{USER, apply, cluster, get, node};
use crate::process::Handler;

const NODES: usize = 200;
const LOOKUP: &str = "ec2:DescribeInstances";

#[test]
fn two_hundred_nodes_are_tainted_with_one_write_each_and_few_lookups() {
    let queue = Queue::new("mass");
    let instances = account::instances(NODES, &[(MANAGED, "")]);
    let names: Vec<String> = (0..NODES).map(|number| format!("mass-{number}")).collect();
    let nodes: Vec<_> = names.iter().zip(&instances).map(|(name, of)| node(name, of)).collect();
    apply(&nodes);
    let proxy = ApiProxy::start(cluster(), Some(USER)).unwrap();
    let env = [("AWS_REGION", "us-east-1"), ("TAINT_NODE", "true")];
    let handler = Handler::start_at(proxy.kubeconfig(), &queue, &env);
    handler.wait_said("Started monitoring for events", 1);

    let lookups_before = calls(LOOKUP);
    let messages: Vec<String> = instances.iter().map(|instance| spot(&instance.id)).collect();
    let began = Instant::now();
    queue.send(&messages);
    let writes = || proxy.writes().iter().filter(|call| call.path.contains("/nodes/mass-")).count();
    handler.wait("every node is written", || writes() >= NODES);
    eprintln!("{NODES} nodes closed within {:?} of the first message sent", began.elapsed());
    handler.wait_said("INF Node successfully cordoned and drained ", NODES);
    handler.wait("all messages are deleted", || queue.depth() == 0);

    let path = "{.spec.unschedulable} {.spec.taints[*].key}";
    for name in [&names[0], &names[NODES / 2], &names[NODES - 1]] {
        let closed = get("node", name, path);
        let is_tainted = closed.contains("aws-node-termination-handler/spot-itn");
        assert!(closed.starts_with("true ") && is_tainted, "{name}: {closed}");
    }
    assert_eq!(writes(), NODES, "one write closes a node");
    let lookups = calls(LOOKUP) - lookups_before;
    assert!(lookups <= NODES / 10, "{lookups} lookups for {NODES} instances");
    assert!(handler.end());
}
