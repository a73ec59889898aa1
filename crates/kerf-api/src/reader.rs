//! Reading fields into the model, collecting what cannot be understood.

use std::fmt::Display;
use std::str::FromStr;

use k8s_openapi::api::core::v1 as core;
use kerf_model::taint::{Taint, TaintEffect};

use crate::field_error::FieldError;

/// Reads the fields of one object. What a method cannot read it notes, and answers `None`.
#[derive(Debug, Default)]
pub struct Reader {
    problems: Vec<FieldError>,
}

impl Reader {
    /// The object, unless something of it could not be read.
    ///
    /// # Errors
    /// What was noted.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Vec<FieldError>> {
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => Err(self.problems),
        }
    }

    /// Notes a problem.
    pub fn refuse(&mut self, field: impl Into<String>, message: impl Display) {
        self.problems.push(FieldError::new(field, message));
    }

    /// A field whose text has a grammar.
    pub fn parse<T: FromStr<Err: Display>>(&mut self, field: &str, text: &str) -> Option<T> {
        text.parse().map_err(|error| self.refuse(field, error)).ok()
    }

    /// Taints, in their order; absent means none.
    pub fn taints(&mut self, field: &str, list: Option<&Vec<core::Taint>>) -> Option<Vec<Taint>> {
        let entries = list.into_iter().flatten().enumerate().map(|(index, taint)| {
            let effect: TaintEffect =
                self.parse(&format!("{field}[{index}].effect"), &taint.effect)?;
            Some(Taint::new(&taint.key, taint.value.as_deref().unwrap_or_default(), effect))
        });
        all(entries)
    }
}

/// Everything, or nothing when one is missing. Looks at every entry, so that every problem is noted.
pub fn all<T, C: FromIterator<T>>(entries: impl Iterator<Item = Option<T>>) -> Option<C> {
    let entries: Vec<Option<T>> = entries.collect();
    entries.into_iter().collect()
}
