//! EKS Auto Mode: pools nobody may edit get stand-ins.

use kerf_notices::zonal_shift::AWAY_ZONE_TAINT;
use serde_json::{Value, json};

use crate::daemon::Running;
use crate::objects::{arm, auto_mode_definition, auto_mode_pool, node, zones};
use crate::place::Place;

async fn taint_of(place: &Place, name: &str) -> Option<String> {
    let taints = place.node(name).await.spec?.taints.unwrap_or_default();
    let taint = taints.into_iter().find(|taint| taint.key == AWAY_ZONE_TAINT)?;
    assert_eq!(taint.effect, "NoExecute");
    taint.value
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn built_in_pools_get_stand_ins_that_go_with_the_shift_and_custom_pools_are_edited() {
    let place = Place::new().await;
    place.apply(&[auto_mode_definition()]);
    place.control_plane.wait_definitions().unwrap();
    let mut system = auto_mode_pool("system", &[arm()]);
    system["spec"]["template"]["spec"]["taints"] =
        json!([{"key": "CriticalAddonsOnly", "effect": "NoSchedule"}]);
    let mut custom = auto_mode_pool("custom", &[zones("In", &["a", "b"])]);
    custom["spec"]["weight"] = json!(60);
    place.apply(&[
        auto_mode_pool("general-purpose", &[arm()]),
        system,
        custom,
        node("in-zone", "a", "general-purpose"),
        node("of-custom", "a", "custom"),
    ]);
    let (general, system) =
        (place.snapshot("general-purpose").await, place.snapshot("system").await);
    let daemon = Running::start(&place).await;

    place.announce("Autoshift In Progress", "a").await;
    place.wait_for_requirements("custom", &[zones("In", &["b"])]).await;
    for name in ["general-purpose", "system"] {
        let (copy, original) = (format!("{name}-kss"), place.pool(name).await);
        place.wait(&format!("{copy} is there"), async || place.has_pool(&copy).await).await;
        let copy = place.pool(&copy).await;
        let mut expected = original["spec"].clone();
        expected["weight"] = json!(61);
        expected["template"]["spec"]["requirements"] = json!([arm(), zones("In", &["b", "c"])]);
        assert_eq!(copy["spec"], expected, "taints, budgets and all");
        assert_eq!(copy["metadata"]["labels"]["zonal-autoshift.eks.amazonaws.com/copy-of"], name);
    }
    let is_tainted = async || taint_of(&place, "in-zone").await.as_deref() == Some("us-west-2a");
    place.wait("what runs in the zone is moved", is_tainted).await;
    assert_eq!(taint_of(&place, "of-custom").await, None, "drift does that");
    assert_eq!(place.snapshot("general-purpose").await, general);
    assert_eq!(place.snapshot("system").await, system);

    place.announce("Autoshift Completed", "a").await;
    let are_gone = async || {
        !place.has_pool("general-purpose-kss").await && !place.has_pool("system-kss").await
    };
    place.wait("the stand-ins are gone", are_gone).await;
    assert_eq!(taint_of(&place, "in-zone").await, None);
    place.wait_for_requirements("custom", &[zones("In", &["a", "b"])]).await;
    let annotations: Value = place.pool("custom").await["metadata"]["annotations"].clone();
    assert_eq!(annotations, json!({"team": "platform"}));
    daemon.end().await;
}
