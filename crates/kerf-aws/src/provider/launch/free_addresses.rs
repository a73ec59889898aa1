//! How many addresses subnets have left, launches under way included.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kerf_api::ec2_node_class::Subnet;

/// How long a figure counts that was not refreshed, beyond the interval it is refreshed in; and at
/// least. As in Karpenter.
const STALE_AFTER_INTERVAL: Duration = Duration::from_secs(240);
const STALE_AFTER_MIN: Duration = Duration::from_secs(300);

/// Free addresses by subnet.
#[derive(Debug)]
pub(crate) struct FreeAddresses {
    known: Mutex<HashMap<String, Figure>>,
    stale_after: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Figure {
    /// What EC2 said, less what launches have taken since.
    free: u32,
    at: Instant,
}

/// Addresses taken from a subnet for a launch; what is not used is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deduction {
    subnet: String,
    /// When EC2 had last told how many there are. What it tells later counts the launch itself.
    told_at: Option<Instant>,
}

impl FreeAddresses {
    /// Nothing is known of any subnet. They are looked at anew in this interval.
    pub(crate) fn new(refresh: Duration) -> Self {
        let stale_after = STALE_AFTER_MIN.max(refresh + STALE_AFTER_INTERVAL);
        Self { known: Mutex::default(), stale_after }
    }

    /// EC2 has told how many addresses of a subnet are free.
    pub(crate) fn refresh(&self, subnet: &str, free: u32) {
        self.refresh_at(subnet, free, Instant::now());
    }

    /// The subnet with most free addresses in each zone; the first of equals, and the first where
    /// nothing is known.
    pub(crate) fn choose<'s>(&self, subnets: &'s [Subnet]) -> BTreeMap<&'s str, &'s str> {
        self.choose_at(subnets, Instant::now())
    }

    /// Takes addresses for a launch that may go there.
    pub(crate) fn deduct(&self, subnet: &str, addresses: u32) -> Deduction {
        let mut known = self.known();
        let figure = known.get_mut(subnet);
        let told_at = figure.map(|figure| {
            figure.free = figure.free.saturating_sub(addresses);
            figure.at
        });
        Deduction { subnet: subnet.to_owned(), told_at }
    }

    /// Gives addresses back that were not used, unless EC2 has told anew meanwhile.
    pub(crate) fn give_back(&self, deduction: &Deduction, addresses: u32) {
        if let Some(figure) = self.known().get_mut(&deduction.subnet)
            && Some(figure.at) == deduction.told_at
        {
            figure.free = figure.free.saturating_add(addresses);
        }
    }

    /// EC2 has found no address in a subnet.
    pub(crate) fn exhausted(&self, subnet: &str) {
        self.refresh(subnet, 0);
    }

    fn refresh_at(&self, subnet: &str, free: u32, at: Instant) {
        let mut known = self.known();
        known.retain(|_, figure| at.saturating_duration_since(figure.at) < self.stale_after);
        known.insert(subnet.to_owned(), Figure { free, at });
    }

    fn choose_at<'s>(&self, subnets: &'s [Subnet], now: Instant) -> BTreeMap<&'s str, &'s str> {
        let known = self.known();
        let is_fresh =
            |figure: &&Figure| now.saturating_duration_since(figure.at) < self.stale_after;
        let mut best: BTreeMap<&str, (&str, u32)> = BTreeMap::new();
        for subnet in subnets {
            let free = known.get(&subnet.id).filter(is_fresh).map_or(0, |figure| figure.free);
            let chosen = best.entry(&subnet.zone).or_insert((&subnet.id, free));
            if free > chosen.1 {
                *chosen = (&subnet.id, free);
            }
        }
        best.into_iter().map(|(zone, (subnet, _))| (zone, subnet)).collect()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Figure>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn subnets(list: &[(&str, &str)]) -> Vec<Subnet> {
        let subnet = |(id, zone): &(&str, &str)| Subnet {
            id: (*id).to_owned(),
            zone: (*zone).to_owned(),
            zone_id: None,
        };
        list.iter().map(subnet).collect()
    }

    fn chosen(addresses: &FreeAddresses, of: &[Subnet]) -> Vec<String> {
        addresses.choose(of).into_values().map(str::to_owned).collect()
    }

    #[test]
    fn each_zone_gets_its_subnet_with_most_free_addresses() {
        let addresses = FreeAddresses::new(MINUTE);
        let all = subnets(&[("s-1", "a"), ("s-2", "a"), ("s-3", "b")]);
        assert_eq!(chosen(&addresses, &all), ["s-1", "s-3"], "nothing is known: the first");
        addresses.refresh("s-1", 10);
        addresses.refresh("s-2", 10);
        assert_eq!(chosen(&addresses, &all), ["s-1", "s-3"], "the first of equals");
        addresses.refresh("s-2", 11);
        assert_eq!(chosen(&addresses, &all), ["s-2", "s-3"]);
        addresses.exhausted("s-2");
        assert_eq!(chosen(&addresses, &all), ["s-1", "s-3"]);
    }

    #[test]
    fn launches_under_way_count_and_what_they_do_not_use_comes_back() {
        let addresses = FreeAddresses::new(MINUTE);
        let all = subnets(&[("s-1", "a"), ("s-2", "a")]);
        addresses.refresh("s-1", 100);
        addresses.refresh("s-2", 60);
        let deduction = addresses.deduct("s-1", 58);
        assert_eq!(chosen(&addresses, &all), ["s-2"]);
        addresses.give_back(&deduction, 58);
        assert_eq!(chosen(&addresses, &all), ["s-1"]);
    }

    #[test]
    fn nothing_is_given_back_once_ec2_has_counted_anew() {
        let addresses = FreeAddresses::new(MINUTE);
        let all = subnets(&[("s-1", "a"), ("s-2", "a")]);
        addresses.refresh("s-1", 100);
        addresses.refresh("s-2", 60);
        let deduction = addresses.deduct("s-1", 90);
        addresses.refresh_at("s-1", 20, Instant::now() + MINUTE);
        addresses.give_back(&deduction, 90);
        assert_eq!(chosen(&addresses, &all), ["s-2"], "20 and not 110");
        let unknown = addresses.deduct("s-9", 1);
        addresses.give_back(&unknown, 1);
        assert_eq!(unknown.told_at, None);
    }

    #[test]
    fn old_figures_count_for_nothing() {
        let addresses = FreeAddresses::new(MINUTE);
        let all = subnets(&[("s-1", "a"), ("s-2", "a")]);
        let now = Instant::now();
        addresses.refresh_at("s-2", 50, now);
        assert_eq!(addresses.choose_at(&all, now + 4 * MINUTE)["a"], "s-2");
        assert_eq!(addresses.choose_at(&all, now + 5 * MINUTE)["a"], "s-1");
        assert_eq!(FreeAddresses::new(2 * MINUTE).stale_after, 6 * MINUTE);
        addresses.refresh_at("s-1", 1, now + 6 * MINUTE);
        assert!(!addresses.known().contains_key("s-2"), "it is forgotten");
    }
}
