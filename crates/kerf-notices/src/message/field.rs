//! JSON fields that may hold anything: what is wanted, nothing, or something else to report.
//!
//! A value of the wrong type must not hide the rest of a message, so each field is read into one of
//! these. Unwanted values are skipped without building them and without recursion.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What a field held.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Field<T> {
    /// Nothing, or `null`.
    #[default]
    Absent,
    /// What was looked for.
    Is(T),
    /// A value of another type.
    Other,
}

impl<T> Field<T> {
    pub(super) fn value(&self) -> Option<&T> {
        match self {
            Self::Is(value) => Some(value),
            Self::Absent | Self::Other => None,
        }
    }
}

/// Text; numbers count as other.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

/// The elements of a list that had the wanted type; the others are left out.
#[derive(Debug)]
pub(super) struct List<T>(pub(super) Vec<T>);

/// An object read as `T`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object<T>(pub(super) T);

pub(super) type TextField<'a> = Field<Text<'a>>;

impl TextField<'_> {
    pub(super) fn text(&self) -> Option<&str> {
        self.value().map(|text| text.0.as_ref())
    }
}

/// How to read a wanted value from the JSON type it is written as. Every default says "other".
pub(super) trait Wanted<'de>: Sized {
    fn from_text(_: Cow<'de, str>) -> Option<Self> {
        None
    }
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

impl<'de: 'a, 'a> Wanted<'de> for Text<'a> {
    fn from_text(text: Cow<'de, str>) -> Option<Self> {
        Some(Self(text))
    }
}

impl<'de, T: Wanted<'de>> Wanted<'de> for List<T> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut wanted = Vec::new();
        while let Some(element) = list.next_element::<Field<T>>()? {
            if let Field::Is(element) = element {
                wanted.push(element);
            }
        }
        Ok(Some(Self(wanted)))
    }
}

impl<'de, T: Deserialize<'de>> Wanted<'de> for Object<T> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|object| Some(Self(object)))
    }
}

impl<'de, T: Wanted<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldVisitor(PhantomData))
    }
}

struct FieldVisitor<T>(PhantomData<T>);

impl<'de, T: Wanted<'de>> Visitor<'de> for FieldVisitor<T> {
    type Value = Field<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_unit<E>(self) -> Result<Field<T>, E> {
        Ok(Field::Absent)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Field<T>, E> {
        Ok(Field::Other)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Field<T>, E> {
        Ok(Field::Other)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Field<T>, E> {
        Ok(Field::Other)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Field<T>, E> {
        Ok(Field::Other)
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Field<T>, E> {
        Ok(held(T::from_text(Cow::Borrowed(text))))
    }
    fn visit_str<E>(self, text: &str) -> Result<Field<T>, E> {
        Ok(held(T::from_text(Cow::Owned(text.to_owned()))))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Field<T>, A::Error> {
        T::from_list(list).map(held)
    }
    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Field<T>, A::Error> {
        T::from_object(object).map(held)
    }
}

fn held<T>(wanted: Option<T>) -> Field<T> {
    wanted.map_or(Field::Other, Field::Is)
}
