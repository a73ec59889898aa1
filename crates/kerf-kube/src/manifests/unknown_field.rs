//! Fields of an object that its kind does not have, which an API server would refuse or drop.
//!
//! The types of Kubernetes' kinds pass over what they do not know when they are read. But each says
//! to its deserializer which fields it has, so a deserializer can see what is passed over.

use std::cell::RefCell;

use serde::de::value::Error;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use serde_json::map::Iter as Entries;

/// A field that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnknownField {
    /// Where it stands, itself included.
    pub(super) path: String,
    /// Its name.
    pub(super) name: String,
    /// The fields there are.
    pub(super) known: &'static [&'static str],
}

/// The unknown fields of an object, in the order they stand. `path` leads to the object. Where
/// something else is wrong with it, those up to there.
pub(super) fn unknown_fields<T: DeserializeOwned>(value: &Value, path: &str) -> Vec<UnknownField> {
    let found = RefCell::new(Vec::new());
    let checked = Checked { value, path: path.to_owned(), found: &found };
    // What else is wrong is found again, and reported, when the object is read.
    let _ = T::deserialize(checked);
    found.into_inner()
}

/// A value that notes which of its fields are not asked for.
struct Checked<'a> {
    value: &'a Value,
    path: String,
    found: &'a RefCell<Vec<UnknownField>>,
}

impl<'de> Deserializer<'de> for Checked<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or_default()),
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Array(items) => visitor.visit_seq(Items { items, next: 0, list: &self }),
            Value::Object(fields) => {
                let entries = fields.iter();
                visitor.visit_map(Fields { entries, value: None, object: &self })
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let names = self.value.as_object().into_iter().flat_map(|fields| fields.keys());
        for name in names.filter(|name| !known.contains(&name.as_str())) {
            let path = join(&self.path, name);
            self.found.borrow_mut().push(UnknownField { path, name: name.clone(), known });
        }
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Items<'a> {
    items: &'a [Value],
    next: usize,
    list: &'a Checked<'a>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some(value) = self.items.get(self.next) else { return Ok(None) };
        let path = format!("{}[{}]", self.list.path, self.next);
        self.next += 1;
        seed.deserialize(Checked { value, path, found: self.list.found }).map(Some)
    }
}

struct Fields<'a> {
    entries: Entries<'a>,
    value: Option<(&'a str, &'a Value)>,
    object: &'a Checked<'a>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key, value));
        let key = Value::String(key.clone());
        let found = self.object.found;
        seed.deserialize(Checked { value: &key, path: String::new(), found }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (key, value) = self.value.take().unwrap_or(("", &Value::Null));
        let path = join(&self.object.path, key);
        seed.deserialize(Checked { value, path, found: self.object.found })
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
