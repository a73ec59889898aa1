//! Answers of the metadata service, and what follows from them.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use kerf_notices::imds::active::{ActiveEvents, Ending};
use kerf_notices::imds::{answer, reboot};
use kerf_notices::zonal_shift::UnixSeconds;
use proptest::prelude::*;

fn at(text: &str) -> Option<UnixSeconds> {
    Some(UnixSeconds::parse(text).unwrap())
}

#[test]
fn a_spot_action_has_a_time_or_none_and_counts_either_way() {
    let read = answer::spot_action(r#"{"action":"terminate","time":"2017-09-18T08:22:00Z"}"#);
    let read = read.unwrap();
    assert_eq!((read.action.as_str(), read.at), ("terminate", at("2017-09-18T08:22:00Z")));
    let read = answer::spot_action(r#"{"action":"stop","time":"soon"}"#).unwrap();
    assert_eq!((read.action.as_str(), read.at), ("stop", None));
    assert!(answer::spot_action("<html>").is_err());
}

#[test]
fn a_recommendation_has_its_time() {
    let read = answer::rebalance(r#"{"noticeTime":"2020-10-27T08:22:00Z"}"#).unwrap();
    assert_eq!(read, at("2020-10-27T08:22:00Z"));
}

#[test]
fn maintenance_is_read_as_ec2_writes_it() {
    let body = r#"[{"NotBefore":"21 Jan 2019 09:00:43 GMT","Code":"system-reboot",
        "Description":"scheduled reboot","EventId":"instance-event-0d59937288b749b32",
        "NotAfter":"21 Jan 2019 09:17:23 GMT","State":"active"},
        {"Code":"instance-stop","EventId":"b","State":"Canceled"},
        {"Code":"instance-stop","EventId":""}]"#;
    let events = answer::scheduled_events(body).unwrap();
    assert_eq!(events.len(), 2, "one has no id");
    assert_eq!(events[0].not_before, at("2019-01-21T09:00:43Z"));
    assert_eq!(events[0].not_after, at("2019-01-21T09:17:23Z"));
    assert!(events[0].reboots() && !events[0].is_over());
    assert!(events[1].is_over());
    assert_eq!(answer::scheduled_events("[]").unwrap(), []);
}

#[test]
fn one_target_state_ends_the_instance() {
    assert!(answer::is_terminated("Terminated\n"));
    for state in ["", "InService", "Terminated:Wait", "terminated", "NotTerminated"] {
        assert!(!answer::is_terminated(state), "{state}");
    }
}

#[test]
fn the_node_is_opened_when_the_last_announcement_is_over() {
    let mut events = ActiveEvents::default();
    assert!(events.begin("a") && events.begin("b") && events.begin("a"));
    assert_eq!(events.end("c"), Ending::Unknown);
    assert_eq!(events.end("a"), Ending::OthersActive);
    assert_eq!(events.end("a"), Ending::Unknown, "an answer says so every two seconds");
    assert_eq!(events.end("b"), Ending::Last);
    events.ignore("d");
    assert!(!events.begin("d"));
}

#[test]
fn a_reboot_is_over_when_the_host_came_up_after_the_node_was_closed() {
    let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let closed = [
        (reboot::EVENT_ID, "event"),
        (reboot::ACTION, reboot::UNCORDON_AFTER_REBOOT),
        (reboot::ACTION_TIME, "1000"),
    ];
    let now = UnixSeconds::at(1_600);
    assert_eq!(reboot::is_over(&labels(&closed), 30, now), Some("event"));
    assert_eq!(reboot::is_over(&labels(&closed), 600, now), Some("event"));
    assert_eq!(reboot::is_over(&labels(&closed), 601, now), None, "up since before");
    assert_eq!(reboot::is_over(&labels(&closed[..2]), 30, now), None, "closed at no known time");
    assert_eq!(reboot::is_over(&labels(&closed[1..]), 30, now), None, "for no known reason");
    assert_eq!(reboot::is_over(&labels(&closed), 30, UnixSeconds::at(900)), None, "clock set back");
    assert_eq!(reboot::uptime_seconds("350735.47 234388.90\n"), Some(350_735));
    assert_eq!(reboot::uptime_seconds("unknown"), None);
}

proptest! {
    #[test]
    fn no_answer_panics(body in "\\PC{0,200}", number in any::<u64>()) {
        let _ = (answer::spot_action(&body), answer::rebalance(&body));
        let _ = (answer::scheduled_events(&body), answer::identity(&body));
        let event = serde_json::json!([{"EventId": "e", "NotBefore": body, "NotAfter": body}]);
        let read = answer::scheduled_events(&event.to_string()).unwrap();
        prop_assert_eq!(read.len(), 1);
        let labels = [(reboot::ACTION, body.clone()), (reboot::EVENT_ID, body.clone()),
            (reboot::ACTION_TIME, number.to_string())];
        let labels = labels.map(|(key, value)| (key.to_owned(), value)).into();
        let _ = reboot::is_over(&labels, number, UnixSeconds::at(0));
        let _ = reboot::uptime_seconds(&body);
    }
}
