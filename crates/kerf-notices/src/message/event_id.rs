//! The id that an event's sender gave it.

use std::fmt::{self, Write as _};
use std::sync::Arc;

/// An event's id; the same on every redelivery. EventBridge writes UUIDs, which are kept as two
/// numbers: cheap to copy, to compare and to remember. Any other text is kept as it is.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EventId(Form);

/// A text has exactly one form, so equal texts are equal ids and no others are.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Form {
    /// The text of a UUID in its usual form: lower case, hyphens after 8, 12, 16 and 20 digits.
    Uuid(u64, u64),
    Text(Arc<str>),
}

/// The length of a UUID's text, and where its hyphens are.
const UUID_BYTES: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// The value of each byte as a digit; anything that is none has a bit no digit has.
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value] as usize] = value as u8;
        value += 1;
    }
    digits
};
const NO_DIGIT: u8 = 0x80;

impl EventId {
    /// The id written this way.
    pub fn new(text: &str) -> Self {
        Self::from_uuid(text).unwrap_or_else(|| Self(Form::Text(text.into())))
    }

    /// The id written this way, if that is the usual form of a UUID.
    pub(super) fn from_uuid(text: &str) -> Option<Self> {
        let bytes: &[u8; UUID_BYTES] = text.as_bytes().try_into().ok()?;
        if HYPHENS.iter().any(|place| bytes[*place] != b'-') {
            return None;
        }
        let (a, b, c) = (number(&bytes[..8])?, number(&bytes[9..13])?, number(&bytes[14..18])?);
        let (d, e) = (number(&bytes[19..23])?, number(&bytes[24..])?);
        Some(Self(Form::Uuid(a << 32 | b << 16 | c, d << 48 | e)))
    }

    /// How many bytes its text has.
    pub fn text_bytes(&self) -> usize {
        match &self.0 {
            Form::Uuid(..) => UUID_BYTES,
            Form::Text(text) => text.len(),
        }
    }
}

/// At most sixteen digits as a number.
fn number(digits: &[u8]) -> Option<u64> {
    let (mut value, mut all) = (0, 0);
    for byte in digits {
        let digit = DIGITS[usize::from(*byte)];
        value = value << 4 | u64::from(digit);
        all |= digit;
    }
    (all & NO_DIGIT == 0).then_some(value)
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Text(text) => f.write_str(text),
            Form::Uuid(high, low) => {
                write!(f, "{:08x}-{:04x}-", high >> 32, high >> 16 & 0xffff)?;
                write!(f, "{:04x}-{:04x}-", high & 0xffff, low >> 48)?;
                write!(f, "{:012x}", low & 0xffff_ffff_ffff)
            }
        }
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        fmt::Display::fmt(self, f)?;
        f.write_char('"')
    }
}
