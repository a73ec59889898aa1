//! Durations: what is read, printed, refused and written back.

mod arbitrary_text;
mod recording;

use kerf_model::duration::{DurationError, GoDuration, NillableDuration};
use proptest::prelude::*;

/// Text, nanoseconds, printed text.
const READ: &[(&str, i64, &str)] = &[
    ("0", 0, "0s"),
    ("-0", 0, "0s"),
    ("0s", 0, "0s"),
    ("720h", 2_592_000_000_000_000, "720h0m0s"),
    ("1h30m", 5_400_000_000_000, "1h30m0s"),
    ("90s", 90_000_000_000, "1m30s"),
    ("1.5s", 1_500_000_000, "1.5s"),
    (".5h", 1_800_000_000_000, "30m0s"),
    ("-1m", -60_000_000_000, "-1m0s"),
    ("+5m", 300_000_000_000, "5m0s"),
    ("1ns", 1, "1ns"),
    ("1us", 1_000, "1µs"),
    ("1\u{b5}s", 1_000, "1µs"),
    ("1\u{3bc}s", 1_000, "1µs"),
    ("1500us", 1_500_000, "1.5ms"),
    ("1h1h", 7_200_000_000_000, "2h0m0s"),
    ("0.9ns", 0, "0s"),
    ("9223372036854775807ns", i64::MAX, "2562047h47m16.854775807s"),
    ("-9223372036854775808ns", i64::MIN, "-2562047h47m16.854775808s"),
];

#[test]
fn each_spelling_is_read_and_printed_as_go_does() {
    for (text, nanos, printed) in READ {
        let duration = GoDuration::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(duration.nanos(), *nanos, "{text}");
        assert_eq!(duration.to_string(), *printed, "{text}");
    }
}

#[test]
fn what_is_not_a_duration_is_refused_with_its_reason() {
    type Reason = fn(Box<str>) -> DurationError;
    let no_number: Reason = |text| DurationError::NoNumber { text };
    let missing_unit: Reason = |text| DurationError::MissingUnit { text };
    let overflow: Reason = |text| DurationError::Overflow { text };
    let unknown_day: Reason = |text| DurationError::UnknownUnit { text, unit: "d".into() };
    let stray_space: Reason = |text| DurationError::ExpectedNumber { text, rest: " 1s".into() };
    let lone_dot: Reason = |text| DurationError::ExpectedNumber { text, rest: ".s".into() };
    for (text, reason) in [
        ("", no_number),
        ("-", no_number),
        ("5", missing_unit),
        ("1h5", missing_unit),
        ("1d", unknown_day),
        (" 1s", stray_space),
        (".s", lone_dot),
        ("2562048h", overflow),
        ("9223372036854775808ns", overflow),
        ("-9223372036854775809ns", overflow),
        ("99999999999999999999999h", overflow),
    ] {
        assert_eq!(GoDuration::parse(text), Err(reason(text.into())), "{text}");
    }
}

#[test]
fn a_nillable_duration_is_written_back_byte_for_byte() {
    for text in ["720h", "1h0m0s", "60m", "3600s", "0s", "1.50h", "Never"] {
        let duration = NillableDuration::parse(text).expect("the list holds durations");
        assert_eq!(duration.to_string(), text);
    }
    for text in ["never", "NEVER", " Never", ""] {
        assert!(NillableDuration::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn never_and_absent_are_the_same() {
    assert_eq!(NillableDuration::parse("Never"), Ok(NillableDuration::default()));
    assert_eq!(NillableDuration::NEVER.duration(), None);
    assert!(NillableDuration::NEVER.is_never());
    let hour = NillableDuration::parse("60m").expect("a duration");
    assert_eq!(hour.duration(), GoDuration::from_seconds(3_600));
    assert!(!hour.is_never());
}

#[test]
fn a_computed_duration_is_written_in_go_form() {
    let hour = GoDuration::from_seconds(3_600).expect("in range");
    assert_eq!(NillableDuration::from(hour).as_str(), "1h0m0s");
}

#[test]
fn every_recorded_duration_is_read_as_the_reference_reads_it() {
    for row in recording::rows("duration", "parse") {
        let text = row["in"].as_str().expect("every row has a text");
        match GoDuration::parse(text) {
            Err(error) => assert_eq!(row["error"], true, "{text}: {error}"),
            Ok(duration) => {
                assert_eq!(duration.nanos(), row["ns"], "{text}");
                assert_eq!(duration.to_string(), row["text"], "{text}");
            }
        }
    }
}

#[test]
fn every_recorded_length_is_printed_as_the_reference_prints_it() {
    for row in recording::rows("duration", "format") {
        let nanos = row["ns"].as_i64().expect("every row has nanoseconds");
        assert_eq!(GoDuration::from_nanos(nanos).to_string(), row["text"]);
    }
}

#[test]
fn every_recorded_nillable_duration_is_read_and_written_as_the_reference_does() {
    let mut read = 0;
    for row in recording::rows("duration", "nillable") {
        let document = row["in"].as_str().expect("every row has a document");
        // Documents that are no strings are for the border that reads JSON.
        let Ok(text) = serde_json::from_str::<String>(document) else { continue };
        match NillableDuration::parse(&text) {
            Err(error) => assert_eq!(row["error"], true, "{document}: {error}"),
            Ok(duration) => {
                assert_eq!(duration.duration().map(GoDuration::nanos), row["ns"].as_i64());
                let out = row["out"].as_str().expect("what is read is written");
                let expected: String = serde_json::from_str(out).expect("a JSON string");
                assert_eq!(duration.as_str(), expected, "{document}");
            }
        }
        read += 1;
    }
    assert!(read > 10, "only {read} of the documents are strings");
}

#[test]
fn no_text_makes_the_reader_panic_and_what_it_reads_it_reads_again() {
    let tokens = [
        "+",
        "-",
        ".",
        "ns",
        "us",
        "\u{b5}s",
        "\u{3bc}s",
        "ms",
        "s",
        "m",
        "h",
        "1",
        "00",
        "0.5",
        "9223372036854775807",
        "2562047h",
        "Never",
        "n",
    ];
    arbitrary_text::for_arbitrary_texts(&tokens, |text| {
        let Ok(duration) = GoDuration::parse(text) else { return false };
        assert_eq!(GoDuration::parse(&duration.to_string()), Ok(duration));
        let nillable = NillableDuration::parse(text).expect("a duration may be nillable");
        assert_eq!(nillable.as_str(), text);
        true
    });
}

proptest! {
    #[test]
    fn what_is_printed_is_read_as_the_same_duration(nanos in any::<i64>(), shift in 0u32..63) {
        let duration = GoDuration::from_nanos(nanos >> shift);
        prop_assert_eq!(GoDuration::parse(&duration.to_string()), Ok(duration));
    }
}
