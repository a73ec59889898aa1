//! Values that many records have in common are written once and referred to afterwards.
//!
//! Replicas share one shape and pools one list of instance types; in memory they point to it, and so
//! does a journal. A value is told by its text, so that no two are ever mistaken for each other.
//! Elements of a list are shared by themselves too: when one instance type's price changes, only
//! that one is written again.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

/// The fields whose values are shared.
const SHARED_FIELDS: [&str; 5] = ["shape", "instance_types", "profile", "spec", "daemons"];
/// Texts shorter than this are repeated: a reference would hardly be shorter.
const TEXT_BYTES_MIN: usize = 48;
/// The only key of an object that stands for a shared value. No name of a field or label is equal.
const REFERENCE: &str = "$";

/// The values written so far in a segment, by their text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    numbers: FxHashMap<String, u64>,
}

/// The values read so far in a segment, by their number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    values: Vec<Value>,
}

impl Written {
    /// Replaces shared values by references; `define` is told each that is new, in the order of
    /// their numbers, with the texts of what it refers to told before.
    pub(crate) fn replace(&mut self, value: &mut Value, define: &mut impl FnMut(u64, &str)) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.replace(value, define);
                    if SHARED_FIELDS.contains(&name.as_str()) {
                        self.share(value, define);
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|each| self.replace(each, define)),
            _ => {}
        }
    }

    fn share(&mut self, value: &mut Value, define: &mut impl FnMut(u64, &str)) {
        if let Value::Array(elements) = value {
            elements.iter_mut().for_each(|each| self.share(each, define));
        }
        let text = value.to_string();
        if text.len() < TEXT_BYTES_MIN {
            return;
        }
        let next = self.numbers.len() as u64;
        let number = match self.numbers.get(&text) {
            Some(number) => *number,
            None => {
                define(next, &text);
                self.numbers.insert(text, next);
                next
            }
        };
        *value = Value::Object(Map::from_iter([(REFERENCE.to_owned(), number.into())]));
    }
}

impl Read {
    /// Takes in a definition; its own references are resolved. Says whether its number is the next.
    pub(crate) fn define(&mut self, number: u64, mut value: Value) -> bool {
        let is_next = number == self.values.len() as u64 && self.resolve(&mut value);
        if is_next {
            self.values.push(value);
        }
        is_next
    }

    /// Puts values in the place of references. Says whether all of them are known.
    pub(crate) fn resolve(&self, value: &mut Value) -> bool {
        if let Some(number) = reference(value) {
            let known = usize::try_from(number).ok().and_then(|number| self.values.get(number));
            return known.is_some_and(|known| {
                *value = known.clone();
                true
            });
        }
        match value {
            Value::Object(fields) => fields.values_mut().all(|each| self.resolve(each)),
            Value::Array(values) => values.iter_mut().all(|each| self.resolve(each)),
            _ => true,
        }
    }
}

fn reference(value: &Value) -> Option<u64> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.get(REFERENCE)?.as_u64()
}
