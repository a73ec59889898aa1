//! Schedules: what is read, refused, and when they come round.

mod arbitrary_text;
mod recording;

use std::collections::BTreeSet;

use kerf_model::cron::{CronError, CronField, Schedule};
use proptest::prelude::*;

/// 2024-01-01 00:00:00 UTC, a Monday.
const NEW_YEAR_2024: i64 = 1_704_067_200;
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

fn schedule(text: &str) -> Schedule {
    Schedule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Schedule and its first hits after the start of 2024, counted from there.
const HITS: &[(&str, &[i64])] = &[
    ("* * * * *", &[MINUTE, 2 * MINUTE]),
    ("@hourly", &[HOUR, 2 * HOUR]),
    ("@daily", &[DAY, 2 * DAY]),
    ("@midnight", &[DAY, 2 * DAY]),
    ("@weekly", &[6 * DAY, 13 * DAY]),
    ("@monthly", &[31 * DAY, 60 * DAY]),
    ("@yearly", &[366 * DAY, 731 * DAY]),
    ("@annually", &[366 * DAY, 731 * DAY]),
    ("@every 90s", &[90, 180]),
    ("  @daily\t", &[DAY]),
    ("0 9 * * 1-5", &[9 * HOUR, DAY + 9 * HOUR]),
    ("0 9 * * mon-FRI", &[9 * HOUR, DAY + 9 * HOUR]),
    ("30 2 ? JAN Sun", &[6 * DAY + 2 * HOUR + 30 * MINUTE]),
    ("5/20 0 * * *", &[5 * MINUTE, 25 * MINUTE, 45 * MINUTE, DAY + 5 * MINUTE]),
    ("1-10/4,59 0 1 1 *", &[MINUTE, 5 * MINUTE, 9 * MINUTE, 59 * MINUTE]),
    // Both days restricted: either counts. The 3rd is a Wednesday, the 5th a Friday.
    ("0 0 3 * FRI", &[2 * DAY, 4 * DAY, 11 * DAY]),
    // A star in one of them, also with step one or inside a list: both must match.
    ("0 0 */1 * FRI", &[4 * DAY, 11 * DAY]),
    ("0 0 3,* * FRI", &[4 * DAY, 11 * DAY]),
    // Two and more steps are a restriction: odd days or Fridays.
    ("0 0 */2 * FRI", &[2 * DAY, 4 * DAY, 6 * DAY]),
    ("0 0 29 2 *", &[59 * DAY, (59 + 1461) * DAY]),
];

#[test]
fn schedules_come_round_when_they_say() {
    for (text, hits) in HITS {
        let schedule = schedule(text);
        let mut now = NEW_YEAR_2024;
        for hit in *hits {
            now = schedule.next_after(now).unwrap_or_else(|| panic!("{text} ends early"));
            assert_eq!(now - NEW_YEAR_2024, *hit, "{text}");
        }
    }
}

#[test]
fn dates_that_do_not_come_within_five_years_are_not_found() {
    for text in ["0 0 30 2 *", "0 0 31 4,6,9,11 *", ", * * * *", "* , * * *", "* * , , *"] {
        assert_eq!(schedule(text).next_after(NEW_YEAR_2024), None, "{text}");
    }
    // From 2097 on the next leap day is in 2104.
    assert_eq!(schedule("0 0 29 2 *").next_after(4_007_491_200), None);
    assert_eq!(schedule("* * * * *").next_after(i64::MAX), None);
    assert!(schedule("* * * * *").next_after(i64::MIN).is_some());
}

#[test]
fn mistakes_are_named_with_the_field_and_what_is_allowed() {
    for (text, message) in [
        (
            "",
            "schedule \"\" has 0 fields; expected 5 (minute, hour, day of month, month, \
             day of week) or a macro such as @daily",
        ),
        ("60 * * * *", "minute \"60\": 60 is out of range; allowed are 0-59"),
        ("* 24 * * *", "hour \"24\": 24 is out of range; allowed are 0-23"),
        ("* * 0 * *", "day of month \"0\": 0 is out of range; allowed are 1-31"),
        ("* * * 1-13 *", "month \"1-13\": 13 is out of range; allowed are 1-12 or JAN-DEC"),
        (
            "* * * * 7",
            "day of week \"7\": 7 is out of range; allowed are 0-6 or SUN-SAT, where Sunday is 0",
        ),
        ("* * * * FRI-MON", "day of week \"FRI-MON\": the range starts at 5, after its end 1"),
        ("1-2-3 * * * *", "minute \"1-2-3\" has too many hyphens; write a range as low-high"),
        ("1/2/3 * * * *", "minute \"1/2/3\" has too many slashes; write a step as range/step"),
        ("*/0 * * * *", "minute \"*/0\": the step must be 1 or more"),
        ("*/-5 * * * *", "minute \"*/-5\": \"-5\" is not a number; allowed are 0-59"),
        ("1,x * * * *", "minute \"x\": \"x\" is not a number; allowed are 0-59"),
        (
            "@noon",
            "schedule \"@noon\" is not a known macro; expected @yearly, @annually, \
             @monthly, @weekly, @daily, @midnight, @hourly or @every \
             followed by a duration",
        ),
        (
            "@every 1d",
            "schedule @every needs a duration: duration \"1d\" uses \"d\", which \
             is not a unit; expected ns, us, ms, s, m or h",
        ),
    ] {
        let error = Schedule::parse(text).expect_err(text);
        assert_eq!(error.to_string(), message);
    }
    let error = Schedule::parse("TZ=UTC 0 0 * * *").expect_err("a time zone is a sixth field");
    assert!(matches!(error, CronError::FieldCount { found: 6, .. }));
    let error = Schedule::parse("* * * * mon,8").expect_err("eight days");
    assert!(matches!(error, CronError::OutOfRange { field: CronField::DayOfWeek, value: 8, .. }));
}

#[test]
fn a_schedule_is_printed_as_it_was_written() {
    for text in ["0 9 * * MON-FRI", " @daily ", "00  09 * * *"] {
        assert_eq!(schedule(text).to_string(), text);
    }
}

#[test]
fn every_recorded_schedule_comes_round_as_in_the_reference() {
    let instants: Vec<i64> = recording::rows("cron", "instants")
        .iter()
        .map(|instant| instant.as_i64().expect("an instant is a number"))
        .collect();
    for row in recording::rows("cron", "schedules") {
        let text = row["in"].as_str().expect("every row has a text");
        match Schedule::parse(text) {
            Err(error) => assert_eq!(row["error"], true, "{text}: {error}"),
            Ok(schedule) => {
                let hits = row["next"].as_array().unwrap_or_else(|| panic!("{text} is refused"));
                assert_eq!(hits.len(), instants.len(), "{text}");
                for (instant, hit) in instants.iter().zip(hits) {
                    assert_eq!(schedule.next_after(*instant), hit.as_i64(), "{text} at {instant}");
                }
            }
        }
    }
}

#[test]
fn no_text_makes_the_reader_or_the_search_panic() {
    let tokens = [
        " * ",
        " ? ",
        " * * ",
        " * * * ",
        " * * * ",
        " */2 ",
        " 9 ",
        " 1-5 ",
        " 1-5/2 ",
        " 1,2 ",
        ",",
        "-",
        "/",
        "\t",
        " MON ",
        " jan ",
        " mon-FRI ",
        "@daily",
        "@every 1h",
        " 31 2 ",
        " 59 23 ",
        "99999999999999999999",
    ];
    arbitrary_text::for_arbitrary_texts(&tokens, |text| {
        let Ok(schedule) = Schedule::parse(text) else { return false };
        for start in [i64::MIN, NEW_YEAR_2024, i64::MAX] {
            assert!(schedule.next_after(start).is_none_or(|hit| hit > start));
        }
        true
    });
}

/// One field: the values it allows, or everything by a star.
#[derive(Clone, Debug)]
struct FieldValues {
    values: BTreeSet<i64>,
    star: bool,
}

fn field(min: i64, max: i64) -> impl Strategy<Value = FieldValues> {
    let star = Just(FieldValues { values: (min..=max).collect(), star: true });
    let some = prop::collection::btree_set(min..=max, 1..6)
        .prop_map(|values| FieldValues { values, star: false });
    prop_oneof![star, some]
}

impl FieldValues {
    fn text(&self) -> String {
        let list: Vec<String> = self.values.iter().map(i64::to_string).collect();
        if self.star { "*".to_owned() } else { list.join(",") }
    }

    fn has(&self, value: i64) -> bool {
        self.values.contains(&value)
    }
}

/// Month and day of a day number, by counting from 1 March of year 0: another way than the code's.
fn month_and_day(day_number: i64) -> (i64, i64) {
    let from_march = day_number + 719_468;
    let day_of_era = from_march.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    (if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 }, day)
}

fn matches(fields: &[FieldValues; 5], moment: i64) -> bool {
    let [minute, hour, day_of_month, month, day_of_week] = fields;
    let (month_now, day_now) = month_and_day(moment.div_euclid(DAY));
    let weekday_now = (moment.div_euclid(DAY) + 4).rem_euclid(7);
    let days = [day_of_month.has(day_now), day_of_week.has(weekday_now)];
    let day_matches = match day_of_month.star || day_of_week.star {
        true => days[0] && days[1],
        false => days[0] || days[1],
    };
    day_matches
        && month.has(month_now)
        && hour.has(moment.rem_euclid(DAY) / HOUR)
        && minute.has(moment.rem_euclid(HOUR) / MINUTE)
        && moment.rem_euclid(MINUTE) == 0
}

proptest! {
    #[test]
    fn hits_rise_match_their_fields_and_skip_no_match(
        minute in field(0, 59),
        hour in field(0, 23),
        day_of_month in field(1, 31),
        month in field(1, 12),
        day_of_week in field(0, 6),
        start in 0..4_000_000_000i64,
    ) {
        let fields = [minute, hour, day_of_month, month, day_of_week];
        let schedule = schedule(&fields.each_ref().map(FieldValues::text).join(" "));
        let mut now = start;
        for _ in 0..5 {
            let Some(hit) = schedule.next_after(now) else { break };
            prop_assert!(hit > now);
            prop_assert!(matches(&fields, hit));
            // Every minute in between, as far as forty days go.
            let first_minute = now - now.rem_euclid(MINUTE) + MINUTE;
            let end = hit.min(now + 40 * DAY);
            let skipped = (first_minute..end).step_by(60).find(|moment| matches(&fields, *moment));
            prop_assert_eq!(skipped, None);
            now = hit;
        }
    }
}
