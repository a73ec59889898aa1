//! What messages mean.

use kerf_engine::notice::NoticeKind;
use kerf_notices::message::{Drop, Unreadable};
use kerf_notices::zonal_shift::UnixSeconds;

use crate::meaning::{Meaning, understand};

const A: &str = "i-0aaaaaaaaaaaaaaa1";
const B: &str = "i-0bbbbbbbbbbbbbbb2";
/// 2026-01-10T08:00:00Z.
const TIME: i64 = 1_768_032_000;

/// A minute after [`TIME`].
fn soon() -> UnixSeconds {
    UnixSeconds::at(TIME + 60)
}

fn event(source: &str, detail_type: &str, detail: &str) -> String {
    format!(
        r#"{{"version":"0","id":"7d1c0b4e-0001-4c1e-9b61-000000000001","detail-type":"{detail_type}",
        "source":"{source}","account":"111122223333","time":"2026-01-10T08:00:00Z",
        "region":"eu-west-1","resources":[],"detail":{detail}}}"#
    )
}

fn notice(kind: NoticeKind, instances: &[&str]) -> Meaning {
    Meaning::Notice(kind, instances.iter().map(|instance| (*instance).into()).collect())
}

#[test]
fn every_kind_of_event_is_the_notice_of_its_name_or_nothing() {
    let one = format!(r#"{{"instance-id":"{A}","instance-action":"terminate"}}"#);
    let state = |state: &str| format!(r#"{{"instance-id":"{A}","state":"{state}"}}"#);
    let health = |service: &str, category: &str| {
        format!(
            r#"{{"service":"{service}","eventTypeCategory":"{category}",
            "affectedEntities":[{{"entityValue":"{A}"}},{{"entityValue":"{B}"}}]}}"#
        )
    };
    let group = format!(r#"{{"EC2InstanceId":"{A}"}}"#);
    let changed = "EC2 Instance State-change Notification";
    let table = [
        (
            event("aws.ec2", "EC2 Spot Instance Interruption Warning", &one),
            notice(NoticeKind::SpotInterrupted, &[A]),
            "spot_interrupted",
        ),
        (
            event("aws.ec2", "EC2 Instance Rebalance Recommendation", &one),
            notice(NoticeKind::RebalanceRecommendation, &[A]),
            "rebalance_recommendation",
        ),
        (
            event("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", &one),
            notice(NoticeKind::CapacityReservationInterrupted, &[A]),
            "capacity_reservation_interrupted",
        ),
        (
            event("aws.health", "AWS Health Event", &health("EC2", "scheduledChange")),
            notice(NoticeKind::ScheduledChange, &[A, B]),
            "scheduled_change",
        ),
        (
            event("aws.health", "AWS Health Event", &health("EC2", "issue")),
            Meaning::Nothing,
            "no_op",
        ),
        (
            event("aws.health", "AWS Health Event", &health("RDS", "scheduledChange")),
            Meaning::Nothing,
            "no_op",
        ),
        (
            event("aws.autoscaling", "EC2 Instance-terminate Lifecycle Action", &group),
            Meaning::Nothing,
            "no_op",
        ),
        (
            event("aws.arc-zonal-shift", "Autoshift In Progress", "{}"),
            Meaning::ZonalShift,
            "zonal_shift",
        ),
        (event("aws.s3", "Object Created", "{}"), Meaning::Nothing, "no_op"),
        (String::new(), Meaning::Nothing, "no_op"),
        ("{".to_owned(), Meaning::Unreadable(Unreadable::NotJson), "unreadable"),
        (
            event("aws.ec2", "EC2 Spot Instance Interruption Warning", "{}"),
            Meaning::Unreadable(Unreadable::Missing("detail.instance-id")),
            "unreadable",
        ),
    ];
    for (body, meaning, label) in table {
        let understood = understand(&body, soon());
        assert_eq!((&understood.meaning, understood.meaning.label()), (&meaning, label), "{body}");
    }
    for (words, expected) in [
        ("stopping", notice(NoticeKind::InstanceStopped, &[A])),
        ("stopped", notice(NoticeKind::InstanceStopped, &[A])),
        ("STOPPED", notice(NoticeKind::InstanceStopped, &[A])),
        ("shutting-down", notice(NoticeKind::InstanceTerminated, &[A])),
        ("Terminated", notice(NoticeKind::InstanceTerminated, &[A])),
        ("running", Meaning::Nothing),
        ("pending", Meaning::Nothing),
    ] {
        let body = event("aws.ec2", changed, &state(words));
        assert_eq!(understand(&body, soon()).meaning, expected, "{words}");
    }
}

#[test]
fn the_time_of_an_event_is_read_where_there_is_one_also_out_of_its_wrapping() {
    let detail = format!(r#"{{"instance-id":"{A}"}}"#);
    let body = event("aws.ec2", "EC2 Instance Rebalance Recommendation", &detail);
    let seconds = |body: &str| understand(body, soon()).happened_at.map(|time| time.seconds());
    assert_eq!(seconds(&body), Some(TIME));
    let text = body.replace('\n', " ").replace('"', "\\\"");
    let wrapped = format!(r#"{{"Type":"Notification","Message":"{text}"}}"#);
    assert_eq!(seconds(&wrapped), Some(TIME), "{wrapped}");
    assert_eq!(seconds(&body.replace("2026-01-10T08:00:00Z", "soon")), None);
    assert_eq!(seconds(&body.replace("\"2026-01-10T08:00:00Z\"", "7")), None);
    assert_eq!(seconds("["), None);
}

#[test]
fn a_notice_that_waited_too_long_means_nothing_and_maintenance_can_wait_for_weeks() {
    let spot = event(
        "aws.ec2",
        "EC2 Spot Instance Interruption Warning",
        &format!(r#"{{"instance-id":"{A}"}}"#),
    );
    let health = event(
        "aws.health",
        "AWS Health Event",
        &format!(
            r#"{{"service":"EC2","eventTypeCategory":"scheduledChange",
            "affectedEntities":[{{"entityValue":"{A}"}}]}}"#
        ),
    );
    let after =
        |body: &str, seconds: i64| understand(body, UnixSeconds::at(TIME + seconds)).meaning;
    assert_eq!(after(&spot, 600), notice(NoticeKind::SpotInterrupted, &[A]));
    assert_eq!(after(&spot, 601), Meaning::Untimely(Drop::TooOld));
    assert_eq!(after(&spot, -301), Meaning::Untimely(Drop::NotYet));
    let weeks = 13 * 24 * 3_600;
    assert_eq!(after(&health, weeks), notice(NoticeKind::ScheduledChange, &[A]));
}
