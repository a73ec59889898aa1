//! A Health event cut down to some of its instances.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::InstanceId;
use super::field::{Field, Object, TextField};
use super::wire::Entity;

/// The event with only those affected entities and resources that `keep` holds. Every other byte
/// stays as it was, order and spaces included. `None` if the text is not an event's.
pub fn only_with(event: &str, keep: impl Fn(InstanceId) -> bool) -> Option<String> {
    let Members(members) = serde_json::from_str(event).ok()?;
    let mut cuts = Vec::new();
    for (name, value) in &members {
        match name.as_ref() {
            "resources" => cuts.push((*value, filtered(value, |text| resource(text, &keep))?)),
            "detail" => {
                let Members(inner) = serde_json::from_str(value.get()).ok()?;
                let entities = inner.iter().filter(|(name, _)| name == "affectedEntities");
                for (_, list) in entities {
                    cuts.push((*list, filtered(list, |text| entity(text, &keep))?));
                }
            }
            _ => {}
        }
    }
    Some(replaced(event, cuts))
}

/// An object's members in their order, values as they are written.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// A list with the elements that are wanted. What is no list stays as it is.
fn filtered(list: &RawValue, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(list.get()) else {
        return Some(list.get().to_owned());
    };
    let kept: Vec<_> =
        elements.into_iter().map(RawValue::get).filter(|text| wanted(text)).collect();
    Some(format!("[{}]", kept.join(",")))
}

fn resource(text: &str, keep: &impl Fn(InstanceId) -> bool) -> bool {
    let named: Result<Cow<'_, str>, _> = serde_json::from_str(text);
    named.ok().and_then(|named| InstanceId::from_resource(&named)).is_some_and(keep)
}

fn entity(text: &str, keep: &impl Fn(InstanceId) -> bool) -> bool {
    let Ok(Field::Is(Object(Entity { value }))) = serde_json::from_str(text) else { return false };
    let value: TextField<'_> = value;
    value.text().and_then(InstanceId::from_resource).is_some_and(keep)
}

/// `text` with pieces of it replaced. Each piece must lie in `text`, in order, without overlap.
fn replaced(text: &str, cuts: Vec<(&RawValue, String)>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for (piece, instead) in cuts {
        // The pieces borrow from `text`, so their distance in memory is their place in it.
        let start = piece.get().as_ptr().addr() - text.as_ptr().addr();
        result.push_str(&text[from..start]);
        result.push_str(&instead);
        from = start + piece.get().len();
    }
    result.push_str(&text[from..]);
    result
}
