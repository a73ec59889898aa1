//! Many nodes at once, at the pace at which EC2 takes calls, and all of them taken back at once.

use serde_json::json;

use crate::numbers::number;
use crate::objects::{class, deployment, pool};
use crate::place::Place;

const TYPES: [&str; 4] = ["m5.large", "m5a.large", "m6i.large", "c5.large"];
const ZONES: [&str; 3] = ["us-east-1a", "us-east-1b", "us-east-1c"];

#[test]
fn a_storm_of_launches_is_never_throttled_and_a_storm_of_notices_replaces_every_node() {
    let nodes = number("KERF_NODES", 50);
    let count = usize::try_from(nodes).unwrap();
    let mut place = Place::enter().with_faults();
    // These notices are right, so nothing is held back.
    place.variables = vec![("INTERRUPTION_PERCENT_PER_MINUTE", "100".to_owned())];
    place.start();
    place.apply(&[class(), pool(&TYPES, &ZONES)]);
    let throttled = |place: &Place| place.faults.as_ref().unwrap().throttled();
    place.faults.as_ref().unwrap().limit_ec2();
    let before = place.launched();
    place.apply(&[deployment(nodes)]);
    place.wait("a pod runs on each node", || place.running() == count);
    assert_eq!(throttled(&place), [""; 0], "calls that EC2 found too many");
    let first = place.instances();
    assert_eq!(first.len(), count, "an instance for each node");
    assert_eq!(place.launched() - before, count, "and none twice");

    let deleted = |place: &Place| {
        ["delete /nodes", "delete karpenter.sh/nodeclaims"]
            .map(|name| place.audit().iter().filter(|(call, _)| call == name).count())
    };
    let [nodes_before, claims_before] = deleted(&place);
    place.announce(&first);
    place.wait("every node is replaced", || {
        let left = place.instances();
        place.running() == count && left.len() == count && left.is_disjoint(&first)
    });
    assert_eq!(throttled(&place), [""; 0], "calls that EC2 found too many");
    assert_eq!(place.launched() - before, 2 * count, "one replacement for each");
    place.wait("the former claims are gone", || place.all("nodeclaims").len() == count);
    let [nodes, claims] = deleted(&place);
    let asked = (nodes - nodes_before, claims - claims_before);
    assert_eq!(asked, (count, count), "deletions of nodes and of claims: one each");
    let url = place.aws.sqs("GetQueueUrl", &json!({"QueueName": place.made.queue}));
    let names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"];
    let asked = json!({"QueueUrl": url["QueueUrl"], "AttributeNames": names});
    place.wait("the queue is empty", || {
        let answer = place.aws.sqs("GetQueueAttributes", &asked);
        names.iter().all(|name| answer["Attributes"][name] == "0")
    });
    // What the test itself asked of the queue is not the controller's.
    place.aws.forget_calls();
    place.close();
}
