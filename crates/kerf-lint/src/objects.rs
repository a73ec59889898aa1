//! The objects of manifests, read as the linter reads them, for whoever wants more than a verdict.

use serde_json::Value;

use crate::document::{Document, unpacked};
use crate::field_path::FieldPath;
use crate::input::Input;
use crate::report::{Finding, Unreadable};
use crate::violation::Spot;
use crate::yaml::tree::Node;
use crate::yaml::{Position, split};

/// What manifests hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Objects {
    /// Every object in the order of the input, those of lists one by one.
    pub objects: Vec<Object>,
    /// What is not YAML as kubectl reads it. Other documents of the same file are still read.
    pub findings: Vec<Finding>,
    /// Input that could not be read at all.
    pub unreadable: Vec<Unreadable>,
}

/// An object and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The file as the user named it; `-` is standard input.
    pub file: String,
    /// Which document of the file, from one.
    pub document: usize,
    /// Where in the file the object starts.
    pub position: Position,
    /// The object. Of keys that are given twice the last holds.
    pub value: Value,
    /// Paths of keys that are given twice, which kubectl refuses.
    pub repeated_keys: Vec<FieldPath>,
}

/// Reads every document of every input.
pub fn objects(inputs: &[Input]) -> Objects {
    let mut read = Objects::default();
    for input in inputs {
        match input.text() {
            Err(unreadable) => read.unreadable.push(unreadable),
            Ok(text) => {
                for (place, chunk) in split::split(text).iter().enumerate() {
                    let number = place + 1;
                    let mut document = Document::new(&input.name, number);
                    if let Ok(Some(node)) = document.read(chunk) {
                        read.objects.extend(objects_of(&input.name, number, &node));
                    }
                    read.findings.append(&mut document.findings);
                }
            }
        }
    }
    read
}

fn objects_of(file: &str, document: usize, node: &Node) -> Vec<Object> {
    let value = node.to_json();
    let repeated = node.repeated_keys();
    let object = |(prefix, value): (FieldPath, std::borrow::Cow<'_, Value>)| Object {
        file: file.to_owned(),
        document,
        position: node.place_of(&prefix, Spot::Value),
        value: value.into_owned(),
        repeated_keys: repeated.iter().filter_map(|(path, ..)| path.below(&prefix)).collect(),
    };
    unpacked(&value).into_iter().map(object).collect()
}
