//! What a queue message says, before anything is known of its instances.

use jiff::Timestamp;
use kerf_aws::LifecycleAction;
use kerf_engine::notice::NoticeKind;
use kerf_notices::message::{Event, Kind, Reading, State, read};
use serde::Deserialize;

use crate::kind::EventKind;

/// A message, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Events, one for each instance.
    Events(Vec<Announced>),
    /// Nothing that concerns a node: a test, a state that needs no reaction.
    Nothing(&'static str),
    /// It cannot be understood, and never will be.
    Poison(String),
}

/// An event about one instance, as the message has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// What it is about.
    pub kind: EventKind,
    /// What it is to the engine.
    pub notice: NoticeKind,
    /// By which it is known again when it is delivered again.
    pub event_id: String,
    /// The instance.
    pub instance: String,
    /// When it happened, or now where it does not say so.
    pub time: Timestamp,
    /// The state of a state change; otherwise empty.
    pub state: String,
    /// What an Auto Scaling group waits for.
    pub hook: Option<LifecycleAction>,
}

/// What else messages about lifecycle hooks and states say, in either envelope.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    #[serde(rename = "RequestId")]
    request_id: Option<String>,
    #[serde(rename = "Time")]
    time: Option<String>,
    detail: Option<Detail>,
    #[serde(flatten)]
    hook: Hook,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Detail {
    state: Option<String>,
    #[serde(flatten)]
    hook: Hook,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Hook {
    #[serde(rename = "AutoScalingGroupName")]
    group: Option<String>,
    #[serde(rename = "LifecycleHookName")]
    name: Option<String>,
    #[serde(rename = "LifecycleActionToken")]
    token: Option<String>,
    #[serde(rename = "LifecycleTransition")]
    transition: Option<String>,
}

/// Reads the body of a message that is received at that time.
#[must_use]
pub fn understand(body: &str, now: Timestamp) -> Message {
    match read(body) {
        Reading::Event(event) => {
            let text = event.unwrapped.as_deref().unwrap_or(body);
            // It was read as JSON before; what is of another type than expected is left out.
            let said: Body = serde_json::from_str(text).unwrap_or_default();
            of_event(&event, &said, now)
        }
        Reading::Drop(why) => Message::Nothing(why.word()),
        Reading::Unreadable(why) => Message::Poison(why.to_string()),
    }
}

fn of_event(event: &Event<'_>, said: &Body, now: Timestamp) -> Message {
    let (kind, notice) = match event.kind {
        Kind::SpotInterruption => (EventKind::SpotItn, NoticeKind::SpotInterrupted),
        Kind::CapacityReservationInterruption => {
            (EventKind::SpotItn, NoticeKind::CapacityReservationInterrupted)
        }
        Kind::Rebalance => {
            (EventKind::RebalanceRecommendation, NoticeKind::RebalanceRecommendation)
        }
        Kind::StateChange(State::Stopping | State::Stopped) => {
            (EventKind::StateChange, NoticeKind::InstanceStopped)
        }
        Kind::StateChange(State::ShuttingDown | State::Terminated) => {
            (EventKind::StateChange, NoticeKind::InstanceTerminated)
        }
        Kind::Health => (EventKind::ScheduledEvent, NoticeKind::ScheduledChange),
        Kind::AsgTerminate => (EventKind::AsgLifecycle, NoticeKind::LifecycleTermination),
        Kind::AsgLaunch => (EventKind::AsgLaunchLifecycle, NoticeKind::LifecycleLaunch),
        Kind::ZonalShift => return Message::Nothing("zonal-shift"),
    };
    let detail = said.detail.as_ref();
    let hook = detail.map_or(&said.hook, |detail| &detail.hook);
    let is_hook = matches!(kind, EventKind::AsgLifecycle | EventKind::AsgLaunchLifecycle);
    if is_hook && let Err(why) = hook.check(kind) {
        return Message::Poison(why);
    }
    let id = match detail {
        None => said.request_id.clone(),
        Some(_) => None,
    };
    let id = id.or_else(|| event.id.as_ref().map(ToString::to_string)).unwrap_or_default();
    let time = event.time.as_deref().or(said.time.as_deref());
    let announced = |instance: String| Announced {
        kind,
        notice,
        event_id: event_id(kind, &id, &instance),
        time: time.and_then(|time| time.parse().ok()).unwrap_or(now),
        state: match kind {
            EventKind::StateChange => detail.and_then(|it| it.state.clone()).unwrap_or_default(),
            _ => String::new(),
        },
        hook: is_hook.then(|| hook.action(&instance)),
        instance,
    };
    Message::Events(event.instances.iter().map(|id| announced(id.to_string())).collect())
}

/// The id of an event. Health events tell of several instances under one id.
fn event_id(kind: EventKind, id: &str, instance: &str) -> String {
    let hex: String = id.bytes().map(|byte| format!("{byte:02x}")).collect();
    let own = match kind {
        EventKind::ScheduledEvent => format!("-{instance}"),
        _ => String::new(),
    };
    format!("{}{hex}{own}", kind.id_prefix())
}

impl Hook {
    /// Whether it can be completed, and is of the kind it comes as.
    fn check(&self, kind: EventKind) -> Result<(), String> {
        let wanted = match kind {
            EventKind::AsgLaunchLifecycle => "autoscaling:EC2_INSTANCE_LAUNCHING",
            _ => "autoscaling:EC2_INSTANCE_TERMINATING",
        };
        match self.transition.as_deref() {
            Some(transition) if transition == wanted => {}
            Some(other) => return Err(format!("the lifecycle transition {other} is not known")),
            None => return Err("the field LifecycleTransition is missing".to_owned()),
        }
        let missing = |field| Err(format!("the field {field} is missing"));
        match (&self.group, &self.name) {
            (None, _) => missing("AutoScalingGroupName"),
            (_, None) => missing("LifecycleHookName"),
            (Some(_), Some(_)) => Ok(()),
        }
    }

    fn action(&self, instance: &str) -> LifecycleAction {
        LifecycleAction {
            group: self.group.clone().unwrap_or_default(),
            hook: self.name.clone().unwrap_or_default(),
            token: self.token.clone(),
            instance: instance.to_owned(),
        }
    }
}
