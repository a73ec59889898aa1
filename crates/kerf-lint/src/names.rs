//! The forms of names in Kubernetes. Each answers with the reason a text is not of the form.

/// Longest DNS label, and longest name part of a qualified name.
const LABEL_BYTES_MAX: usize = 63;
/// Longest DNS subdomain.
const SUBDOMAIN_BYTES_MAX: usize = 253;

/// A DNS-1123 label: `my-name`.
pub(crate) fn label(text: &str) -> Result<(), String> {
    not_longer(text, LABEL_BYTES_MAX)?;
    if is_label(text) { Ok(()) } else { Err(DNS_LETTERS.replace(" and dots", "")) }
}

/// A DNS-1123 subdomain: `my-name.example`.
pub(crate) fn subdomain(text: &str) -> Result<(), String> {
    not_longer(text, SUBDOMAIN_BYTES_MAX)?;
    if text.split('.').all(is_label) { Ok(()) } else { Err(DNS_LETTERS.to_owned()) }
}

/// A subdomain to which letters will be appended, so it may end in a dash.
pub(crate) fn subdomain_prefix(text: &str) -> Result<(), String> {
    match text.strip_suffix('-') {
        Some(stem) if !stem.is_empty() => subdomain(&format!("{stem}a")),
        _ => subdomain(text),
    }
}

/// A qualified name: `name` or `example.com/name`.
pub(crate) fn qualified(text: &str) -> Result<(), String> {
    let name = match text.split_once('/') {
        None => text,
        Some(("", _)) => return Err("the part before the slash is empty".to_owned()),
        Some((prefix, name)) => {
            subdomain(prefix).map_err(|reason| format!("the part before the slash: {reason}"))?;
            name
        }
    };
    if name.is_empty() {
        return Err("the name is empty".to_owned());
    }
    not_longer(name, LABEL_BYTES_MAX)?;
    if is_label_text(name) { Ok(()) } else { Err(LABEL_LETTERS.to_owned()) }
}

/// The value of a label; it may be empty.
pub(crate) fn label_value(text: &str) -> Result<(), String> {
    not_longer(text, LABEL_BYTES_MAX)?;
    let fits = text.is_empty() || is_label_text(text);
    if fits { Ok(()) } else { Err(LABEL_LETTERS.to_owned()) }
}

const DNS_LETTERS: &str =
    "use lower-case letters, digits, dashes and dots, with a letter or digit at both ends";
const LABEL_LETTERS: &str =
    "use letters, digits, dashes, underscores and dots, with a letter or digit at both ends";

fn not_longer(text: &str, bytes_max: usize) -> Result<(), String> {
    if text.len() <= bytes_max {
        return Ok(());
    }
    Err(format!("it is {} bytes long; at most {bytes_max} are allowed", text.len()))
}

fn is_label(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().all(|byte| allowed(byte) || byte == b'-') && has_ends(text, allowed)
}

fn is_label_text(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.bytes().all(inside) && has_ends(text, |byte| byte.is_ascii_alphanumeric())
}

fn has_ends(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| allowed(*byte))
        && bytes.last().is_some_and(|byte| allowed(*byte))
}
