//! What each monitor makes of an answer: events to handle, and events that are over.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kerf_engine::notice::NoticeKind;
use kerf_notices::imds::answer::{self, ScheduledEvent, Unreadable};
use kerf_notices::imds::reboot;
use kerf_notices::zonal_shift::UnixSeconds;
use sha2::{Digest as _, Sha256};

use crate::kind::EventKind;
use crate::message::Announced;
use crate::record::go_time;
use crate::settings::Monitor;

/// The longest value a label may have.
const LABEL_CHARS_MAX: usize = 63;

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Something will happen.
    Announced(Box<Announcement>),
    /// What was announced under this id was called off, or is done.
    Over(String),
}

/// An event that the metadata service tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub(crate) announced: Announced,
    pub(crate) description: String,
    /// When the instance goes, where that is known.
    pub(crate) deadline: Option<Timestamp>,
    /// Labels the node gets, from which it is known after a reboot what to do.
    pub(crate) labels: BTreeMap<String, String>,
    /// Those it gets only if it is open.
    pub(crate) labels_if_open: BTreeMap<String, String>,
}

impl Monitor {
    /// Where it asks.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Spot => answer::SPOT,
            Self::Rebalance => answer::REBALANCE,
            Self::Scheduled => answer::SCHEDULED,
            Self::AutoScaling => answer::TARGET_STATE,
        }
    }

    /// Reads an answer about an instance.
    pub(crate) fn read(
        self,
        body: &str,
        instance: &str,
        now: Timestamp,
    ) -> Result<Vec<Said>, Unreadable> {
        let announced = |announcement| Said::Announced(Box::new(announcement));
        Ok(match self {
            Self::Spot => {
                let at = answer::spot_action(body)?.at.and_then(timestamp);
                let id = hashed("spot-itn-", body.trim());
                let mut spot =
                    Announcement::of(EventKind::SpotItn, id, instance, at.unwrap_or(now));
                spot.deadline = at;
                spot.description =
                    format!("Spot ITN received. Instance will be interrupted at {}", spot.time());
                vec![announced(spot)]
            }
            Self::Rebalance => {
                let at = answer::rebalance(body)?.and_then(timestamp).unwrap_or(now);
                let id = hashed("rebalance-recommendation-", body.trim());
                let kind = EventKind::RebalanceRecommendation;
                let mut rebalance = Announcement::of(kind, id, instance, at);
                rebalance.description = format!(
                    "Rebalance recommendation received. Instance will be cordoned at {}",
                    rebalance.time()
                );
                vec![announced(rebalance)]
            }
            Self::Scheduled => {
                let events = answer::scheduled_events(body)?.into_iter();
                events.map(|event| scheduled(event, instance, now)).collect()
            }
            Self::AutoScaling if answer::is_terminated(body) => {
                // The same each time it is asked for: it happens once.
                let id = hashed("target-lifecycle-state-terminated-", instance);
                let mut ends = Announcement::of(EventKind::AsgLifecycle, id, instance, now);
                ends.description = format!(
                    "ASG target lifecycle state received. Instance will be terminated at {}",
                    ends.time()
                );
                vec![announced(ends)]
            }
            Self::AutoScaling => Vec::new(),
        })
    }
}

impl Announcement {
    fn of(kind: EventKind, event_id: String, instance: &str, time: Timestamp) -> Self {
        let notice = kind.notice();
        let (instance, state, hook) = (instance.to_owned(), String::new(), None);
        Self {
            announced: Announced { kind, notice, event_id, instance, time, state, hook },
            description: String::new(),
            deadline: None,
            labels: BTreeMap::new(),
            labels_if_open: BTreeMap::new(),
        }
    }

    fn time(&self) -> String {
        go_time(self.announced.time)
    }
}

fn scheduled(event: ScheduledEvent, instance: &str, now: Timestamp) -> Said {
    if event.is_over() {
        return Said::Over(event.id);
    }
    let mut planned = Announcement::of(EventKind::ScheduledEvent, event.id.clone(), instance, now);
    let shown = |time: Option<UnixSeconds>| {
        time.and_then(timestamp).map_or_else(|| "an unknown time".to_owned(), go_time)
    };
    let reason = event.description.split_whitespace().collect::<Vec<_>>().join(" ");
    planned.description = format!(
        "{} will occur between {} and {} because {reason}",
        event.code,
        shown(event.not_before),
        shown(event.not_after)
    );
    if event.reboots() {
        let label = |key: &str, value: &str| {
            (key.to_owned(), value.chars().take(LABEL_CHARS_MAX).collect::<String>())
        };
        planned.labels = [label(reboot::EVENT_ID, &event.id)].into();
        planned.labels_if_open = [
            label(reboot::ACTION, reboot::UNCORDON_AFTER_REBOOT),
            label(reboot::ACTION_TIME, &now.as_second().to_string()),
        ]
        .into();
    }
    debug_assert_eq!(planned.announced.notice, NoticeKind::ScheduledChange);
    Said::Announced(Box::new(planned))
}

fn hashed(prefix: &str, text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{prefix}{hex}")
}

fn timestamp(time: UnixSeconds) -> Option<Timestamp> {
    Timestamp::from_second(time.seconds()).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-17T12:00:00Z".parse().unwrap()
    }

    fn one(monitor: Monitor, body: &str) -> Announcement {
        match &monitor.read(body, "i-1", now()).unwrap()[..] {
            [Said::Announced(announcement)] => (**announcement).clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_spot_notice_has_a_deadline_and_an_id_of_its_own() {
        let body = r#"{"action":"terminate","time":"2026-11-17T12:02:00Z"}"#;
        let spot = one(Monitor::Spot, body);
        assert_eq!(spot.deadline, Some("2026-11-17T12:02:00Z".parse().unwrap()));
        assert!(spot.announced.event_id.starts_with("spot-itn-"));
        assert_eq!(spot.announced.event_id.len(), "spot-itn-".len() + 64);
        assert_eq!(
            spot.description,
            "Spot ITN received. Instance will be interrupted at 2026-11-17 12:02:00 +0000 UTC"
        );
        assert_eq!(one(Monitor::Spot, &format!("{body}\n")), spot, "asked again it is the same");
        let unreadable = one(Monitor::Spot, r#"{"action":"stop","time":"tomorrow"}"#);
        assert_eq!((unreadable.deadline, unreadable.announced.time), (None, now()));
    }

    #[test]
    fn the_state_of_an_auto_scaling_group_is_seen_once() {
        let first = one(Monitor::AutoScaling, "Terminated");
        let later = Monitor::AutoScaling.read("Terminated", "i-1", Timestamp::now()).unwrap();
        let [Said::Announced(later)] = &later[..] else { panic!("{later:?}") };
        assert_eq!(first.announced.event_id, later.announced.event_id);
        assert_eq!(Monitor::AutoScaling.read("InService", "i-1", now()).unwrap(), []);
        assert_eq!(Monitor::AutoScaling.read("", "i-1", now()).unwrap(), []);
    }

    #[test]
    fn a_reboot_leaves_word_on_the_node_and_other_maintenance_does_not() {
        let event = |code: &str, state: &str| {
            format!(
                r#"[{{"NotBefore":"21 Jan 2027 09:00:43 GMT","Code":"{code}","Description":
                "scheduled\n reboot","EventId":"event-1","NotAfter":"21 Jan 2027 09:17:23 GMT",
                "State":"{state}"}}]"#
            )
            .replace('\n', " ")
        };
        let reboot = one(Monitor::Scheduled, &event("system-reboot", "active"));
        assert_eq!(reboot.labels.get(reboot::EVENT_ID).unwrap(), "event-1");
        assert_eq!(reboot.labels_if_open.get(reboot::ACTION_TIME).unwrap(), "1794916800");
        assert_eq!(
            reboot.description,
            "system-reboot will occur between 2027-01-21 09:00:43 +0000 UTC and 2027-01-21 \
             09:17:23 +0000 UTC because scheduled reboot"
        );
        assert_eq!(reboot.announced.time, now(), "it is drained now");
        let other = one(Monitor::Scheduled, &event("system-maintenance", "active"));
        assert!(other.labels.is_empty() && other.labels_if_open.is_empty());
        let over = Monitor::Scheduled.read(&event("system-reboot", "completed"), "i-1", now());
        assert_eq!(over.unwrap(), [Said::Over("event-1".to_owned())]);
    }
}
