//! What templates are about: values, how they print, and when they count as true.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Number, Value as Json};

/// A value. Copies share what is large.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Text(Arc<str>),
    /// A time; none is the year 1, as in Go.
    Time(Option<Timestamp>),
    List(Arc<[Value]>),
    /// Keys that are not there are no error.
    Map(Arc<BTreeMap<String, Value>>),
    /// Its fields are known: any other is an error.
    Record(Arc<BTreeMap<String, Value>>),
}

impl Value {
    /// As `if` and `with` see it.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(is_true) => *is_true,
            Self::Int(number) => *number != 0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Map(entries) => !entries.is_empty(),
            Self::Time(_) | Self::Record(_) => true,
        }
    }

    /// What it costs to look at all of it.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len() / 64,
            Self::List(items) => items.iter().map(|item| 1 + item.size()).sum(),
            Self::Map(entries) | Self::Record(entries) => {
                entries.values().map(|value| 1 + value.size()).sum()
            }
            Self::Nil | Self::Bool(_) | Self::Int(_) | Self::Time(_) => 0,
        }
    }

    /// The name of its type, for messages.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "a number",
            Self::Text(_) => "text",
            Self::Time(_) => "a time",
            Self::List(_) => "a list",
            Self::Map(_) | Self::Record(_) => "a map",
        }
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> Json {
        match self {
            Self::Nil => Json::Null,
            Self::Bool(is_true) => Json::Bool(*is_true),
            Self::Int(number) => Json::Number(Number::from(*number)),
            Self::Text(text) => Json::String(text.to_string()),
            Self::Time(Some(time)) => Json::String(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
            Self::Time(None) => Json::String("0001-01-01T00:00:00Z".to_owned()),
            Self::List(items) => Json::Array(items.iter().map(Self::json).collect()),
            Self::Map(entries) | Self::Record(entries) => Json::Object(
                entries.iter().map(|(key, value)| (key.clone(), value.json())).collect(),
            ),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("<no value>"),
            Self::Bool(is_true) => write!(f, "{is_true}"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::Time(Some(time)) => write!(f, "{}", time.strftime("%Y-%m-%d %H:%M:%S +0000 UTC")),
            Self::Time(None) => f.write_str("0001-01-01 00:00:00 +0000 UTC"),
            Self::List(items) => {
                f.write_str("[")?;
                for (place, item) in items.iter().enumerate() {
                    let space = if place == 0 { "" } else { " " };
                    write!(f, "{space}{item}")?;
                }
                f.write_str("]")
            }
            Self::Map(entries) | Self::Record(entries) => {
                f.write_str("map[")?;
                for (place, (key, value)) in entries.iter().enumerate() {
                    let space = if place == 0 { "" } else { " " };
                    write!(f, "{space}{key}:{value}")?;
                }
                f.write_str("]")
            }
        }
    }
}
