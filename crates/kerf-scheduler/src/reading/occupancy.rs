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
    host_counts: SmallVec<[HostCount; 4]>,
    ports: Vec<HostPort>,
}

#[derive(Clone, Debug)]
struct HostCount {
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
        Self { host_counts: SmallVec::new(), ports: ports.to_vec() }
    }

    /// Notes a pod that stood there before: the groups it matches and those whose rule it has.
    pub(crate) fn note_existing(&mut self, group: GroupId, matches: bool, carries: bool) {
        let host_count = self.host_count(group);
        host_count.existing += i64::from(matches);
        host_count.matching += i64::from(matches);
        host_count.carriers += i64::from(carries);
    }

    /// Notes ports taken by a pod that stood there before.
    pub(crate) fn note_ports(&mut self, ports: &[HostPort]) {
        self.ports.extend_from_slice(ports);
    }

    /// How many pods that match a group stood there before.
    pub(crate) fn existing(&self, group: GroupId) -> i64 {
        self.find(group).map_or(0, |host_count| host_count.existing)
    }

    /// How many more pods of a class the neighbours allow. `started` says of each group whether a
    /// matching pod stands anywhere.
    pub(crate) fn headroom(
        &self,
        class: &Class,
        variant: &Variant,
        groups: &Groups,
        hosts: &HostGroups,
        started: &[bool],
    ) -> i64 {
        let mut headroom = UNLIMITED;
        for group in variant.groups.iter().copied().filter(|group| hosts.contains(*group)) {
            headroom = headroom.min(self.headroom_in(group, class, groups, started));
        }
        let carried =
            |group: &GroupId| self.find(*group).is_some_and(|host_count| host_count.carriers > 0);
        if class.kept_away_by.iter().any(carried) {
            return 0;
        }
        if !class.shape.host_ports.is_empty() {
            let clash = |wanted: &HostPort| self.ports.iter().any(|taken| taken.clashes(wanted));
            let free = !class.shape.host_ports.iter().any(clash);
            headroom = headroom.min(i64::from(free));
        }
        headroom
    }

    fn headroom_in(&self, group: GroupId, class: &Class, groups: &Groups, started: &[bool]) -> i64 {
        let host_count = self.find(group);
        let matching = host_count.map_or(0, |host_count| host_count.matching);
        match groups.get(group).rule {
            Rule::Spread { max_skew, .. } => {
                let counted =
                    host_count.map_or(0, |host_count| host_count.existing + host_count.own);
                let existing = host_count.map_or(0, |host_count| host_count.existing);
                match class.counts_in(group) {
                    true => (i64::from(max_skew) - counted).max(0),
                    false if existing <= i64::from(max_skew) => UNLIMITED,
                    false => 0,
                }
            }
            Rule::AntiAffinity if matching > 0 => 0,
            Rule::AntiAffinity if class.counts_in(group) => {
                i64::from(host_count.is_none_or(|host_count| host_count.carriers == 0))
            }
            Rule::AntiAffinity => UNLIMITED,
            Rule::Affinity if matching > 0 => UNLIMITED,
            Rule::Affinity if class.counts_in(group) && !started[group] => UNLIMITED,
            Rule::Affinity => 0,
        }
    }

    /// Whether pods that count in a group and hold to its rule find no place there any more.
    pub(crate) fn is_closed(&self, group: GroupId, rule: Rule) -> bool {
        self.find(group).is_some_and(|count| match rule {
            Rule::Spread { max_skew, .. } => count.existing + count.own >= i64::from(max_skew),
            Rule::AntiAffinity => count.matching > 0,
            Rule::Affinity => false,
        })
    }

    /// Puts pods of a class there.
    pub(crate) fn add(&mut self, class: &Class, variant: &Variant, hosts: &HostGroups, count: i64) {
        for group in class.matched_hosts.iter().copied() {
            let carries = variant.groups.contains(&group);
            let host_count = self.host_count(group);
            host_count.matching += count;
            host_count.carriers += if carries { count } else { 0 };
            host_count.own += if carries { count } else { 0 };
        }
        let held = variant.groups.iter().copied().filter(|group| hosts.contains(*group));
        for group in held.filter(|group| !class.counts_in(*group)) {
            self.host_count(group).carriers += count;
        }
        self.ports.extend_from_slice(&class.shape.host_ports);
    }

    fn find(&self, group: GroupId) -> Option<&HostCount> {
        self.host_counts.iter().find(|host_count| host_count.group == group)
    }

    fn host_count(&mut self, group: GroupId) -> &mut HostCount {
        let position = self.host_counts.iter().position(|host_count| host_count.group == group);
        let position = position.unwrap_or_else(|| {
            self.host_counts.push(HostCount {
                group,
                existing: 0,
                own: 0,
                matching: 0,
                carriers: 0,
            });
            self.host_counts.len() - 1
        });
        &mut self.host_counts[position]
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
