//! Where an event comes from: its id, account and region, checked.

use std::borrow::Cow;

use super::field::{Field, TextField};
use super::reading::Stop;
use super::{EventId, Unreadable};

/// EventBridge ids are UUIDs (36); an id is also a message attribute, so it must stay small.
const ID_BYTES_MAX: usize = 128;

/// The longest names of regions have 16 letters; twice that leaves room.
const REGION_BYTES_MAX: usize = 32;

pub(super) fn id(field: TextField<'_>) -> Result<Option<EventId>, Stop> {
    // Digits and hyphens need no further look.
    if let Some(uuid) = field.text().and_then(EventId::from_uuid) {
        return Ok(Some(uuid));
    }
    // SQS refuses control characters in an attribute, and the id becomes one.
    let sound = |id: &str| id.len() <= ID_BYTES_MAX && id.bytes().all(|b| b.is_ascii_graphic());
    Ok(checked(field, "id", sound)?.map(|text| EventId::new(&text)))
}

pub(super) fn account<'a>(
    field: TextField<'a>,
    name: &'static str,
) -> Result<Option<Cow<'a, str>>, Stop> {
    let digits = |text: &str| text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit());
    checked(field, name, digits)
}

pub(super) fn region(field: TextField<'_>) -> Result<Option<Cow<'_, str>>, Stop> {
    // A region becomes part of a host name, so nothing else may pass.
    let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    checked(field, "region", |text| text.len() <= REGION_BYTES_MAX && text.bytes().all(word))
}

/// Absent and empty are the same; anything else must be sound.
fn checked<'a>(
    field: TextField<'a>,
    name: &'static str,
    sound: impl Fn(&str) -> bool,
) -> Result<Option<Cow<'a, str>>, Stop> {
    match field {
        Field::Absent => Ok(None),
        Field::Is(text) if text.0.is_empty() => Ok(None),
        Field::Is(text) if sound(&text.0) => Ok(Some(text.0)),
        Field::Is(_) | Field::Other => Err(Unreadable::Wrong(name).into()),
    }
}
