//! A spot notice, from the queue to the replacement.

use serde_json::{Value, json};

use crate::objects::{class, deployment, pool};
use crate::place::Place;

#[test]
fn a_spot_notice_moves_pods_to_another_offering() {
    let place = Place::open();
    let types = ["m5.large", "m5a.large"];
    place.apply(&[class(), pool(&types, &["us-east-1a"]), deployment(1)]);
    place.wait("the pod runs", || place.running() == 1);
    let claim = place.all("nodeclaims").remove(0);
    let id = claim["status"]["providerID"].as_str().unwrap();
    let instance = id.rsplit('/').next().unwrap();
    let of = |claim: &Value| claim["metadata"]["labels"].clone();
    let before = of(&claim);
    send(&place, instance);
    place.wait("the pod runs on another instance", || {
        let claims = place.all("nodeclaims");
        place.running() == 1 && claims.len() == 1 && claims[0]["metadata"] != claim["metadata"]
    });
    let after = of(&place.all("nodeclaims")[0]);
    let key = "node.kubernetes.io/instance-type";
    assert_eq!(after["karpenter.sh/capacity-type"], "spot", "{after}");
    assert_ne!(before[key], after[key], "what was taken back is not bought again at once");
    place.wait("the instance ends", || place.instances() == 1);
    place.close();
}

fn send(place: &Place, instance: &str) {
    let url = place.aws.sqs("GetQueueUrl", &json!({"QueueName": place.made.queue}));
    let time = std::time::SystemTime::now();
    let now = jiff::Timestamp::try_from(time).unwrap().to_string();
    let body = json!({
        "version": "0", "id": "1", "source": "aws.ec2", "account": place.made.account,
        "detail-type": "EC2 Spot Instance Interruption Warning", "time": now,
        "region": place.made.region, "resources": [],
        "detail": {"instance-id": instance, "instance-action": "terminate"},
    });
    let message = json!({"QueueUrl": url["QueueUrl"], "MessageBody": body.to_string()});
    place.aws.sqs("SendMessage", &message);
    place.aws.forget_calls();
}
