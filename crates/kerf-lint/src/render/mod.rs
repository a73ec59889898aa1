//! The report as text for people, as JSON for programs, and as what code hosts show beside lines.

mod github;
mod json;
mod sarif;
mod text;

pub use github::to_github;
pub use json::to_json;
pub use sarif::to_sarif;
pub use text::{Colour, printable, to_text};
