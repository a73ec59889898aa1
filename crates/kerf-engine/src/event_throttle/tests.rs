//! Silence and pace, by example.

use std::sync::Arc;

use super::EventThrottle;
use crate::event::Key;
use crate::kubernetes_event::{KubernetesEvent, Rate};
use crate::time::{Span, Time};

const FIVE_A_SECOND: Rate = Rate { per_second: 5, burst: 10 };

fn event(node: usize) -> KubernetesEvent {
    let about = Key::Node(Arc::from(format!("node-{node}")));
    KubernetesEvent::normal(about, "Nominated", "a place was found")
}

fn said(event_throttle: &mut EventThrottle, count: usize, from: usize, now: Time) -> usize {
    let all = (from..from + count).map(|node| event(node).at_most(FIVE_A_SECOND));
    all.filter(|each| event_throttle.admits(each, now)).count()
}

#[test]
fn the_same_news_is_said_once_within_its_silence() {
    let mut event_throttle = EventThrottle::default();
    let start = Time::from_seconds(1_000);
    let event = event(1).silent_for(Span::from_seconds(60));
    assert!(event_throttle.admits(&event, start));
    assert!(!event_throttle.admits(&event, start + Span::from_seconds(59)));
    assert!(event_throttle.admits(&event, start + Span::from_seconds(60)));
}

#[test]
fn news_with_a_rate_comes_in_a_burst_and_then_at_its_pace() {
    let mut event_throttle = EventThrottle::default();
    let start = Time::from_seconds(1_000);
    assert_eq!(said(&mut event_throttle, 100, 0, start), 10);
    assert_eq!(said(&mut event_throttle, 100, 100, start + Span::from_millis(199)), 0);
    assert_eq!(said(&mut event_throttle, 100, 200, start + Span::from_millis(200)), 1);
    assert_eq!(said(&mut event_throttle, 100, 300, start + Span::from_millis(1_200)), 5);
    assert_eq!(
        said(&mut event_throttle, 100, 400, start + Span::from_seconds(600)),
        10,
        "no more saved"
    );
}

#[test]
fn news_that_came_too_fast_may_be_said_later() {
    let mut event_throttle = EventThrottle::default();
    let start = Time::from_seconds(1_000);
    assert_eq!(said(&mut event_throttle, 11, 0, start), 10);
    assert!(
        event_throttle.admits(&event(10).at_most(FIVE_A_SECOND), start + Span::from_seconds(1))
    );
}
