//! A list that few events need: kept as text and read on demand.

use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Unreadable;
use super::field::{Field, List, Wanted};

/// What a field held where a list is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RawList<'a> {
    /// Nothing, or `null`.
    #[default]
    Absent,
    /// A list, as it is written.
    Is(&'a str),
    /// A value of another type.
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for RawList<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A raw value is JSON without spaces around it, so its first byte tells its type.
        let text = <&RawValue>::deserialize(deserializer)?.get();
        Ok(match text.as_bytes().first() {
            Some(b'[') => Self::Is(text),
            Some(b'n') => Self::Absent,
            _ => Self::Other,
        })
    }
}

impl<'a> RawList<'a> {
    /// The elements that have the wanted type; the others are left out. A list may be JSON and yet
    /// unreadable: an element names a field twice, or a text holds half a character.
    pub(super) fn elements<T: Wanted<'a>>(self) -> Result<Vec<T>, Unreadable> {
        match self {
            Self::Is(text) => match serde_json::from_str::<Field<List<T>>>(text) {
                Ok(Field::Is(list)) => Ok(list.0),
                Ok(Field::Absent | Field::Other) => Ok(Vec::new()),
                Err(_) => Err(Unreadable::NotJson),
            },
            Self::Absent | Self::Other => Ok(Vec::new()),
        }
    }
}
