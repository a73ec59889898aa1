//! Reading a queue message as an announcement. Whatever arrives, the answer is an event or a
//! reason why there is none; the queue never sticks on a message.

use serde_json::{Map, Value};
use thiserror::Error;

use super::event::{EventKind, SOURCE, ShiftEvent};
use super::instant::UnixSeconds;
use super::zone::ZoneRef;

/// SQS lets through no larger body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Why a message holds no announcement of a zonal shift. It can be deleted: reading it again
/// would give the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unusable {
    /// Larger than any message the queue can carry.
    #[error("the body has {bytes} bytes, more than the {BODY_BYTES_MAX} a queue message can have")]
    TooLarge {
        /// The body's size.
        bytes: usize,
    },
    /// Not JSON, or nested beyond reading.
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    /// JSON, but not an event.
    #[error("the body is JSON but not an event: {0}")]
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
    /// The word for it in `kerf_zonal_shift_events_total{result}`.
    pub fn label(&self) -> &'static str {
        match self {
            Unusable::TooLarge { .. } => "too-large",
            Unusable::NotJson(_) => "not-json",
            Unusable::NotAnEvent(_) => "not-an-event",
            Unusable::OtherSource(_) => "other-source",
            Unusable::OtherDetailType(_) => "other-detail-type",
            Unusable::BadTime(_) => "bad-time",
            Unusable::BadZone(_) => "bad-zone",
        }
    }
}

impl ShiftEvent {
    /// Reads the body of a message: an EventBridge event, bare or wrapped by SNS.
    pub fn parse(body: &[u8]) -> Result<ShiftEvent, Unusable> {
        if body.len() > BODY_BYTES_MAX {
            return Err(Unusable::TooLarge { bytes: body.len() });
        }
        let outer = object(body)?;
        match outer.get("Message") {
            Some(Value::String(message)) if text(&outer, "Type") == Some("Notification") => {
                read_event(&object(message.as_bytes())?)
            }
            _ => read_event(&outer),
        }
    }
}

fn object(json: &[u8]) -> Result<Map<String, Value>, Unusable> {
    match serde_json::from_slice(json) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Unusable::NotAnEvent("it is not an object")),
        Err(error) => Err(Unusable::NotJson(error.to_string())),
    }
}

fn read_event(event: &Map<String, Value>) -> Result<ShiftEvent, Unusable> {
    let source = text(event, "source").ok_or(Unusable::NotAnEvent("it has no source"))?;
    if source != SOURCE {
        return Err(Unusable::OtherSource(excerpt(source)));
    }
    let detail_type = text(event, "detail-type");
    let detail_type = detail_type.ok_or(Unusable::NotAnEvent("it has no detail-type"))?;
    let kind = EventKind::of_detail_type(detail_type);
    let kind = kind.ok_or_else(|| Unusable::OtherDetailType(excerpt(detail_type)))?;
    let time = text(event, "time").unwrap_or_default();
    let time = UnixSeconds::parse(time).ok_or_else(|| Unusable::BadTime(excerpt(time)))?;
    let zone = event.get("detail").and_then(away_from).unwrap_or_default();
    Ok(ShiftEvent {
        id: text(event, "id").unwrap_or_default().to_owned(),
        kind,
        time,
        region: text(event, "region").unwrap_or_default().to_owned(),
        resources: resources(event),
        away_from: ZoneRef::parse(zone).ok_or_else(|| Unusable::BadZone(excerpt(zone)))?,
    })
}

/// The zone, from the place AWS documents or from those it has used besides.
fn away_from(detail: &Value) -> Option<&str> {
    const PLACES: [&str; 3] =
        ["/metadata/awayFrom", "/awayFrom", "/serviceEventDetails/autoshift/awayFrom"];
    PLACES.iter().find_map(|place| detail.pointer(place)?.as_str())
}

fn resources(event: &Map<String, Value>) -> Vec<String> {
    let listed = event.get("resources").and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(|resource| Some(resource.as_str()?.to_owned())).collect()
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}

/// The start of a foreign text: enough to recognise it, little enough for a log line.
fn excerpt(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    text.chars().take(CHARS_MAX).collect()
}
