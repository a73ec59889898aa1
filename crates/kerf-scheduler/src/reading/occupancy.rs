//! What stands on one node, as far as rules about neighbours care.

use kerf_model::host_port::HostPort;
use smallvec::SmallVec;

use crate::reading::class::{Class, Variant};
use crate::reading::group::{GroupId, Groups, Rule};

/// More than ever fits on a node.
const UNLIMITED: i64 = i64::MAX;

/// The pods of one node, counted for the groups whose domain is the node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occupancy {
    tallies: SmallVec<[Tally; 4]>,
    ports: Vec<HostPort>,
}

#[derive(Clone, Debug)]
struct Tally {
    group: GroupId,
    /// Matching pods that stood there before.
    existing: i64,
    /// Placed pods that have the rule and match it themselves.
    own: i64,
    /// All matching pods.
    matching: i64,
    /// All pods that have the rule.
    carriers: i64,
}

impl Occupancy {
    /// A node on which these ports are taken.
    pub(crate) fn with_ports(ports: &[HostPort]) -> Self {
        Self { tallies: SmallVec::new(), ports: ports.to_vec() }
    }

    /// Notes a pod that stood there before: the groups it matches and those whose rule it has.
    pub(crate) fn note_existing(&mut self, group: GroupId, matches: bool, carries: bool) {
        let tally = self.tally(group);
        tally.existing += i64::from(matches);
        tally.matching += i64::from(matches);
        tally.carriers += i64::from(carries);
    }

    /// Notes ports taken by a pod that stood there before.
    pub(crate) fn note_ports(&mut self, ports: &[HostPort]) {
        self.ports.extend_from_slice(ports);
    }

    /// How many pods that match a group stood there before.
    pub(crate) fn existing(&self, group: GroupId) -> i64 {
        self.find(group).map_or(0, |tally| tally.existing)
    }

    /// How many more pods of a class the neighbours allow. `started` says of each group whether a
    /// matching pod stands anywhere.
    pub(crate) fn room(
        &self,
        class: &Class,
        variant: &Variant,
        groups: &Groups,
        hosts: &HostGroups,
        started: &[bool],
    ) -> i64 {
        let mut room = UNLIMITED;
        for group in variant.groups.iter().copied().filter(|group| hosts.contains(*group)) {
            room = room.min(self.room_in(group, class, groups, started));
        }
        let carried = |group: &GroupId| self.find(*group).is_some_and(|tally| tally.carriers > 0);
        if class.kept_away_by.iter().any(carried) {
            return 0;
        }
        if !class.shape.host_ports.is_empty() {
            let clash = |wanted: &HostPort| self.ports.iter().any(|taken| taken.clashes(wanted));
            let free = !class.shape.host_ports.iter().any(clash);
            room = room.min(i64::from(free));
        }
        room
    }

    fn room_in(&self, group: GroupId, class: &Class, groups: &Groups, started: &[bool]) -> i64 {
        let tally = self.find(group);
        let matching = tally.map_or(0, |tally| tally.matching);
        match groups.get(group).rule {
            Rule::Spread { max_skew, .. } => {
                let counted = tally.map_or(0, |tally| tally.existing + tally.own);
                let existing = tally.map_or(0, |tally| tally.existing);
                match class.counts_in(group) {
                    true => (i64::from(max_skew) - counted).max(0),
                    false if existing <= i64::from(max_skew) => UNLIMITED,
                    false => 0,
                }
            }
            Rule::Apart if matching > 0 => 0,
            Rule::Apart if class.counts_in(group) => {
                i64::from(tally.is_none_or(|tally| tally.carriers == 0))
            }
            Rule::Apart => UNLIMITED,
            Rule::Near if matching > 0 => UNLIMITED,
            Rule::Near if class.counts_in(group) && !started[group] => UNLIMITED,
            Rule::Near => 0,
        }
    }

    /// Puts pods of a class there.
    pub(crate) fn add(&mut self, class: &Class, variant: &Variant, hosts: &HostGroups, count: i64) {
        for group in class.matched_hosts.iter().copied() {
            let carries = variant.groups.contains(&group);
            let tally = self.tally(group);
            tally.matching += count;
            tally.carriers += if carries { count } else { 0 };
            tally.own += if carries { count } else { 0 };
        }
        let held = variant.groups.iter().copied().filter(|group| hosts.contains(*group));
        for group in held.filter(|group| !class.counts_in(*group)) {
            self.tally(group).carriers += count;
        }
        self.ports.extend_from_slice(&class.shape.host_ports);
    }

    fn find(&self, group: GroupId) -> Option<&Tally> {
        self.tallies.iter().find(|tally| tally.group == group)
    }

    fn tally(&mut self, group: GroupId) -> &mut Tally {
        let position = self.tallies.iter().position(|tally| tally.group == group);
        let position = position.unwrap_or_else(|| {
            self.tallies.push(Tally { group, existing: 0, own: 0, matching: 0, carriers: 0 });
            self.tallies.len() - 1
        });
        &mut self.tallies[position]
    }
}

/// The groups whose domain is the node.
#[derive(Debug, Default)]
pub(crate) struct HostGroups {
    pub(crate) all: Vec<GroupId>,
    is_host: Vec<bool>,
}

impl HostGroups {
    pub(crate) fn of(groups: &Groups) -> Self {
        let hosts = groups.iter().filter(|(_, group)| group.is_hostname());
        let all: Vec<GroupId> = hosts.map(|(id, _)| id).collect();
        let is_host = groups.iter().map(|(_, group)| group.is_hostname()).collect();
        Self { all, is_host }
    }

    pub(crate) fn contains(&self, group: GroupId) -> bool {
        self.is_host[group]
    }
}
