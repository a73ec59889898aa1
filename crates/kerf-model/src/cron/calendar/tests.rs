use super::Date;

/// Day number, date and weekday of days whose place in the calendar is easy to check.
const DAYS: &[(i64, (i64, u32, u32), u32)] = &[
    (-719_162, (1, 1, 1), 1),
    (-1, (1969, 12, 31), 3),
    (0, (1970, 1, 1), 4),
    (58, (1970, 2, 28), 6),
    (59, (1970, 3, 1), 0),
    (10_957, (2000, 1, 1), 6),
    (11_016, (2000, 2, 29), 2),
    (19_782, (2024, 2, 29), 4),
    (47_540, (2100, 2, 28), 0),
    (47_541, (2100, 3, 1), 1),
];

#[test]
fn known_days_have_their_known_dates_and_weekdays() {
    for (day_number, (year, month, day), weekday) in DAYS {
        let date = Date::of_day(*day_number);
        assert_eq!((date.year, date.month, date.day), (*year, *month, *day), "day {day_number}");
        assert_eq!(date.weekday(), *weekday, "day {day_number}");
    }
}

#[test]
fn walking_day_by_day_agrees_with_computing_each_date_over_two_cycles() {
    let mut date = Date::of_day(-150_000);
    for day_number in -150_000..150_000 {
        assert_eq!(date, Date::of_day(day_number));
        assert_eq!(date.first_of_next_month(), Date::of_day(date.first_of_next_month().day_number));
        date = date.next_day();
    }
}
