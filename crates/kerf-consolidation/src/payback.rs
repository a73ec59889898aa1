//! After how long a move has paid for itself.

use kerf_model::price::Price;

use crate::eviction_cost::EvictionCost;
use crate::snapshot::Settings;

const SECONDS_PER_HOUR: u128 = 3600;
const SECONDS_PER_MINUTE: u64 = 60;
/// From so many minutes on, hours are said.
const MINUTES_MAX: u64 = 120;

/// After how many seconds a saving has paid for the evictions and for the time in which new nodes
/// and those they replace are paid for side by side; rounded up.
#[must_use]
pub fn payback_seconds(
    saving: Price,
    eviction_cost: EvictionCost,
    launched: Price,
    settings: &Settings,
) -> u64 {
    let evictions =
        u128::from(eviction_cost.millis()) * u128::from(settings.eviction_micros) / 1000;
    let overlap = u128::from(launched.micros_per_hour())
        * u128::from(settings.launch_overlap_seconds)
        / SECONDS_PER_HOUR;
    match u128::from(saving.micros_per_hour()) {
        0 => u64::MAX,
        saving => {
            let seconds = ((evictions + overlap) * SECONDS_PER_HOUR).div_ceil(saving);
            u64::try_from(seconds).unwrap_or(u64::MAX)
        }
    }
}

/// The same in words: `pays back in 14 min`.
#[must_use]
pub fn payback_text(seconds: u64) -> String {
    let minutes = seconds.div_ceil(SECONDS_PER_MINUTE);
    match (seconds, minutes) {
        (u64::MAX, _) => "never pays back".to_owned(),
        (0, _) => "pays back at once".to_owned(),
        (..SECONDS_PER_MINUTE, _) => format!("pays back in {seconds} s"),
        (_, ..MINUTES_MAX) => format!("pays back in {minutes} min"),
        _ => format!("pays back in {} h", minutes.div_ceil(SECONDS_PER_MINUTE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(text: &str) -> Price {
        Price::parse(text).expect("a price")
    }

    #[test]
    fn evictions_and_overlap_are_paid_by_the_saving() {
        let settings =
            Settings { eviction_micros: 2_000, launch_overlap_seconds: 300, ..Settings::default() };
        let ten_pods = EvictionCost::of_node([EvictionCost::ONE; 9]);
        // 0.02 $ for evictions, at 0.10 $/h: 720 s.
        assert_eq!(payback_seconds(dollars("0.1"), ten_pods, Price::ZERO, &settings), 720);
        // And 0.0125 $ for five minutes of a node of 0.15 $/h: 450 s more.
        assert_eq!(payback_seconds(dollars("0.1"), ten_pods, dollars("0.15"), &settings), 1170);
        assert_eq!(payback_seconds(Price::ZERO, ten_pods, Price::ZERO, &settings), u64::MAX);
    }

    #[test]
    fn payback_is_said_in_the_unit_people_use() {
        let table = [
            (0, "pays back at once"),
            (45, "pays back in 45 s"),
            (14 * 60, "pays back in 14 min"),
            (14 * 60 + 1, "pays back in 15 min"),
            (2 * 60 * 60, "pays back in 2 h"),
            (u64::MAX, "never pays back"),
        ];
        for (seconds, text) in table {
            assert_eq!(payback_text(seconds), text);
        }
    }
}
