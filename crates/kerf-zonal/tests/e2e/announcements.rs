//! Messages: late, doubled, overlapping, about others, and nonsense.

use kerf_engine::zonal_shift::ShiftSettings;
use kerf_notices::zonal_shift::Matching;
use serde_json::json;

use crate::daemon::{Running, settings};
use crate::objects::{pool, zones};
use crate::place::{Place, RECEIVES_MAX};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_practice_run_cut_short_by_an_autoshift_leaves_the_zone_avoided_until_the_last() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let before = place.snapshot("web").await;
    let daemon = Running::start(&place).await;
    place.announce("Practice Run Started", "a").await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    place.announce("Autoshift In Progress", "a").await;
    place.announce("Practice Run Interrupted", "a").await;
    let ended =
        r#"kerf_zonal_shift_events_total{detail_type="Practice Run Interrupted",result="ended"} 1"#;
    place.wait("the practice run is over", async || daemon.counts(ended).await).await;
    place.wait_until_deleted().await;
    assert_eq!(place.away("web").await, "us-west-2a");
    place.announce("Autoshift Completed", "a").await;
    place.wait("it is as before", async || place.snapshot("web").await == before).await;
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_doubled_and_disordered_announcements_come_to_the_same() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let before = place.snapshot("web").await;
    let daemon = Running::start(&place).await;
    place.pass(10);
    let start = place.announcement("Manual Shift Started", "a").to_string();
    place.pass(10);
    let end = place.announcement("Manual Shift Canceled", "a").to_string();
    place.send(end).await;
    place.wait_until_deleted().await;
    place.send(start.clone()).await;
    place.send(start).await;
    let late =
        r#"kerf_zonal_shift_events_total{detail_type="Manual Shift Started",result="stale"} 2"#;
    place.wait("both are known to be late", async || daemon.counts(late).await).await;
    place.wait_until_deleted().await;
    assert_eq!(place.snapshot("web").await, before);

    place.pass(10);
    let again = place.announcement("Manual Shift Started", "a").to_string();
    place.send(again.clone()).await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    let version = place.pool("web").await["metadata"]["resourceVersion"].clone();
    place.send(again).await;
    let third =
        r#"kerf_zonal_shift_events_total{detail_type="Manual Shift Started",result="stale"} 3"#;
    place.wait("it is known already", async || daemon.counts(third).await).await;
    assert_eq!(place.pool("web").await["metadata"]["resourceVersion"], version);
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_zone_ends_among_the_dead_letters_and_nonsense_is_deleted() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let before = place.snapshot("web").await;
    let daemon = Running::start(&place).await;
    let mut unknown = place.announcement("Autoshift In Progress", "a");
    unknown["detail"]["metadata"]["awayFrom"] = json!("usw2-az9");
    let mut elsewhere = place.announcement("Autoshift In Progress", "a");
    elsewhere["region"] = json!("eu-west-1");
    let mut other_service = place.announcement("Autoshift In Progress", "a");
    other_service["source"] = json!("aws.ec2");
    let nested = "[".repeat(200_000);
    for body in [unknown.to_string(), elsewhere.to_string(), other_service.to_string(), nested] {
        place.send(body).await;
    }
    place.send("not JSON".to_owned()).await;
    place.wait_until_deleted().await;
    let dead = async || place.queues.depth(&place.dead_letters_url).await.unwrap().visible;
    place.wait("the unknown zone is a dead letter", async || dead().await == 1).await;
    let unknown =
        format!(r#"{{detail_type="Autoshift In Progress",result="unknown-zone"}} {RECEIVES_MAX}"#);
    let counted = [
        &unknown,
        r#"{detail_type="Autoshift In Progress",result="other-region"} 1"#,
        r#"{detail_type="other",result="other-source"} 1"#,
        r#"{detail_type="other",result="not-json"} 2"#,
    ];
    for line in counted {
        let line = format!("kerf_zonal_shift_events_total{line}");
        assert!(daemon.counts(&line).await, "{line}\n{}", daemon.get("/metrics").await);
    }
    assert_eq!(place.snapshot("web").await, before);
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shift_of_other_resources_counts_unless_the_setting_asks_for_this_cluster() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let mut of_others = place.announcement("Practice Run Started", "a");
    of_others["resources"] = json!(["arn:aws:elasticloadbalancing:…/shop"]);
    let strict = Matching::Cluster { also: Default::default() };
    let strict = Running::start_with(&place, ShiftSettings { matching: strict, ..settings() });
    let strict = strict.await;
    place.send(of_others.to_string()).await;
    let passed_over = r#"kerf_zonal_shift_events_total{detail_type="Practice Run Started",result="other-resources"} 1"#;
    place.wait("it is passed over", async || strict.counts(passed_over).await).await;
    place.wait_until_deleted().await;
    strict.end().await;
    assert_eq!(place.away("web").await, "");

    let daemon = Running::start(&place).await;
    place.send(of_others.to_string()).await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_lead_receives_and_writes_nothing() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b"])])]).await;
    let second = Running::start_as(&place, crate::place::ACCOUNT, settings()).await;
    place.announce("Autoshift In Progress", "a").await;
    assert!(second.get("/healthz").await.contains("200 OK"));
    assert!(second.counts("kerf_zonal_shift_leading 0").await);
    assert_eq!(place.depth().await.visible, 1);
    assert_eq!(place.stored().await, "");
    let second = second.leading();
    place.wait_for_requirements("web", &[zones("In", &["b"])]).await;
    assert!(second.counts("kerf_zonal_shift_leading 1").await);
    second.end().await;
}
