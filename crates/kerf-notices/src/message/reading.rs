//! One message body, read.

use serde::de::{Deserialize, IgnoredAny};

use super::Event;
use super::bridged::read_bridged;
use super::direct::read_direct;
use super::field::Field;
use super::quick;
use super::wire::{Bridged, Direct};

/// SQS allows no larger message (1 MiB, where a queue's limit was raised).
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// An event in SNS is one wrapping; nothing real has more than two.
pub(super) const WRAPPINGS_MAX: usize = 3;

/// What a body turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading<'a> {
    /// An event to route.
    Event(Event<'a>),
    /// A message that nobody needs.
    Drop(Drop),
    /// A message that cannot be understood.
    Unreadable(Unreadable),
}

/// Why a message that was understood goes nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Drop {
    /// Not a kind that interrupts anything.
    OtherKind,
    /// An instance coming up, or in a state that needs no reaction.
    OtherState,
    /// A Health event of another service than EC2.
    OtherService,
    /// A Health event that schedules nothing.
    OtherCategory,
    /// A Health event for everybody, which names no instance.
    PublicHealth,
    /// A Health event about hosts, volumes or nothing.
    NoInstances,
    /// The message Auto Scaling sends to see whether a target works.
    TestNotification,
    /// A kind that the settings do not forward.
    NotForwarded,
    /// It happened so long ago that nobody can use it.
    TooOld,
    /// It says that it will happen, by a clock that nobody has.
    NotYet,
}

impl Drop {
    /// The reason as logs and metrics write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OtherKind => "other-kind",
            Self::OtherState => "other-state",
            Self::OtherService => "other-service",
            Self::OtherCategory => "other-category",
            Self::PublicHealth => "public-health",
            Self::NoInstances => "no-instances",
            Self::TestNotification => "test-notification",
            Self::NotForwarded => "not-forwarded",
            Self::TooOld => "too-old",
            Self::NotYet => "not-yet",
        }
    }
}

/// Why a message cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Unreadable {
    /// The bytes are not UTF-8.
    #[error("the message is not UTF-8 text")]
    NotText,
    /// The text is not JSON, or names a field twice.
    #[error("the message is not JSON")]
    NotJson,
    /// The JSON is a list, a number or a text.
    #[error("the message is JSON but not an object")]
    NotAnObject,
    /// More than [`BODY_BYTES_MAX`].
    #[error("the message is larger than a queue message can be")]
    TooLarge,
    /// Notifications inside notifications.
    #[error("the message is wrapped more often than any sender does")]
    TooManyWrappings,
    /// A field that this kind cannot do without is absent.
    #[error("the field {0} is missing")]
    Missing(&'static str),
    /// A field has the wrong type or a value that cannot be.
    #[error("the field {0} has the wrong type or an impossible value")]
    Wrong(&'static str),
}

impl Unreadable {
    /// The reason as metrics write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotText => "not-text",
            Self::NotJson => "not-json",
            Self::NotAnObject => "not-an-object",
            Self::TooLarge => "too-large",
            Self::TooManyWrappings => "too-many-wrappings",
            Self::Missing(_) => "missing-field",
            Self::Wrong(_) => "wrong-field",
        }
    }
}

/// Why reading stopped short of an event.
pub(super) enum Stop {
    Drop(Drop),
    Unreadable(Unreadable),
}

impl From<Drop> for Stop {
    fn from(why: Drop) -> Self {
        Self::Drop(why)
    }
}

impl From<Unreadable> for Stop {
    fn from(why: Unreadable) -> Self {
        Self::Unreadable(why)
    }
}

/// Reads a body that may not even be text.
pub fn read_bytes(body: &[u8]) -> Reading<'_> {
    match std::str::from_utf8(body) {
        Ok(text) => read(text),
        Err(_) => Reading::Unreadable(Unreadable::NotText),
    }
}

/// Reads one message body.
pub fn read(body: &str) -> Reading<'_> {
    match read_event(body, WRAPPINGS_MAX) {
        Ok(event) => Reading::Event(event),
        Err(Stop::Drop(why)) => Reading::Drop(why),
        Err(Stop::Unreadable(why)) => Reading::Unreadable(why),
    }
}

pub(super) fn read_event(text: &str, wrappings_left: usize) -> Result<Event<'_>, Stop> {
    match open(text)? {
        Opened::Bridged(event) => read_bridged(text, event),
        Opened::Direct(message) => read_direct(message, wrappings_left),
    }
}

/// The outermost layer of a body.
pub(super) enum Opened<'a> {
    /// An event of EventBridge.
    Bridged(Bridged<'a>),
    /// A message without a source: a notification, or a wrapping around another body.
    Direct(Direct<'a>),
}

/// Reads the outermost layer of a body; every reader of events starts here.
pub(super) fn open(text: &str) -> Result<Opened<'_>, Unreadable> {
    if text.len() > BODY_BYTES_MAX {
        return Err(Unreadable::TooLarge);
    }
    let bridged: Bridged<'_> = quick::bridged(text).map_or_else(|| parse(text), Ok)?;
    match bridged.source {
        Field::Is(_) => Ok(Opened::Bridged(bridged)),
        Field::Other => Err(Unreadable::Wrong("source")),
        Field::Absent => parse(text).map(Opened::Direct),
    }
}

/// Reads an object of one shape.
pub(super) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Unreadable> {
    // A list would do for an object otherwise, field by field.
    if text.trim_ascii_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|_| Unreadable::NotJson);
    }
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Err(Unreadable::NotAnObject),
        Err(_) => Err(Unreadable::NotJson),
    }
}
