//! Templates as Go's `text/template` has them, as far as webhooks need it: fields, pipelines,
//! variables, `if`, `range`, `with`, comparisons, and the common functions of Sprig.
//!
//! ```text
//!  text ──parse──► nodes ──render(data)──► text
//! ```
//!
//! A template comes from a settings file and may be wrong or hostile. **Whatever it says, rendering
//! ends**: steps and output are counted and bounded, and there is no recursion and no way to read
//! anything but the data.

mod eval;
mod functions;
mod lexer;
mod parser;
mod printf;
mod value;

use thiserror::Error;

pub(crate) use value::Value;

/// The longest template that is read.
const TEMPLATE_BYTES_MAX: usize = 256 * 1024;

/// A template that can be rendered.
#[derive(Clone, Debug)]
pub(crate) struct Template(Vec<parser::Node>);

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum TemplateError {
    /// It cannot be read.
    #[error("line {line}: {why}")]
    Unreadable {
        /// The line it happened in.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// It can be read, and does not fit the data.
    #[error("{0}")]
    Unfit(String),
    /// It goes on for too long.
    #[error("it takes too many steps, or writes too much")]
    Endless,
}

impl Template {
    /// Reads a template.
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(TemplateError::Endless);
        }
        parser::parse(&lexer::tokens(text)?).map(Self)
    }

    /// The text it becomes with this data.
    pub(crate) fn render(&self, data: &Value) -> Result<String, TemplateError> {
        eval::render(&self.0, data)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
