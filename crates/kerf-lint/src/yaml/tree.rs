//! One document as a tree of values, each with its place.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::Position;
use crate::field_path::{FieldPath, Step};
use crate::violation::Spot;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub position: Position,
    pub content: Content,
    /// The text of an unquoted scalar that does not read as text.
    pub written: Option<Box<str>>,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One `key: value`. Keys may repeat; the last one holds, as in kubectl.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: String,
    pub key_position: Position,
    /// The text of an unquoted key that does not read as text, such as `y`.
    pub key_written: Option<Box<str>>,
    pub value: Node,
    /// Brought in by a merge key `<<`, so overriding it is no repetition.
    pub merged: bool,
}

impl Node {
    /// The value as JSON; of repeated keys the last holds.
    pub(crate) fn to_json(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(flag) => Value::Bool(*flag),
            Content::Number(number) => Value::Number(number.clone()),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Content::Map(entries) => {
                let pairs = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// Where the value or key at a path stands; for a missing one, where it should be added.
    pub(crate) fn place_of(&self, path: &FieldPath, spot: Spot) -> Position {
        let (mut node, mut key_position) = (self, self.position);
        for step in path.steps() {
            // The nearest key on the way is where a missing field belongs.
            let Some((next, position)) = node.below(step) else { return key_position };
            (node, key_position) = (next, position);
        }
        match (spot, &node.content) {
            (Spot::Key, _) | (_, Content::Map(_) | Content::List(_)) => key_position,
            (Spot::Value, _) => node.position,
        }
    }

    /// What the author wrote at a path, where it is unquoted and does not read as text.
    pub(crate) fn written_at(&self, path: &FieldPath, spot: Spot) -> Option<&str> {
        let (mut node, mut key_written) = (self, None);
        for step in path.steps() {
            key_written = match (step, &node.content) {
                (Step::Field(name) | Step::Key(name), Content::Map(entries)) => {
                    let entry = entries.iter().rev().find(|entry| entry.key == *name)?;
                    entry.key_written.as_deref()
                }
                _ => None,
            };
            node = node.below(step)?.0;
        }
        match spot {
            Spot::Key => key_written,
            Spot::Value => node.written.as_deref(),
        }
    }

    /// The value one step in, and where its key or itself stands.
    fn below(&self, step: &Step) -> Option<(&Node, Position)> {
        match (step, &self.content) {
            (Step::Field(name) | Step::Key(name), Content::Map(entries)) => {
                let entry = entries.iter().rev().find(|entry| entry.key == *name)?;
                Some((&entry.value, entry.key_position))
            }
            (Step::Index(index), Content::List(items)) => {
                items.get(*index).map(|item| (item, item.position))
            }
            _ => None,
        }
    }

    /// Keys written twice in one mapping: the path, the second place and the first.
    pub(crate) fn repeated_keys(&self) -> Vec<(FieldPath, Position, Position)> {
        let mut repeats = Vec::new();
        self.collect_repeats(&FieldPath::root(), &mut repeats);
        repeats
    }

    fn collect_repeats(
        &self,
        path: &FieldPath,
        repeats: &mut Vec<(FieldPath, Position, Position)>,
    ) {
        match &self.content {
            Content::List(items) => {
                for (place, item) in items.iter().enumerate() {
                    item.collect_repeats(&path.index(place), repeats);
                }
            }
            Content::Map(entries) => {
                let mut first: HashMap<&str, Position> = HashMap::with_capacity(entries.len());
                for entry in entries.iter().filter(|entry| !entry.merged) {
                    let path = path.field(&entry.key);
                    if let Some(before) = first.insert(&entry.key, entry.key_position) {
                        repeats.push((path.clone(), entry.key_position, before));
                    }
                    entry.value.collect_repeats(&path, repeats);
                }
            }
            _ => {}
        }
    }
}
