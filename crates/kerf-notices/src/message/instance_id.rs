//! The id of an EC2 instance.

use std::fmt;
use std::str::FromStr;

/// `i-` and 8 or 17 lower-case hexadecimal digits, kept as a number: small, `Copy`, always valid.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId {
    digits: u8,
    // Seventeen digits are 68 bits, so the first digit of a long id lives apart.
    high: u8,
    low: u64,
}

const SHORT: usize = 8;
const LONG: usize = 17;

/// The text is not an instance id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an instance id is \"i-\" and 8 or 17 hexadecimal digits in lower case")]
pub struct NotAnInstanceId;

impl FromStr for InstanceId {
    type Err = NotAnInstanceId;

    fn from_str(text: &str) -> Result<Self, NotAnInstanceId> {
        let digits = text.as_bytes().strip_prefix(b"i-").ok_or(NotAnInstanceId)?;
        let (high, rest) = match digits.len() {
            SHORT => (0, digits),
            LONG => (nibble(digits[0])?, &digits[1..]),
            _ => return Err(NotAnInstanceId),
        };
        let mut low = 0;
        for digit in rest {
            low = low << 4 | u64::from(nibble(*digit)?);
        }
        // At most 17, which a byte holds.
        Ok(Self { digits: digits.len() as u8, high, low })
    }
}

impl InstanceId {
    /// The id in a bare id or in an ARN such as `arn:aws:ec2:eu-west-1:111122223333:instance/i-…`.
    pub fn from_resource(text: &str) -> Option<Self> {
        let bare = match text.rsplit_once(":instance/") {
            Some((arn, id)) if arn.starts_with("arn:") => id,
            _ => text,
        };
        bare.parse().ok()
    }
}

fn nibble(digit: u8) -> Result<u8, NotAnInstanceId> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(NotAnInstanceId),
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match usize::from(self.digits) {
            SHORT => write!(f, "i-{:08x}", self.low),
            _ => write!(f, "i-{:x}{:016x}", self.high, self.low),
        }
    }
}

impl fmt::Debug for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
