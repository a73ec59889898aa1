//! Nodes in the zone: protected where that is asked for, and only what Kerf did is undone.

use kerf_engine::zonal_shift::ShiftSettings;
use serde_json::json;

use crate::daemon::{Running, settings};
use crate::objects::{node, pool, zones};
use crate::place::Place;

const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";

async fn protection(place: &Place, name: &str) -> (bool, bool) {
    let node = place.node(name).await;
    let annotations = node.metadata.annotations.unwrap_or_default();
    let is_cordoned = node.spec.and_then(|spec| spec.unschedulable) == Some(true);
    (annotations.contains_key(DO_NOT_DISRUPT), is_cordoned)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn do_not_disrupt_protects_nodes_of_the_zone_and_leaves_foreign_cordons_alone() {
    let mut cordoned = node("cordoned", "a", "web");
    cordoned["spec"] = json!({"unschedulable": true});
    let mut nodes = vec![
        pool("web", &[zones("In", &["a", "b", "c"])]),
        cordoned,
        node("elsewhere", "b", "web"),
    ];
    let many: Vec<_> = (0..12).map(|number| format!("node-{number}")).collect();
    nodes.extend(many.iter().map(|name| node(name, "a", "web")));
    let place = Place::with(&nodes).await;
    let before = place.snapshot("web").await;
    let protecting = ShiftSettings { do_not_disrupt: true, ..settings() };
    let daemon = Running::start_with(&place, protecting).await;

    place.announce("Autoshift In Progress", "a").await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    // Nodes are protected before the pool changes.
    for name in many.iter().map(String::as_str).chain(["cordoned"]) {
        assert_eq!(protection(&place, name).await, (true, true), "{name}");
    }
    assert_eq!(protection(&place, "elsewhere").await, (false, false));
    assert!(daemon.counts(r#"kerf_zonal_shift_node_edits_total{action="protect"} 13"#).await);

    place.announce("Autoshift Completed", "a").await;
    place.wait("the pool is as before", async || place.snapshot("web").await == before).await;
    let released = r#"kerf_zonal_shift_node_edits_total{action="unprotect"} 13"#;
    place.wait("nodes are released", async || daemon.counts(released).await).await;
    for name in &many {
        assert_eq!(protection(&place, name).await, (false, false), "{name}");
    }
    assert_eq!(protection(&place, "cordoned").await, (false, true), "somebody else cordoned it");
    daemon.end().await;
}
