//! Scalars as kubectl resolves them: YAML 1.1 words for true, false and null, then numbers.

use serde_json::Number;

use super::number::{self, Numeric};

/// A resolved scalar.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text.
    Text(String),
}

/// Why a scalar cannot be carried in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScalarError {
    /// `.nan` or `.inf`.
    NotFinite,
    /// A tag such as `!!int` on text that is none.
    TagMismatch(String),
}

/// Resolves text that was not quoted, or carried a `!!` tag.
pub(super) fn resolve(text: &str, tag: Option<&str>) -> Result<Scalar, ScalarError> {
    let scalar = match tag {
        Some("str") => return Ok(Scalar::Text(text.to_owned())),
        Some(other) if !matches!(other, "bool" | "int" | "float" | "null" | "timestamp") => {
            return Ok(Scalar::Text(text.to_owned()));
        }
        _ => plain(text)?,
    };
    let fits = match tag {
        Some("bool") => matches!(scalar, Scalar::Bool(_)),
        Some("int" | "float") => matches!(scalar, Scalar::Number(_)),
        Some("null") => scalar == Scalar::Null,
        _ => true,
    };
    if fits {
        Ok(scalar)
    } else {
        Err(ScalarError::TagMismatch(tag.unwrap_or_default().to_owned()))
    }
}

fn plain(text: &str) -> Result<Scalar, ScalarError> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Scalar::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Scalar::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Scalar::Bool(false));
        }
        _ => {}
    }
    match number::read(text) {
        Numeric::Finite(number) => Ok(Scalar::Number(number)),
        Numeric::NotFinite => Err(ScalarError::NotFinite),
        Numeric::Text => Ok(Scalar::Text(text.to_owned())),
    }
}

/// A key as the text JSON needs; a null cannot be a key.
pub(super) fn key_text(scalar: Scalar) -> Option<String> {
    match scalar {
        Scalar::Null => None,
        Scalar::Bool(flag) => Some(flag.to_string()),
        Scalar::Number(number) => Some(number.to_string()),
        Scalar::Text(text) => Some(text),
    }
}
