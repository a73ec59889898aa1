//! The zones to avoid, seen from one cluster at one moment.

use std::collections::BTreeSet;

use super::instant::UnixSeconds;
use super::note::Note;
use super::plan::Cluster;
use super::state::ShiftState;
use super::zone::{ZoneId, ZoneName};

/// How long after a start annotated pools stay as they are though no shift is known.
pub const GRACE_SECONDS: i64 = 5 * 60;

/// Which zones to avoid, and which are over.
#[derive(Debug)]
pub(super) struct Outlook<'a> {
    /// The zones to avoid, of those the cluster uses.
    pub(super) away: BTreeSet<ZoneName>,
    /// Whether that is every zone the cluster uses.
    pub(super) is_nowhere_else: bool,
    state: &'a ShiftState,
    cluster: Cluster<'a>,
    unnamed: BTreeSet<ZoneId>,
    unused: BTreeSet<ZoneId>,
    is_grace_over: bool,
}

impl<'a> Outlook<'a> {
    pub(super) fn new(
        state: &'a ShiftState,
        cluster: Cluster<'a>,
        grace_until: UnixSeconds,
        now: UnixSeconds,
    ) -> Outlook<'a> {
        let Cluster { zones, used_zones, .. } = cluster;
        let is_used = |zone: &ZoneName| used_zones.is_empty() || used_zones.contains(zone);
        let (named, unnamed): (BTreeSet<_>, BTreeSet<_>) =
            state.away().into_iter().partition(|id| zones.name(id).is_some());
        let (used, unused): (BTreeSet<_>, BTreeSet<_>) =
            named.into_iter().partition(|id| zones.name(id).is_some_and(is_used));
        let away = zones.names_of(&used);
        Outlook {
            is_nowhere_else: !used_zones.is_empty() && used_zones.is_subset(&away),
            away,
            state,
            cluster,
            unnamed,
            unused,
            is_grace_over: now >= grace_until,
        }
    }

    /// Whether a zone that something was kept out of is usable again. What is not known to be over
    /// is taken to go on, until the time of grace has passed.
    pub(super) fn is_over(&self, zone: &ZoneName) -> bool {
        if self.away.contains(zone) {
            return false;
        }
        match self.cluster.zones.id(zone) {
            Some(id) => self.is_grace_over || self.state.is_known_over(id),
            // It may be one of the zones to avoid, for whose ids no names are known.
            None => self.is_grace_over && self.unnamed.is_empty(),
        }
    }

    pub(super) fn notes(&self) -> Vec<Note> {
        let unnamed = self.unnamed.iter().cloned().map(Note::ZoneUnnamed);
        unnamed.chain(self.unused.iter().cloned().map(Note::ZoneNotUsed)).collect()
    }
}
