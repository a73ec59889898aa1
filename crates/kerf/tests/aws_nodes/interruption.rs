//! A spot notice, from EC2's announcement to the replacement.

use serde_json::Value;

use crate::objects::{class, deployment, pool};
use crate::place::Place;

#[test]
fn a_spot_notice_moves_pods_to_another_offering() {
    let place = Place::open();
    let types = ["m5.large", "m5a.large"];
    place.apply(&[class(), pool(&types, &["us-east-1a"]), deployment(1)]);
    place.wait("the pod runs", || place.running() == 1);
    let claim = place.all("nodeclaims").remove(0);
    let of = |claim: &Value| claim["metadata"]["labels"].clone();
    let before = of(&claim);
    place.announce(&place.instances());
    place.wait("the pod runs on another instance", || {
        let claims = place.all("nodeclaims");
        let uid = |claim: &Value| claim["metadata"]["uid"].clone();
        place.running() == 1 && claims.len() == 1 && uid(&claims[0]) != uid(&claim)
    });
    let after = of(&place.all("nodeclaims")[0]);
    let key = "node.kubernetes.io/instance-type";
    assert_eq!(after["karpenter.sh/capacity-type"], "spot", "{after}");
    assert_ne!(before[key], after[key], "what was taken back is not bought again at once");
    place.wait("the instance ends", || place.instances().len() == 1);
    place.close();
}
