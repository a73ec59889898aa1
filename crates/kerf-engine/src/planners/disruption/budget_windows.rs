//! When the budgets of a pool say something else next.

use kerf_model::budget::{BudgetList, BudgetWindow, DisruptionReason};

const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Windows that follow each other without a gap are followed so far; beyond, they count as one that
/// stays open.
const OVERLAPS_MAX: usize = 64;

/// The next time (Unix seconds) at which another number of a pool's nodes may be disrupted for a
/// reason, because a window opens or closes. `None` where no window changes anything.
pub(super) fn next_change(
    budgets: &BudgetList,
    nodes: u32,
    reason: DisruptionReason,
    now: i64,
) -> Option<i64> {
    let before = budgets.allowed(nodes, reason, now);
    let concerned = budgets
        .budgets()
        .iter()
        .filter(|budget| budget.reasons.is_none_or(|reasons| reasons.contains(reason)));
    let windows = concerned.filter_map(|budget| budget.window.as_ref());
    let mut times: Vec<i64> = windows.filter_map(|window| turns_at(window, now)).collect();
    times.sort_unstable();
    times.into_iter().find(|at| budgets.allowed(nodes, reason, *at) != before)
}

/// When a window opens, or closes if it is open now.
fn turns_at(window: &BudgetWindow, now: i64) -> Option<i64> {
    if !window.is_open(now) {
        return window.schedule.next_after(now);
    }
    let lasts = window.duration.nanos() / NANOS_PER_SECOND;
    let mut closes = now;
    for _ in 0..OVERLAPS_MAX {
        closes = last_opening(window, closes, lasts)?.checked_add(lasts)?;
        if !window.is_open(closes) {
            return Some(closes);
        }
    }
    None
}

/// The last time a window opened before or at a time at which it is open.
fn last_opening(window: &BudgetWindow, at: i64, lasts: i64) -> Option<i64> {
    let mut opening = window.schedule.next_after(at.checked_sub(lasts)?)?;
    for _ in 0..OVERLAPS_MAX {
        match window.schedule.next_after(opening) {
            Some(next) if next <= at => opening = next,
            _ => break,
        }
    }
    Some(opening)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kerf_model::budget::BudgetText;

    /// So many hours after the begin of 1970.
    fn at(hour: i64) -> i64 {
        hour * 3600
    }

    fn windows(all: &[(&'static str, &'static str, &'static str)]) -> BudgetList {
        BudgetList::parse(all.iter().map(|(nodes, schedule, duration)| BudgetText {
            nodes,
            reasons: None,
            schedule: Some(schedule),
            duration: Some(duration),
        }))
    }

    fn change(budgets: &BudgetList, hour: i64) -> Option<i64> {
        next_change(budgets, 10, DisruptionReason::Drifted, at(hour))
    }

    #[test]
    fn a_window_that_is_closed_opens_and_one_that_is_open_closes() {
        let day = windows(&[("0", "0 8 * * *", "10h")]);
        for (now, expected) in [(7, 8), (8, 18), (17, 18), (18, 32)] {
            assert_eq!(change(&day, now), Some(at(expected)), "at {now}");
        }
    }

    #[test]
    fn windows_that_overlap_are_one_and_those_that_change_nothing_are_passed_over() {
        assert_eq!(change(&windows(&[("0", "0 8,12 * * *", "6h")]), 9), Some(at(18)));
        let idle = windows(&[("0", "0 8 * * *", "10h"), ("5", "0 10 * * *", "1h")]);
        assert_eq!(change(&idle, 9), Some(at(18)));
        assert_eq!(change(&windows(&[("1", "* * * * *", "10h")]), 9), None);
        assert_eq!(change(&BudgetList::default(), 9), None);
    }
}
