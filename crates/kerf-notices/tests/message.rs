//! Reading message bodies: every kind and envelope, and every way to be wrong.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

use kerf_notices::message::{
    Drop, Event, EventId, Input, InstanceId, Kind, Reading, State, Unreadable, only_with, read,
    read_bytes, recognise, time_of,
};
use proptest::prelude::*;

const A: &str = "i-0123456789abcdef0";
const B: &str = "i-0fedcba9876543210";
const SHORT: &str = "i-1a2b3c4d";

fn bridged(source: &str, detail_type: &str, detail: &str) -> String {
    format!(
        r#"{{"version":"0","id":"b6a1d9a1-0a3c-4f6e-9d4f-0c1f7d4d2a11","detail-type":"{detail_type}",
        "source":"{source}","account":"111122223333","time":"2026-11-01T00:00:00Z",
        "region":"eu-west-1","resources":["arn:aws:ec2:eu-west-1a:instance/{A}"],"detail":{detail}}}"#
    )
}

fn event(body: &str) -> Event<'_> {
    match read(body) {
        Reading::Event(event) => event,
        other => panic!("{other:?} for {body}"),
    }
}

#[test]
fn every_kind_is_recognised_with_its_instances() {
    let one = format!(r#"{{"instance-id":"{A}","instance-action":"terminate"}}"#);
    let state = |state| format!(r#"{{"instance-id":"{A}","state":"{state}"}}"#);
    let asg = format!(r#"{{"EC2InstanceId":"{A}","LifecycleHookName":"h"}}"#);
    let ec2 = "aws.ec2";
    let table = [
        (ec2, "EC2 Spot Instance Interruption Warning", one.clone(), Kind::SpotInterruption),
        (ec2, "EC2 Instance Rebalance Recommendation", one.clone(), Kind::Rebalance),
        (
            ec2,
            "EC2 Capacity Reservation Instance Interruption Warning",
            one,
            Kind::CapacityReservationInterruption,
        ),
        (
            ec2,
            "EC2 Instance State-change Notification",
            state("stopping"),
            Kind::StateChange(State::Stopping),
        ),
        (
            ec2,
            "EC2 Instance State-change Notification",
            state("stopped"),
            Kind::StateChange(State::Stopped),
        ),
        (
            ec2,
            "EC2 Instance State-change Notification",
            state("shutting-down"),
            Kind::StateChange(State::ShuttingDown),
        ),
        (
            ec2,
            "EC2 Instance State-change Notification",
            state("terminated"),
            Kind::StateChange(State::Terminated),
        ),
        (
            "aws.autoscaling",
            "EC2 Instance-terminate Lifecycle Action",
            asg.clone(),
            Kind::AsgTerminate,
        ),
        ("aws.autoscaling", "EC2 Instance-launch Lifecycle Action", asg, Kind::AsgLaunch),
    ];
    for (source, detail_type, detail, kind) in table {
        let body = bridged(source, detail_type, &detail);
        let read = event(&body);
        assert_eq!((read.kind, read.kind.source()), (kind, source), "{body}");
        assert_eq!(read.instances[..], [A.parse().unwrap()]);
        assert_eq!(read.id, Some(EventId::new("b6a1d9a1-0a3c-4f6e-9d4f-0c1f7d4d2a11")));
        assert_eq!(read.account.as_deref(), Some("111122223333"));
        assert_eq!(read.region.as_deref(), Some("eu-west-1"));
    }
}

#[test]
fn what_nobody_needs_is_dropped_with_its_reason() {
    let state = |state| {
        bridged(
            "aws.ec2",
            "EC2 Instance State-change Notification",
            &format!(r#"{{"instance-id":"{A}","state":"{state}"}}"#),
        )
    };
    let health = |detail: &str| bridged("aws.health", "AWS Health Event", detail);
    let table = [
        (state("pending"), Drop::OtherState),
        (state("running"), Drop::OtherState),
        (bridged("aws.s3", "Object Created", "{}"), Drop::OtherKind),
        (bridged("aws.ec2", "EBS Volume Notification", "{}"), Drop::OtherKind),
        (health(r#"{"service":"RDS","eventTypeCategory":"scheduledChange"}"#), Drop::OtherService),
        (health(r#"{"service":"EC2","eventTypeCategory":"issue"}"#), Drop::OtherCategory),
        (
            health(
                r#"{"service":"EC2","eventTypeCategory":"scheduledChange","eventScopeCode":"PUBLIC"}"#,
            ),
            Drop::PublicHealth,
        ),
        (
            health(
                r#"{"service":"EC2","eventTypeCategory":"scheduledChange",
                "affectedEntities":[{"entityValue":"vol-0123456789abcdef0"}]}"#,
            )
            .replace(&format!("instance/{A}"), "volume/vol-0123456789abcdef0"),
            Drop::NoInstances,
        ),
        (r#"{"Event":"autoscaling:TEST_NOTIFICATION"}"#.to_owned(), Drop::TestNotification),
        ("{}".to_owned(), Drop::OtherKind),
    ];
    for (body, why) in table {
        assert_eq!(read(&body), Reading::Drop(why), "{body}");
    }
}

#[test]
fn a_health_event_names_many_instances_and_the_region_it_applies_to() {
    let detail = format!(
        r#"{{"service":"EC2","eventTypeCategory":"scheduledChange","eventRegion":"us-west-2",
        "page":"2","totalPages":"3","affectedEntities":[{{"entityValue":"{B}"}},
        {{"entityValue":"arn:aws:ec2:us-west-2:111122223333:instance/{SHORT}"}},7,{{}},
        {{"entityValue":"h-0123456789abcdef0"}},{{"entityValue":"{B}"}}]}}"#
    );
    let body = bridged("aws.health", "AWS Health Event", &detail);
    let read = event(&body);
    assert_eq!(read.instances[..], [B.parse().unwrap(), SHORT.parse().unwrap()]);
    assert_eq!((read.region.as_deref(), read.page), (Some("us-west-2"), 2));
}

#[test]
fn without_entities_a_health_event_is_about_its_resources() {
    let detail = r#"{"service":"EC2","eventTypeCategory":"scheduledChange"}"#;
    let body = bridged("aws.health", "AWS Health Event", detail).replace(
        &format!(r#"["arn:aws:ec2:eu-west-1a:instance/{A}"]"#),
        &format!(r#"["{B}","arn:aws-cn:ec2:cn-north-1:111122223333:instance/{A}","vol-1",3]"#),
    );
    assert_eq!(event(&body).instances[..], [B.parse().unwrap(), A.parse().unwrap()]);
}

#[test]
fn a_zonal_shift_names_clusters_or_nobody() {
    let shift = |resources: &str| {
        format!(
            r#"{{"source":"aws.arc-zonal-shift","detail-type":"Zonal Shift Started","resources":{resources},"detail":{{}}}}"#
        )
    };
    let named = shift(
        r#"["arn:aws:eks:eu-west-1:111122223333:cluster/blue","arn:aws:elasticloadbalancing:eu-west-1:1:loadbalancer/app/x",
        "arn:aws-us-gov:eks:us-gov-west-1:111122223333:cluster/green"]"#,
    );
    assert_eq!(event(&named).clusters, ["blue", "green"]);
    assert!(event(&shift("[]")).clusters.is_empty());
    assert_eq!(event(&shift("[]")).kind, Kind::ZonalShift);
}

#[test]
fn direct_notifications_of_auto_scaling_are_read_bare_and_wrapped() {
    let bare = format!(
        r#"{{"LifecycleHookName":"h","AccountId":"111122223333","RequestId":"r-1","Service":"AWS Auto Scaling",
        "LifecycleTransition":"autoscaling:EC2_INSTANCE_TERMINATING","EC2InstanceId":"{A}","LifecycleActionToken":"t-1"}}"#
    );
    let read_bare = event(&bare);
    assert_eq!(read_bare.kind, Kind::AsgTerminate);
    assert_eq!(read_bare.id, Some(EventId::new("t-1")));
    assert_eq!(read_bare.account.as_deref(), Some("111122223333"));

    let launch = bare.replace("TERMINATING", "LAUNCHING");
    assert_eq!(event(&launch).kind, Kind::AsgLaunch);

    let wrapped = serde_json::json!({"Type": "Notification", "Message": bare}).to_string();
    let read_wrapped = event(&wrapped);
    assert_eq!(read_wrapped.kind, Kind::AsgTerminate);
    assert_eq!(read_wrapped.unwrapped.as_deref(), Some(bare.as_str()));
}

#[test]
fn an_event_in_sns_comes_out_byte_for_byte() {
    let body = bridged(
        "aws.ec2",
        "EC2 Spot Instance Interruption Warning",
        &format!(r#"{{"instance-id":"{A}"}}"#),
    );
    let mut wrapped = body.clone();
    for _ in 0..3 {
        wrapped = serde_json::json!({"Type": "Notification", "Message": wrapped}).to_string();
        assert_eq!(event(&wrapped).unwrapped.as_deref(), Some(body.as_str()));
    }
    let once_more = serde_json::json!({"Type": "Notification", "Message": wrapped}).to_string();
    assert_eq!(read(&once_more), Reading::Unreadable(Unreadable::TooManyWrappings));
}

#[test]
fn a_wrong_type_in_any_field_is_told_by_the_fields_name() {
    let spot = "EC2 Spot Instance Interruption Warning";
    let good = bridged("aws.ec2", spot, &format!(r#"{{"instance-id":"{A}"}}"#));
    let with = |from: &str, to: &str| {
        assert!(good.contains(from));
        good.replace(from, to)
    };
    let id = "\"b6a1d9a1-0a3c-4f6e-9d4f-0c1f7d4d2a11\"";
    let table = [
        (with("\"aws.ec2\"", "7"), Unreadable::Wrong("source")),
        (with(&format!("\"{spot}\""), "[]"), Unreadable::Wrong("detail-type")),
        (with(&format!("\"{spot}\""), "null"), Unreadable::Missing("detail-type")),
        (with(id, "{\"a\":1}"), Unreadable::Wrong("id")),
        (with(id, "\"a\\nb\""), Unreadable::Wrong("id")),
        (with("\"111122223333\"", "111122223333"), Unreadable::Wrong("account")),
        (with("\"111122223333\"", "\"../evil\""), Unreadable::Wrong("account")),
        (with("\"eu-west-1\"", "\"evil.example/\""), Unreadable::Wrong("region")),
        (with(&format!("{{\"instance-id\":\"{A}\"}}"), "true"), Unreadable::Wrong("detail")),
        (with(&format!("\"{A}\"}}"), "1.5}"), Unreadable::Wrong("detail.instance-id")),
        (with(&format!("\"{A}\"}}"), "\"i-XYZ\"}"), Unreadable::Wrong("detail.instance-id")),
        (with("\"instance-id\"", "\"instance\""), Unreadable::Missing("detail.instance-id")),
        (with("[\"arn", "{\"a\":[\"arn").replace("],\"detail\"", "]},\"detail\""), {
            Unreadable::Wrong("resources")
        }),
        ("[]".to_owned(), Unreadable::NotAnObject),
        ("\"text\"".to_owned(), Unreadable::NotAnObject),
        ("null".to_owned(), Unreadable::NotAnObject),
        ("{\"id\":\"a\",\"id\":\"b\"}".to_owned(), Unreadable::NotJson),
        ("{".to_owned(), Unreadable::NotJson),
        (String::new(), Unreadable::NotJson),
        (" ".repeat((1 << 20) + 1), Unreadable::TooLarge),
    ];
    for (body, why) in table {
        assert_eq!(read(&body), Reading::Unreadable(why), "{body:.200}");
    }
    assert_eq!(read_bytes(&[0xff, 0x00]), Reading::Unreadable(Unreadable::NotText));
}

#[test]
fn a_quarter_of_a_megabyte_of_nesting_costs_no_stack() {
    let deep = |open: &str, close: &str| {
        let half = 128 * 1024 / open.len();
        format!("{}1{}", open.repeat(half), close.repeat(half))
    };
    let nests = [deep("[", "]"), deep("{\"a\":", "}"), "[".repeat(256 * 1024)];
    for nest in &nests {
        // On a thread with little stack, so that recursion could not hide.
        let nest = nest.clone();
        let thread = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
            for place in ["detail", "resources", "id", "source", "Message", "x", "EC2InstanceId"] {
                let body = format!(r#"{{"{place}":{nest}}}"#);
                assert!(!matches!(read(&body), Reading::Event(_)));
                let _ = recognise(&body);
                let _ = recognise(&format!(r#"{{"Records":[{{"body":{nest}}},{nest}]}}"#));
                let _ = only_with(&body, |_| true);
            }
            // Nesting that no field needs does not spoil the event around it.
            if nest.ends_with(']') || nest.ends_with('}') {
                let spot = "EC2 Spot Instance Interruption Warning";
                let detail = format!(r#"{{"instance-id":"{A}","x":{nest}}}"#);
                assert!(matches!(read(&bridged("aws.ec2", spot, &detail)), Reading::Event(_)));
            }
        });
        thread.unwrap().join().unwrap();
    }
}

#[test]
fn a_batch_and_a_bare_event_are_told_apart_by_shape() {
    let body = bridged("aws.ec2", "x", "{}");
    let batch = serde_json::json!({"Records": [
        {"messageId": "m1", "receiptHandle": "r", "body": body, "attributes": {}},
        {"messageId": "m2"}, 7,
    ]});
    let Ok(Input::Batch(records)) = recognise(&batch.to_string()) else { panic!() };
    assert_eq!(records.len(), 2, "what is no record at all cannot be reported on");
    assert_eq!((records[0].id.as_str(), records[0].body.as_str()), ("m1", body.as_str()));
    assert_eq!((records[1].id.as_str(), records[1].body.as_str()), ("m2", ""));
    assert!(matches!(recognise(&body), Ok(Input::Event(event)) if event.body == body));
    assert_eq!(recognise("{\"Records\":1}"), Err(Unreadable::Wrong("Records")));
    assert_eq!(recognise("[]"), Err(Unreadable::NotAnObject));
    assert_eq!(recognise("?"), Err(Unreadable::NotJson));
}

#[test]
fn an_instance_id_is_eight_or_seventeen_digits_and_nothing_else() {
    for good in [A, B, SHORT, "i-00000000", "i-00000000000000000"] {
        assert_eq!(good.parse::<InstanceId>().unwrap().to_string(), good);
    }
    for bad in
        ["", "i-", "i-0", "i-123456789", "i-ABCDEF01", "I-12345678", "i-1234567g", "x12345678"]
    {
        assert!(bad.parse::<InstanceId>().is_err(), "{bad}");
    }
}

#[test]
fn an_event_id_prints_as_it_was_written_in_every_form() {
    let uuid = "b6a1d9a1-0a3c-4f6e-9d4f-0c1f7d4d2a11";
    let mut ids = vec![uuid.to_owned(), uuid.to_uppercase(), uuid.replace('-', "")];
    ids.extend(["", "t-1", "00000000-0000-0000-0000-000000000000"].map(str::to_owned));
    // As long as a UUID, and none: a hyphen or a digit elsewhere.
    ids.extend([uuid.replacen('-', "0", 1), uuid.replacen('a', "-", 1), uuid.replace('b', "ä")]);
    for text in &ids {
        assert_eq!(EventId::new(text).to_string(), *text);
        assert_eq!(EventId::new(text).text_bytes(), text.len());
        let same = ids.iter().filter(|other| EventId::new(other) == EventId::new(text));
        assert_eq!(same.count(), 1, "{text}");
    }
}

#[test]
fn what_is_wrong_in_a_list_is_told_where_the_list_is_needed() {
    let twice = r#"[{"entityValue":"a","entityValue":"b"}]"#;
    let health = format!(
        r#"{{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":{twice}}}"#
    );
    let body = bridged("aws.health", "AWS Health Event", &health);
    assert_eq!(read(&body), Reading::Unreadable(Unreadable::NotJson));
    let body = body.replace(twice, "7");
    assert_eq!(read(&body), Reading::Unreadable(Unreadable::Wrong("detail.affectedEntities")));
    let shift = |resources: &str| {
        format!(r#"{{"source":"aws.arc-zonal-shift","detail-type":"x","resources":{resources}}}"#)
    };
    let half = shift(r#"["\ud800"]"#);
    assert_eq!(read(&half), Reading::Unreadable(Unreadable::NotJson));
    assert_eq!(read(&shift("\"x\"")), Reading::Unreadable(Unreadable::Wrong("resources")));
    assert!(event(&shift("null")).clusters.is_empty());
    assert_eq!(read(&shift("[1,]")), Reading::Unreadable(Unreadable::NotJson));
}

#[test]
fn a_split_keeps_every_byte_but_the_others_instances() {
    let text = format!(
        r#"{{ "id" : "e" , "resources":[ "{A}" , "arn:aws:ec2:r:1:instance/{B}", "vol-1"],
        "detail": {{"z":[1, 2],"affectedEntities": [{{"entityValue":"{A}","tags":{{}}}}, {{"entityValue":"{B}"}}] ,"a":1e400 }} }}"#
    );
    let keep = A.parse().unwrap();
    let expected = format!(
        r#"{{ "id" : "e" , "resources":["{A}"],
        "detail": {{"z":[1, 2],"affectedEntities": [{{"entityValue":"{A}","tags":{{}}}}] ,"a":1e400 }} }}"#
    );
    assert_eq!(only_with(&text, |id| id == keep).unwrap(), expected);
    assert_eq!(only_with("[]", |_| true), None);
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[ -~]{0,12}".prop_map(Into::into),
        Just(A.into()),
        Just("aws.ec2".into()),
        Just("aws.health".into()),
        Just("EC2".into()),
        Just("scheduledChange".into()),
        Just("EC2 Instance State-change Notification".into()),
        Just("AWS Health Event".into()),
        Just("terminated".into()),
    ];
    let key = prop_oneof![
        Just("source"),
        Just("detail-type"),
        Just("detail"),
        Just("instance-id"),
        Just("state"),
        Just("resources"),
        Just("id"),
        Just("account"),
        Just("region"),
        Just("service"),
        Just("affectedEntities"),
        Just("entityValue"),
        Just("EC2InstanceId"),
        Just("Message"),
        Just("Records"),
        Just("body"),
        Just("messageId"),
        Just("eventTypeCategory"),
    ];
    leaf.prop_recursive(4, 40, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::vec((key.clone(), inner), 0..9).prop_map(|members| {
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }),
        ]
    })
}

fn cases() -> u32 {
    std::env::var("KERF_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500)
}

#[test]
fn the_time_of_an_event_is_what_it_says_or_nothing() {
    let body = bridged("aws.ec2", "EC2 Instance Rebalance Recommendation", "{}");
    assert_eq!(time_of(&body).unwrap().to_string(), "2026-11-01T00:00:00Z");
    for other in ["soon", "2026-13-01T00:00:00Z", ""] {
        assert_eq!(time_of(&body.replace("2026-11-01T00:00:00Z", other)), None, "{other}");
    }
    for other in ["{}", "[]", "", r#"{"time":{"time":"2026-11-01T00:00:00Z"}}"#] {
        assert_eq!(time_of(other), None, "{other}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_bytes(&bytes);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let _ = recognise(text);
            let _ = only_with(text, |_| true);
            let _ = time_of(text);
        }
    }

    #[test]
    fn any_text_gives_an_answer(text in "\\PC{0,200}") {
        let _ = read(&text);
        let _ = recognise(&text);
        let _ = text.parse::<InstanceId>();
    }

    #[test]
    fn any_json_with_our_fields_gives_an_answer(value in any_json()) {
        let text = value.to_string();
        if let Reading::Event(event) = read(&text) {
            prop_assert!(event.kind == Kind::ZonalShift || !event.instances.is_empty());
        }
        let _ = recognise(&text);
        let _ = time_of(&text);
        if let Some(split) = only_with(&text, |_| true) {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&split).is_ok(), "{}", split);
        }
    }

    #[test]
    fn an_event_cut_anywhere_gives_an_answer(at in 0usize..600) {
        let spot = "EC2 Spot Instance Interruption Warning";
        let body = bridged("aws.ec2", spot, &format!(r#"{{"instance-id":"{A}"}}"#));
        let cut = &body[..at.min(body.len())];
        prop_assert_eq!(matches!(read(cut), Reading::Event(_)), cut.len() == body.len());
    }

    #[test]
    fn event_ids_are_equal_only_if_their_texts_are(
        one in "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[ -~]{0,40}",
        other in "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[ -~]{0,40}",
    ) {
        prop_assert_eq!(EventId::new(&one).to_string(), one.clone());
        prop_assert_eq!(EventId::new(&one) == EventId::new(&other), one == other);
    }

    #[test]
    fn instance_ids_print_as_they_were_read(text in "i-([0-9a-f]{8}|[0-9a-f]{17})") {
        prop_assert_eq!(text.parse::<InstanceId>().unwrap().to_string(), text);
    }
}
