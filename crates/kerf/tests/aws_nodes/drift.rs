//! Nodes that are no longer what their class selects.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::objects::{class_named, deployment, pool};
use crate::place::Place;

/// The two releases that the stand-in has.
const RELEASES: [&str; 2] = ["v20260107", "v20260204"];

fn class_of(release: &str) -> Value {
    let terms = json!([{"alias": format!("al2023@{release}")}]);
    class_named("default", &json!({"amiSelectorTerms": terms}))
}

impl Place {
    /// The images of all claims.
    fn images(&self) -> BTreeSet<String> {
        let image = |claim: &Value| claim["status"]["imageID"].as_str().map(str::to_owned);
        self.all("nodeclaims").iter().filter_map(image).collect()
    }
}

#[test]
fn another_image_of_the_class_replaces_every_node_and_its_instance() {
    let place = Place::open();
    let pods = 2;
    place.apply(&[class_of(RELEASES[0]), pool(&["m5.large"], &["us-east-1a"]), deployment(pods)]);
    place.wait("the pods run", || place.running() == 2);
    let (first, old) = (place.instances(), place.images());
    assert_eq!((first.len(), old.len()), (2, 1), "two nodes of one image");
    place.apply(&[class_of(RELEASES[1])]);
    place.wait("the pods run on as many instances of the newer image", || {
        let (now, images) = (place.instances(), place.images());
        place.running() == 2
            && now.len() == 2
            && now.is_disjoint(&first)
            && images.len() == 1
            && images.is_disjoint(&old)
    });
    let disrupted = "karpenter_nodeclaims_disrupted_total{";
    let metrics = place.metrics();
    let drifted = metrics.lines().find(|it| it.starts_with(disrupted) && it.contains("drifted"));
    assert!(drifted.is_some_and(|it| it.ends_with(" 2")), "{drifted:?}");
    place.close();
}
