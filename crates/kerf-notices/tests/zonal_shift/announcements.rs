//! Messages as they come from the queue.

use kerf_notices::message::{BODY_BYTES_MAX, Kind, Reading, Unusable, read, read_zonal_shift};
use kerf_notices::zonal_shift::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::*;

fn parse(body: &Value) -> Result<ShiftEvent, Unusable> {
    read_zonal_shift(&serde_json::to_vec(body).unwrap())
}

/// AWS's own sample.
fn sample() -> Value {
    json!({"version":"0","id":"05d4d2d5-9c76-bfea-72d2-d4614802adb4",
        "detail-type":"Autoshift In Progress","source":"aws.arc-zonal-shift",
        "account":"111122223333","time":"2023-11-16T23:38:14Z","region":"us-east-1",
        "resources":["arn:aws:eks:us-east-1:111122223333:cluster/prod"],
        "detail":{"version":"0.0.1","data":"","metadata":{"awayFrom":"use1-az2","notes":""}}})
}

#[test]
fn the_sample_event_is_read_in_full() {
    let event = parse(&sample()).unwrap();
    assert_eq!(event.id, "05d4d2d5-9c76-bfea-72d2-d4614802adb4");
    assert_eq!(event.kind, EventKind::AutoshiftInProgress);
    assert_eq!(event.time.to_string(), "2023-11-16T23:38:14Z");
    assert_eq!(event.time.seconds(), 1_700_177_894);
    assert_eq!(event.away_from, ZoneRef::Id(ZoneId::new("use1-az2")));
    assert_eq!(event.region, "us-east-1");
    assert_eq!(event.resources, ["arn:aws:eks:us-east-1:111122223333:cluster/prod"]);
}

#[test]
fn twelve_kinds_start_keep_or_end_on_behalf_of_their_origin() {
    let table = [
        ("Autoshift In Progress", Origin::Autoshift, Transition::Start),
        ("Autoshift Completed", Origin::Autoshift, Transition::End),
        ("Practice Run Started", Origin::Practice, Transition::Start),
        ("Practice Run Succeeded", Origin::Practice, Transition::End),
        ("Practice Run Failed", Origin::Practice, Transition::End),
        ("Practice Run Interrupted", Origin::Practice, Transition::End),
        ("FIS Experiment Autoshift In Progress", Origin::Fis, Transition::Start),
        ("FIS Experiment Autoshift Completed", Origin::Fis, Transition::End),
        ("FIS Experiment Autoshift Canceled", Origin::Fis, Transition::End),
        ("Manual Shift Started", Origin::Manual, Transition::Start),
        ("Manual Shift Updated", Origin::Manual, Transition::Keep),
        ("Manual Shift Canceled", Origin::Manual, Transition::End),
    ];
    assert_eq!(EventKind::all().count(), table.len());
    for (detail_type, origin, transition) in table {
        let mut body = sample();
        body["detail-type"] = json!(detail_type);
        let kind = parse(&body).unwrap().kind;
        assert_eq!((kind.origin(), kind.transition()), (origin, transition), "{detail_type}");
        assert_eq!(kind.to_string(), detail_type);
    }
}

#[test]
fn the_zone_is_found_in_every_place_aws_has_put_it() {
    let zone_of = |detail: Value| {
        let mut body = sample();
        body["detail"] = detail;
        parse(&body).map(|event| event.away_from.to_string())
    };
    let id = Ok("use1-az2".to_owned());
    assert_eq!(zone_of(json!({"metadata": {"awayFrom": "use1-az2"}})), id);
    assert_eq!(zone_of(json!({"awayFrom": "use1-az2"})), id);
    let nested = json!({"serviceEventDetails": {"autoshift": {"awayFrom": "use1-az2"}}});
    assert_eq!(zone_of(nested), id);
    assert_eq!(zone_of(json!({"metadata": {"awayFrom": 7}, "awayFrom": "use1-az2"})), id);
    for nothing in [json!({}), json!(null), json!("x"), json!({"awayFrom": ""})] {
        assert_eq!(zone_of(nothing).unwrap_err().label(), "bad-zone");
    }
}

#[test]
fn ids_and_names_of_zones_are_told_apart() {
    let is_name = |text: &str| matches!(ZoneRef::parse(text), Some(ZoneRef::Name(_)));
    let is_id = |text: &str| matches!(ZoneRef::parse(text), Some(ZoneRef::Id(_)));
    for name in ["us-east-1a", "us-west-2-lax-1a", "us-gov-west-1c", "cn-north-1b"] {
        assert!(is_name(name), "{name}");
    }
    for id in ["use1-az2", "usw2-lax1-az1", "ugw1-az3", "cnn1-az10"] {
        assert!(is_id(id), "{id}");
    }
    for neither in ["", "a-", "USE1-AZ2", "us east 1a", "useast", &"a-".repeat(40)] {
        assert_eq!(ZoneRef::parse(neither), None, "{neither}");
    }
}

#[test]
fn data_may_be_text_or_object_and_notes_may_be_missing() {
    let mut body = sample();
    body["detail-type"] = json!("Practice Run Interrupted");
    body["detail"]["data"] = json!({"additionalFailureInfo": "an alarm went off"});
    body["detail"]["metadata"] = json!({"awayFrom": "use1-az2"});
    assert_eq!(parse(&body).unwrap().kind, EventKind::PracticeRunInterrupted);
}

#[test]
fn an_envelope_by_sns_is_opened() {
    let wrapped = json!({"Type": "Notification", "Message": sample().to_string()});
    assert_eq!(parse(&wrapped), parse(&sample()));
    // The router and the interruption queue see the same event in the same wrapping.
    let wrapped = wrapped.to_string();
    let Reading::Event(routed) = read(&wrapped) else { panic!("{wrapped} is not routed") };
    assert_eq!((routed.kind, &routed.clusters[..]), (Kind::ZonalShift, &["prod".to_owned()][..]));
    let nonsense = json!({"Type": "Notification", "Message": "hello"});
    assert_eq!(parse(&nonsense).unwrap_err().label(), "not-json");
}

#[test]
fn what_is_no_announcement_says_why() {
    let with = |field: &str, value: Value| {
        let mut body = sample();
        body[field] = value;
        parse(&body).unwrap_err().label()
    };
    assert_eq!(with("source", json!("aws.ec2")), "other-source");
    assert_eq!(with("source", json!(3)), "not-an-event");
    assert_eq!(with("detail-type", json!("AWS API Call via CloudTrail")), "other-detail-type");
    assert_eq!(with("detail-type", json!([])), "not-an-event");
    assert_eq!(with("time", json!("yesterday")), "bad-time");
    assert_eq!(with("time", json!(1_700_000_000)), "bad-time");
    assert_eq!(read_zonal_shift(b"").unwrap_err().label(), "not-json");
    assert_eq!(read_zonal_shift(b"[1]").unwrap_err().label(), "not-an-event");
    assert_eq!(read_zonal_shift(b"\xff\xfe").unwrap_err().label(), "not-json");
    let deep = "[".repeat(256 * 1024);
    assert_eq!(read_zonal_shift(deep.as_bytes()).unwrap_err().label(), "not-json");
    let large = vec![b' '; BODY_BYTES_MAX + 1];
    assert_eq!(read_zonal_shift(&large).unwrap_err().label(), "too-large");
}

#[test]
fn fields_that_do_not_matter_may_have_any_type() {
    let odd = [json!(null), json!(7), json!("x"), json!([1]), json!({"a": 1})];
    for field in ["id", "account", "region", "resources", "version"] {
        for value in &odd {
            let mut body = sample();
            body[field] = value.clone();
            assert!(parse(&body).is_ok(), "{field} = {value}");
        }
    }
}

#[test]
fn an_event_of_another_region_or_of_the_future_changes_nothing() {
    let mut world = World::new([]);
    let mut body = message("Autoshift In Progress", "a", 0);
    body["region"] = json!("us-east-1");
    let elsewhere = world.deliver(&body);
    assert_eq!((elsewhere.verdict.label(), elsewhere.disposal), ("other-region", Disposal::Delete));
    let ahead = world.deliver(&message("Autoshift In Progress", "a", 3600));
    assert_eq!((ahead.verdict.label(), ahead.disposal), ("future-dated", Disposal::Delete));
    assert_eq!(world.state(), ShiftState::default());
}

#[test]
fn with_match_any_a_stranger_s_shift_counts_and_is_named() {
    let mut world = World::new([]);
    let mut body = message("Practice Run Started", "a", 0);
    body["resources"] = json!(["app/shop/50dc6c495c0c9188"]);
    let received = world.deliver(&body);
    assert_eq!(received.verdict, Verdict::Started);
    assert_eq!(received.foreign_resources, ["app/shop/50dc6c495c0c9188"]);
}

#[test]
fn with_match_cluster_the_cluster_or_a_named_resource_must_be_listed() {
    let also = ["arn:lb".to_owned()].into();
    let scope = Scope { matching: Matching::Cluster { also }, ..scope() };
    let table = [
        ("Practice Run Started", json!(["prod"]), Admission::Counts),
        ("Practice Run Started", json!(["arn:lb"]), Admission::Counts),
        ("Practice Run Started", json!(["arn:other"]), Admission::OtherResources),
        ("Practice Run Started", json!([]), Admission::OtherResources),
        ("Autoshift In Progress", json!([]), Admission::Counts),
        ("Autoshift In Progress", json!(["arn:other"]), Admission::OtherResources),
    ];
    for (detail_type, resources, expected) in table {
        let mut body = message(detail_type, "a", 0);
        body["resources"] = resources.clone();
        let event = parse(&body).unwrap();
        assert_eq!(scope.admits(&event), expected, "{detail_type} {resources}");
    }
}

#[test]
fn times_are_read_with_offsets_and_fractions() {
    let read = |text: &str| UnixSeconds::parse(text).map(|time| time.to_string());
    let same = Some("2023-11-16T23:38:14Z".to_owned());
    for text in ["2023-11-16T23:38:14Z", "2023-11-16T23:38:14.999Z", "2023-11-17T01:08:14+01:30"] {
        assert_eq!(read(text), same, "{text}");
    }
    let leap_day = Some("2024-02-29T00:00:00Z".to_owned());
    assert_eq!(read("2024-02-29T00:00:00Z"), leap_day);
    for wrong in [
        "2023-02-29T00:00:00Z",
        "2023-13-01T00:00:00Z",
        "2023-00-01T00:00:00Z",
        "2023-11-00T00:00:00Z",
        "2023-11-31T00:00:00Z",
        "2023-11-16T24:00:00Z",
        "2023-11-16T23:38:14",
        "2023-11-16T23:38:14.Z",
        "2023-11-16",
        "1969-12-31T23:59:59Z",
        "+023-11-16T23:38:14Z",
        "",
    ] {
        assert_eq!(read(wrong), None, "{wrong}");
    }
}

/// Any JSON, with the names of an event's fields among the keys.
fn json_near_an_event() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        Just(json!("usw2-az1")),
        Just(json!("2023-11-16T23:38:14Z")),
    ];
    let key = prop_oneof![
        Just("metadata".to_owned()),
        Just("awayFrom".to_owned()),
        Just("Message".to_owned()),
        "[a-z]{1,4}",
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bytes_never_panic_and_never_stick(body in prop::collection::vec(any::<u8>(), 0..400)) {
        let world = World::new([]);
        let received = world.state().receive(&body, &scope(), &zone_table(), at(0));
        prop_assert_eq!(received.disposal, Disposal::Delete);
        prop_assert_eq!(received.state, ShiftState::default());
    }

    #[test]
    fn any_field_of_any_type_is_an_event_or_a_reason(
        field in prop::sample::select(vec![
            "version", "id", "detail-type", "source", "account", "time", "region", "resources",
            "detail", "Type", "Message",
        ]),
        value in json_near_an_event(),
    ) {
        let mut world = World::new([]);
        let mut body = message("Autoshift In Progress", "a", 0);
        body[field] = value;
        let received = world.deliver(&body);
        let is_started = received.verdict == Verdict::Started;
        prop_assert_eq!(is_started, !world.state().away().is_empty());
    }

    #[test]
    fn a_message_cut_off_anywhere_is_refused(end in 0usize..300) {
        let body = sample().to_string();
        let cut = &body.as_bytes()[..end.min(body.len() - 1)];
        prop_assert!(read_zonal_shift(cut).is_err());
    }

    #[test]
    fn printed_times_read_back(seconds in 0i64..=253_402_300_799) {
        let time = UnixSeconds::new(seconds).unwrap();
        prop_assert_eq!(UnixSeconds::parse(&time.to_string()), Some(time));
    }

    #[test]
    fn arbitrary_state_texts_never_panic(text in "\\PC{0,200}") {
        prop_assert!(ShiftState::from_json(&text).is_err());
    }
}
