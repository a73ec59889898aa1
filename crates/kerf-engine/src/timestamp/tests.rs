//! Moments are written and read back the way Kubernetes does.

use proptest::prelude::*;

use super::{parse_rfc3339, rfc3339};
use crate::time::Time;

#[test]
fn known_moments_are_written_in_utc() {
    for (seconds, text) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_735_689_599, "2024-12-31T23:59:59Z"),
        (-1, "1969-12-31T23:59:59Z"),
    ] {
        assert_eq!(rfc3339(Time::from_seconds(seconds)), text);
    }
}

#[test]
fn fractions_and_offsets_are_read() {
    for (text, seconds) in [
        ("1970-01-01T00:00:01Z", Some(1)),
        ("1970-01-01T01:00:01+01:00", Some(1)),
        ("1969-12-31T22:30:01-01:30", Some(1)),
        ("1970-01-01T00:00:01.999Z", Some(1)),
        ("1970-01-01", None),
        ("1970-02-30T00:00:00Z", None),
        ("1970-13-01T00:00:00Z", None),
        ("1970-01-01T24:00:00Z", None),
        ("1970-01-01T00:00:00", None),
        ("tomorrow", None),
        ("", None),
    ] {
        assert_eq!(parse_rfc3339(text), seconds.map(Time::from_seconds), "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(seconds in 0i64..250_000_000_000) {
        let time = Time::from_seconds(seconds);
        prop_assert_eq!(parse_rfc3339(&rfc3339(time)), Some(time));
    }

    #[test]
    fn no_text_breaks_it(text in ".{0,40}") {
        let _ = parse_rfc3339(&text);
    }
}
