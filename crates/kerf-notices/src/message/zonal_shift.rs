//! An announcement of a zonal shift, read in full. Whatever arrives, the answer is an event or a
//! reason why there is none; the queue never sticks on a message.

use thiserror::Error;

use super::Unreadable;
use super::field::{Field, Text};
use super::reading::{Opened, WRAPPINGS_MAX, open, parse};
use super::wire::{Bridged, Shift, ShiftDetail};
use crate::zonal_shift::{EventKind, SOURCE, ShiftEvent, UnixSeconds, ZoneRef};

/// Why a message holds no announcement of a zonal shift. It can be deleted: reading it again
/// would give the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unusable {
    /// No event at all.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// JSON, but not an event.
    #[error("the message is JSON but not an event: {0}")]
    NotAnEvent(&'static str),
    /// An event of another service.
    #[error("the event comes from {0:?}, not from {SOURCE}")]
    OtherSource(String),
    /// An event of this service that starts and ends nothing.
    #[error("the detail-type {0:?} starts and ends no shift")]
    OtherDetailType(String),
    /// No time to order it by.
    #[error("the event's time {0:?} is not a time such as 2023-11-16T23:38:14Z")]
    BadTime(String),
    /// No zone, or one that cannot be one.
    #[error("the event names {0:?} as the zone to avoid, which is neither a zone id nor a name")]
    BadZone(String),
}

impl Unusable {
    /// Its label in `kerf_zonal_shift_events_total{result}`.
    pub fn label(&self) -> &'static str {
        match self {
            Unusable::Unreadable(Unreadable::TooLarge) => "too-large",
            Unusable::Unreadable(Unreadable::NotText | Unreadable::NotJson) => "not-json",
            Unusable::Unreadable(_) | Unusable::NotAnEvent(_) => "not-an-event",
            Unusable::OtherSource(_) => "other-source",
            Unusable::OtherDetailType(_) => "other-detail-type",
            Unusable::BadTime(_) => "bad-time",
            Unusable::BadZone(_) => "bad-zone",
        }
    }
}

/// Reads the body of a message: an EventBridge event, bare or wrapped by SNS.
pub fn read_zonal_shift(body: &[u8]) -> Result<ShiftEvent, Unusable> {
    let text = std::str::from_utf8(body).map_err(|_| Unreadable::NotText)?;
    unwrap(text, WRAPPINGS_MAX)
}

fn unwrap(text: &str, wrappings_left: usize) -> Result<ShiftEvent, Unusable> {
    match open(text)? {
        Opened::Bridged(event) => read_event(text, &event),
        Opened::Direct(outer) => match outer.message.text() {
            None => Err(Unusable::NotAnEvent("it has no source")),
            Some(_) if wrappings_left == 0 => Err(Unreadable::TooManyWrappings.into()),
            Some(message) => unwrap(message, wrappings_left - 1),
        },
    }
}

fn read_event(text: &str, event: &Bridged<'_>) -> Result<ShiftEvent, Unusable> {
    let source = event.source.text().unwrap_or_default();
    if source != SOURCE {
        return Err(Unusable::OtherSource(excerpt(source)));
    }
    let detail_type = event.detail_type.text();
    let detail_type = detail_type.ok_or(Unusable::NotAnEvent("it has no detail-type"))?;
    let kind = EventKind::of_detail_type(detail_type);
    let kind = kind.ok_or_else(|| Unusable::OtherDetailType(excerpt(detail_type)))?;
    let shift: Shift<'_> = parse(text)?;
    let time = shift.time.text().unwrap_or_default();
    let time = UnixSeconds::parse(time).ok_or_else(|| Unusable::BadTime(excerpt(time)))?;
    let zone = shift.detail.value().and_then(|detail| away_from(&detail.0)).unwrap_or_default();
    let resources: Vec<Text<'_>> = event.resources.elements()?;
    Ok(ShiftEvent {
        id: event.id.text().unwrap_or_default().to_owned(),
        kind,
        time,
        region: event.region.text().unwrap_or_default().to_owned(),
        resources: resources.into_iter().map(|resource| resource.0.into_owned()).collect(),
        away_from: ZoneRef::parse(zone).ok_or_else(|| Unusable::BadZone(excerpt(zone)))?,
    })
}

/// The zone, from the place AWS documents or from those it has used besides.
fn away_from<'b>(detail: &'b ShiftDetail<'_>) -> Option<&'b str> {
    let documented = || detail.metadata.value()?.0.zone.text();
    let of_service = || match &detail.service.value()?.0.autoshift {
        Field::Is(autoshift) => autoshift.0.zone.text(),
        Field::Absent | Field::Other => None,
    };
    documented().or_else(|| detail.away_from.text()).or_else(of_service)
}

/// The start of a foreign text: enough to recognise it, little enough for a log line.
fn excerpt(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    text.chars().take(CHARS_MAX).collect()
}
