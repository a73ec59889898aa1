//! What Kubernetes accepts as a label key and as a label value. Lengths are bytes.

use thiserror::Error;

/// Longest name part and longest label value, from the Kubernetes API conventions.
pub const NAME_BYTES_MAX: usize = 63;
/// Longest prefix, the limit of a DNS name.
pub const PREFIX_BYTES_MAX: usize = 253;

/// What is wrong with a key or value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum NameProblem {
    /// Nothing before the `/`.
    #[error(
        "the part before \"/\" is empty; give a domain such as \"example.com\" or drop the \"/\""
    )]
    PrefixEmpty,
    /// The prefix is longer than a DNS name can be.
    #[error("the part before \"/\" is {bytes} bytes long; {PREFIX_BYTES_MAX} is the most")]
    PrefixTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The prefix is not a DNS name.
    #[error(
        "the part before \"/\" must be a DNS name: lower case letters, digits and \"-\" in parts \
         joined by \".\", each part starting and ending with a letter or digit"
    )]
    PrefixNotDns,
    /// More than one `/`.
    #[error("a key has at most one \"/\"")]
    ManySlashes,
    /// Nothing after the `/`, or an empty key.
    #[error("the name part is empty")]
    NameEmpty,
    /// The name or value is too long.
    #[error("it is {bytes} bytes long; {NAME_BYTES_MAX} is the most")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The name or value holds a character it may not, or starts or ends badly.
    #[error(
        "only letters, digits, \"-\", \"_\" and \".\" are allowed, \
         and it must start and end with a letter or digit"
    )]
    Characters,
}

/// Checks a label key: `name` or `prefix/name`.
///
/// # Errors
/// Reports the first rule that is broken, the prefix before the name.
pub fn check_qualified_name(key: &str) -> Result<(), NameProblem> {
    let name = match key.split_once('/') {
        None => key,
        Some((_, name)) if name.contains('/') => return Err(NameProblem::ManySlashes),
        Some((prefix, name)) => {
            check_prefix(prefix)?;
            name
        }
    };
    if name.is_empty() { Err(NameProblem::NameEmpty) } else { check_name(name) }
}

/// Checks a label value, which unlike a name may be empty.
///
/// # Errors
/// Reports the first rule that is broken.
pub fn check_label_value(value: &str) -> Result<(), NameProblem> {
    if value.is_empty() { Ok(()) } else { check_name(value) }
}

/// Checks a DNS name as it stands before the `/` of a key.
///
/// # Errors
/// Reports the first rule that is broken.
pub fn check_prefix(prefix: &str) -> Result<(), NameProblem> {
    if prefix.is_empty() {
        return Err(NameProblem::PrefixEmpty);
    }
    if prefix.len() > PREFIX_BYTES_MAX {
        return Err(NameProblem::PrefixTooLong { bytes: prefix.len() });
    }
    if prefix.split('.').all(is_dns_part) { Ok(()) } else { Err(NameProblem::PrefixNotDns) }
}

fn check_name(name: &str) -> Result<(), NameProblem> {
    if name.len() > NAME_BYTES_MAX {
        return Err(NameProblem::TooLong { bytes: name.len() });
    }
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if edges(name, |byte| byte.is_ascii_alphanumeric()) && name.bytes().all(inner) {
        Ok(())
    } else {
        Err(NameProblem::Characters)
    }
}

fn is_dns_part(part: &str) -> bool {
    let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    edges(part, lower) && part.bytes().all(|byte| lower(byte) || byte == b'-')
}

fn edges(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| allowed(*byte))
        && bytes.last().is_some_and(|byte| allowed(*byte))
}
