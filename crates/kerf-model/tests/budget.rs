//! Budgets: how many nodes may be disturbed, when and why.

mod arbitrary_text;
mod recording;

use kerf_model::budget::{
    Allowed, Budget, BudgetError, BudgetList, BudgetNodes, BudgetText, DisruptionReason, ReasonSet,
};
use proptest::prelude::*;
use serde_json::Value;

use DisruptionReason::{Drifted, Empty, Underutilized};

/// Tuesday 2024-01-02 12:00 UTC.
const TUESDAY_NOON: i64 = 1_704_196_800;
const HOUR: i64 = 3_600;

const TEN_PERCENT: BudgetText<'static> =
    BudgetText { nodes: "10%", reasons: None, schedule: None, duration: None };
const OFFICE_HOURS: BudgetText<'static> =
    BudgetText { nodes: "0", reasons: None, schedule: Some("0 9 * * 1-5"), duration: Some("8h") };
const FIVE_IF_EMPTY: BudgetText<'static> =
    BudgetText { nodes: "5", reasons: Some(&["Empty"]), schedule: None, duration: None };

#[test]
fn ten_percent_of_nineteen_is_two_and_one_more_when_one_is_not_ready() {
    let budgets = BudgetList::parse([TEN_PERCENT]);
    let allowed = budgets.allowed(19, Underutilized, TUESDAY_NOON);
    assert_eq!(allowed, Allowed::AtMost(2));
    assert_eq!(allowed.less(1), Allowed::AtMost(1));
    assert_eq!(allowed.less(3), Allowed::AtMost(0));
}

#[test]
fn a_window_closes_the_pool_in_office_hours_only() {
    let budgets = BudgetList::parse([TEN_PERCENT, OFFICE_HOURS]);
    for (hour, allowed) in [(8, 2), (9, 0), (12, 0), (16, 0), (17, 2), (18, 2)] {
        let now = TUESDAY_NOON + (hour - 12) * HOUR;
        assert_eq!(budgets.allowed(19, Drifted, now), Allowed::AtMost(allowed), "{hour}:00");
    }
    let saturday_noon = TUESDAY_NOON + 4 * 24 * HOUR;
    assert_eq!(budgets.allowed(19, Drifted, saturday_noon), Allowed::AtMost(2));
}

#[test]
fn a_wider_budget_for_one_reason_changes_nothing() {
    let budgets = BudgetList::parse([TEN_PERCENT, FIVE_IF_EMPTY]);
    for reason in DisruptionReason::ALL {
        assert_eq!(budgets.allowed(19, reason, TUESDAY_NOON), Allowed::AtMost(2), "{reason}");
    }
}

#[test]
fn a_budget_counts_for_its_reasons_only_and_for_none_when_the_list_is_empty() {
    let only_empty = BudgetList::parse([FIVE_IF_EMPTY]);
    assert_eq!(only_empty.allowed(19, Empty, TUESDAY_NOON), Allowed::AtMost(5));
    assert_eq!(only_empty.allowed(19, Drifted, TUESDAY_NOON), Allowed::Unlimited);
    let for_nothing = BudgetText { nodes: "0", reasons: Some(&[]), ..BudgetText::default() };
    let for_nothing = BudgetList::parse([for_nothing]);
    for reason in DisruptionReason::ALL {
        assert_eq!(for_nothing.allowed(19, reason, TUESDAY_NOON), Allowed::Unlimited);
    }
}

#[test]
fn without_budgets_there_is_no_limit() {
    let allowed = BudgetList::default().allowed(19, Empty, TUESDAY_NOON);
    assert_eq!(allowed, Allowed::Unlimited);
    assert_eq!(allowed.less(7), Allowed::Unlimited);
    assert!(allowed.admits(u32::MAX) && !allowed.is_none());
    assert!(Allowed::AtMost(2).admits(2) && !Allowed::AtMost(2).admits(3));
}

#[test]
fn one_unreadable_budget_stops_its_pool_for_every_reason() {
    let broken = BudgetText { schedule: Some("0 25 * * *"), duration: Some("1h"), ..FIVE_IF_EMPTY };
    let budgets = BudgetList::parse([TEN_PERCENT, broken]);
    assert_eq!(budgets.unreadable().len(), 1);
    assert_eq!(budgets.budgets().len(), 1);
    for reason in DisruptionReason::ALL {
        assert!(budgets.allowed(19, reason, TUESDAY_NOON).is_none());
    }
}

#[test]
fn a_window_that_never_opens_counts_as_open() {
    let never = BudgetText { schedule: Some("0 0 30 2 *"), ..OFFICE_HOURS };
    let budgets = BudgetList::parse([never]);
    assert_eq!(budgets.allowed(19, Empty, TUESDAY_NOON), Allowed::AtMost(0));
}

#[test]
fn schedule_and_duration_come_together_or_not_at_all() {
    let lone_schedule = BudgetText { duration: None, ..OFFICE_HOURS };
    assert_eq!(
        Budget::parse(lone_schedule),
        Err(BudgetError::ScheduleWithoutDuration { schedule: "0 9 * * 1-5".into() })
    );
    let lone_duration = BudgetText { schedule: None, ..OFFICE_HOURS };
    assert_eq!(
        Budget::parse(lone_duration),
        Err(BudgetError::DurationWithoutSchedule { duration: "8h".into() })
    );
}

#[test]
fn nodes_are_a_count_or_at_most_a_hundred_percent() {
    for (text, of_forty) in [
        ("0", 0),
        ("5", 5),
        ("007", 7),
        ("0%", 0),
        ("1%", 1),
        ("07%", 3),
        ("99%", 40),
        ("100%", 40),
    ] {
        let nodes = BudgetNodes::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(nodes.of(40), of_forty, "{text}");
    }
    assert_eq!(BudgetNodes::parse("99999999999"), Ok(BudgetNodes::Count(u32::MAX)));
    for text in
        ["", "%", "101%", "150%", "007%", "010%", "-1", "+3", " 5", "5 %", "1.5", "abc", "٣"]
    {
        let error = BudgetError::Nodes { text: text.into() };
        assert_eq!(BudgetNodes::parse(text), Err(error), "{text}");
    }
    let unknown = BudgetText { reasons: Some(&["empty"]), ..TEN_PERCENT };
    assert_eq!(Budget::parse(unknown), Err(BudgetError::Reason { name: "empty".into() }));
}

#[test]
fn every_recorded_budget_list_allows_what_the_reference_allows() {
    const REFERENCE_UNLIMITED: i64 = i32::MAX as i64;
    let mut compared = 0;
    let mut refused_at_admission = 0;
    for row in recording::rows("budgets", "rows") {
        let budgets = row["budgets"].as_array().expect("every row has budgets");
        if !budgets.iter().all(passes_admission) {
            refused_at_admission += 1;
            continue;
        }
        let list = parse_recorded(budgets);
        assert_eq!(row["error"] == true, !list.unreadable().is_empty(), "{row}");
        let nodes = u32::try_from(row["nodes"].as_u64().expect("a count")).expect("a small count");
        let reason = DisruptionReason::parse(row["reason"].as_str().expect("a reason"));
        let now = row["now"].as_i64().expect("a time");
        let allowed = match list.allowed(nodes, reason.expect("a known reason"), now) {
            Allowed::AtMost(count) => i64::from(count),
            Allowed::Unlimited => REFERENCE_UNLIMITED,
        };
        assert_eq!(allowed, row["allowed"], "{row}");
        compared += 1;
    }
    assert!(compared > 900, "{compared} compared, {refused_at_admission} refused at admission");
}

/// What the API server lets through. The reference also answers for what cannot reach it. Counts
/// beyond 31 bits it wraps around, so they are nothing to compare with either.
fn passes_admission(budget: &Value) -> bool {
    let nodes = budget["nodes"].as_str().expect("nodes is a string");
    let has_meaning = match BudgetNodes::parse(nodes) {
        Ok(BudgetNodes::Count(count)) => i32::try_from(count).is_ok(),
        Ok(BudgetNodes::Percent(_)) => true,
        Err(_) => false,
    };
    has_meaning && budget["schedule"].is_null() == budget["duration"].is_null()
}

fn parse_recorded(budgets: &[Value]) -> BudgetList {
    let mut list = Vec::new();
    for budget in budgets {
        let reasons: Option<Vec<&str>> = budget["reasons"]
            .as_array()
            .map(|names| names.iter().map(|name| name.as_str().expect("a name")).collect());
        list.push((budget, reasons));
    }
    BudgetList::parse(list.iter().map(|(budget, reasons)| BudgetText {
        nodes: budget["nodes"].as_str().expect("nodes is a string"),
        reasons: reasons.as_deref(),
        schedule: budget["schedule"].as_str(),
        duration: budget["duration"].as_str(),
    }))
}

#[test]
fn no_text_makes_the_reader_panic() {
    let tokens =
        ["%", "100", "0", "+", "-", " ", "Empty", "Drifted", "@daily", "* * * * *", "8h", "m"];
    arbitrary_text::for_arbitrary_texts(&tokens, |text| {
        let reasons = [text];
        let budgets = [
            BudgetText { nodes: text, ..TEN_PERCENT },
            BudgetText { reasons: Some(&reasons), ..TEN_PERCENT },
            BudgetText { schedule: Some(text), ..OFFICE_HOURS },
            BudgetText { duration: Some(text), ..OFFICE_HOURS },
        ];
        let mut is_accepted = false;
        for budget in budgets {
            let allowed = BudgetList::parse([budget]).allowed(u32::MAX, Empty, TUESDAY_NOON);
            assert!(Budget::parse(budget).is_ok() || allowed.is_none());
            is_accepted |= Budget::parse(budget).is_ok();
        }
        is_accepted
    });
}

fn any_budget() -> impl Strategy<Value = Budget> {
    let nodes = prop_oneof![
        any::<u32>().prop_map(|count| count.to_string()),
        (0..=100u32).prop_map(|percent| format!("{percent}%")),
    ];
    let reasons = prop::option::of(prop::sample::subsequence(&DisruptionReason::ALL[..], 0..=4));
    (nodes, reasons).prop_map(|(nodes, reasons)| Budget {
        nodes: BudgetNodes::parse(&nodes).expect("a count or share"),
        reasons: reasons.map(|reasons| reasons.into_iter().collect::<ReasonSet>()),
        window: None,
    })
}

proptest! {
    #[test]
    fn a_share_is_the_smallest_count_not_below_the_exact_share(
        total in any::<u32>(),
        percent in 0..=100u64,
    ) {
        let nodes = BudgetNodes::parse(&format!("{percent}%")).expect("a share");
        let count = u64::from(nodes.of(total));
        prop_assert!(count * 100 >= u64::from(total) * percent);
        prop_assert!(count == 0 || (count - 1) * 100 < u64::from(total) * percent);
    }

    #[test]
    fn one_more_budget_never_allows_more(
        budgets in prop::collection::vec(any_budget(), 0..6),
        another in any_budget(),
        total in any::<u32>(),
    ) {
        for reason in DisruptionReason::ALL {
            let before: BudgetList = budgets.iter().cloned().collect();
            let after: BudgetList = budgets.iter().chain([&another]).cloned().collect();
            let [before, after] = [before, after].map(|list| list.allowed(total, reason, 0));
            prop_assert!(after <= before);
            prop_assert_eq!(after, before.min(another.allowed(total, reason, 0)));
        }
    }
}
