//! The report as text for people and as JSON for programs.

mod json;
mod text;

pub use json::to_json;
pub use text::{Colour, printable, to_text};
