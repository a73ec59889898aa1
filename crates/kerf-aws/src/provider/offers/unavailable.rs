//! Offerings that were found to be out of stock a short while ago.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::sleep_until;

use super::Changes;

/// How long what was out of stock is not tried again, as in Karpenter.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(180);

/// The placement group a launch was for, where it is the group that had no room.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PlacementScope {
    /// EC2's name for the group.
    pub(crate) group: String,
    /// The partition that was asked for, if one was.
    pub(crate) partition: Option<u32>,
}

/// What cannot be had for the moment.
#[derive(Debug)]
pub(crate) struct Unavailable {
    until: Mutex<HashMap<Mark, Instant>>,
    /// Told when there is something new to forget.
    marked: Notify,
    changes: Arc<Changes>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Mark {
    Offering {
        capacity_type: String,
        instance_type: String,
        zone: String,
        placement: Option<PlacementScope>,
    },
    CapacityType(String),
    Subnet(String),
}

impl Unavailable {
    /// Everything can be had.
    pub(crate) fn new(changes: Arc<Changes>) -> Self {
        Self { until: Mutex::default(), marked: Notify::new(), changes }
    }

    /// A type is out of stock in a zone; with a scope, in that placement group only.
    pub(crate) fn mark_offering(
        &self,
        capacity_type: &str,
        instance_type: &str,
        zone: &str,
        placement: Option<&PlacementScope>,
    ) {
        self.mark(offering(capacity_type, instance_type, zone, placement), Instant::now());
    }

    /// Nothing of a capacity type can be had.
    pub(crate) fn mark_capacity_type(&self, capacity_type: &str) {
        self.mark(Mark::CapacityType(capacity_type.to_owned()), Instant::now());
    }

    /// A subnet has no addresses left.
    pub(crate) fn mark_subnet(&self, id: &str) {
        self.mark(Mark::Subnet(id.to_owned()), Instant::now());
    }

    /// Whether an offering is marked: by itself, for the placement group, or with all of its
    /// capacity type.
    pub(crate) fn has_offering(
        &self,
        capacity_type: &str,
        instance_type: &str,
        zone: &str,
        placement: Option<&PlacementScope>,
    ) -> bool {
        let until = self.until();
        if until.is_empty() {
            return false;
        }
        let has = |mark: &Mark| until.get(mark).is_some_and(|until| *until > Instant::now());
        let scoped = |scope| has(&offering(capacity_type, instance_type, zone, scope));
        let whole_group =
            placement.map(|scope| PlacementScope { partition: None, ..scope.clone() });
        has(&Mark::CapacityType(capacity_type.to_owned()))
            || scoped(None)
            || placement.is_some() && (scoped(placement) || scoped(whole_group.as_ref()))
    }

    /// Whether a subnet is marked.
    pub(crate) fn has_subnet(&self, id: &str) -> bool {
        let until = self.until();
        let mark = Mark::Subnet(id.to_owned());
        until.get(&mark).is_some_and(|until| *until > Instant::now())
    }

    /// Forgets marks as their time comes, and says so. Never ends.
    pub(crate) async fn forget_in_time(&self) {
        loop {
            let marked = self.marked.notified();
            match self.forget(Instant::now()) {
                Some(next) => tokio::select! {
                    () = sleep_until(next.into()) => {}
                    () = marked => {}
                },
                None => marked.await,
            }
        }
    }

    /// Forgets what is over by now; when the next is.
    fn forget(&self, now: Instant) -> Option<Instant> {
        let mut until = self.until();
        let before = until.len();
        until.retain(|_, until| *until > now);
        if until.len() < before {
            self.changes.note();
        }
        until.values().min().copied()
    }

    fn mark(&self, mark: Mark, now: Instant) {
        let is_new = self.until().insert(mark, now + FORGOTTEN_AFTER).is_none_or(|it| it <= now);
        if is_new {
            self.changes.note();
            self.marked.notify_one();
        }
    }

    fn until(&self) -> MutexGuard<'_, HashMap<Mark, Instant>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn offering(
    capacity_type: &str,
    instance_type: &str,
    zone: &str,
    placement: Option<&PlacementScope>,
) -> Mark {
    Mark::Offering {
        capacity_type: capacity_type.to_owned(),
        instance_type: instance_type.to_owned(),
        zone: zone.to_owned(),
        placement: placement.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPOT: &str = "spot";

    fn nothing_marked() -> Unavailable {
        Unavailable::new(Arc::default())
    }

    fn scope(partition: Option<u32>) -> PlacementScope {
        PlacementScope { group: "pg-1".to_owned(), partition }
    }

    #[test]
    fn a_mark_is_for_one_type_in_one_zone_and_one_capacity_type() {
        let unavailable = nothing_marked();
        unavailable.mark_offering(SPOT, "m5.large", "z-a", None);
        let has = |way, kind, zone| unavailable.has_offering(way, kind, zone, None);
        assert!(has(SPOT, "m5.large", "z-a"));
        assert!(!has(SPOT, "m5.large", "z-b"));
        assert!(!has(SPOT, "m5.xlarge", "z-a"));
        assert!(!has("on-demand", "m5.large", "z-a"));
        assert!(unavailable.has_offering(SPOT, "m5.large", "z-a", Some(&scope(None))));
    }

    #[test]
    fn a_group_without_room_is_no_concern_of_others() {
        let unavailable = nothing_marked();
        unavailable.mark_offering(SPOT, "m5.large", "z-a", Some(&scope(None)));
        unavailable.mark_offering(SPOT, "c5.large", "z-a", Some(&scope(Some(2))));
        let has = |kind, scope: Option<&PlacementScope>| {
            unavailable.has_offering(SPOT, kind, "z-a", scope)
        };
        assert!(!has("m5.large", None));
        assert!(has("m5.large", Some(&scope(None))));
        assert!(has("m5.large", Some(&scope(Some(7)))), "the group holds all its partitions");
        assert!(has("c5.large", Some(&scope(Some(2)))));
        assert!(!has("c5.large", Some(&scope(Some(3)))));
    }

    #[test]
    fn a_capacity_type_takes_all_its_offerings_along() {
        let unavailable = nothing_marked();
        unavailable.mark_capacity_type(SPOT);
        assert!(unavailable.has_offering(SPOT, "m5.large", "z-a", None));
        assert!(!unavailable.has_offering("on-demand", "m5.large", "z-a", None));
        unavailable.mark_subnet("subnet-1");
        assert!(unavailable.has_subnet("subnet-1") && !unavailable.has_subnet("subnet-2"));
    }

    #[test]
    fn marks_are_forgotten_after_three_minutes_and_each_change_is_told_once() {
        let unavailable = nothing_marked();
        let now = Instant::now();
        unavailable.mark(Mark::CapacityType(SPOT.to_owned()), now);
        unavailable.mark(Mark::CapacityType(SPOT.to_owned()), now);
        assert_eq!(unavailable.changes.count(), 1, "again is nothing new");
        let next = unavailable.forget(now + Duration::from_secs(179));
        assert_eq!(next, Some(now + FORGOTTEN_AFTER));
        assert_eq!(unavailable.changes.count(), 1);
        assert_eq!(unavailable.forget(now + FORGOTTEN_AFTER), None);
        assert_eq!(unavailable.changes.count(), 2);
        assert!(!unavailable.has_offering(SPOT, "m5.large", "z-a", None));
    }
}
