//! Rules about other pods that leave no node.

use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::{KeyId, ValueId};

use super::{Measured, phrase};
use crate::reading::group::{Group, GroupId, Rule};
use crate::reading::instance_type::PoolInstanceType;

impl<'a> Measured<'a> {
    /// The rule about other pods, or the port, that leaves no node.
    pub(super) fn neighbours_text(
        &self,
        fitting: &[&PoolInstanceType],
        node: &Requirements,
    ) -> String {
        if let Some(text) = self.port_text(fitting) {
            return text;
        }
        let base = self.solver.base;
        let held = self.variant.groups.iter().copied();
        let held = held.map(|id| (id, base.groups.get(id)));
        for (id, group) in held.clone().filter(|(_, group)| !group.is_hostname()) {
            let domains = self.domains(group.key, fitting, node);
            let holds = |domain: &ValueId| {
                let counts = &self.solver.counts;
                counts.holds(id, group, self.class, self.variant, *domain, &base.vocabulary)
            };
            if !domains.iter().any(holds) {
                return self.rule_text(id, group, &domains);
            }
        }
        for id in self.class.matched.iter().map(|id| id as GroupId) {
            let group = base.groups.get(id);
            let domains = self.domains(group.key, fitting, node);
            let is_kept_away = |domain: &ValueId| self.solver.counts.has_carrier(id, *domain);
            if group.binds_others && !group.is_hostname() && domains.iter().all(is_kept_away) {
                let (key, pods) = (self.key_noun(group.key), group.selector_text());
                return format!(
                    "pods that run keep pods with {pods} out of their {key}, and they are in all \
                     that the pod could use ({}); allow more, or change their anti-affinity",
                    self.names(group.key, &domains)
                );
            }
        }
        let near = held.filter(|(_, group)| group.rule == Rule::Affinity && group.is_hostname());
        if let Some((_, group)) = near.into_iter().next() {
            return format!(
                "by its affinity the pod must share a node with pods with {}, and no node that has \
                 one has room for it; make room there, or use a wider topologyKey",
                group.selector_text()
            );
        }
        "the pod's rules about other pods (spread, affinity, anti-affinity) hold one by one, and no \
         node meets all of them; loosen one"
            .to_owned()
    }

    /// A port that a daemon set takes on every node.
    fn port_text(&self, fitting: &[&PoolInstanceType]) -> Option<String> {
        let wanted = &self.class.shape.host_ports;
        let taken = |it: &&PoolInstanceType| {
            let ports = it.daemons.ports.iter();
            ports.copied().find(|taken| wanted.iter().any(|own| own.clashes(taken)))
        };
        let taken = fitting.iter().map(taken).collect::<Option<Vec<_>>>()?;
        let taken = taken.first()?;
        let problem = self.solver.base.problem;
        let mut daemons = problem.daemons.iter().zip(&problem.daemon_names);
        let by = daemons.find(|(shape, _)| shape.host_ports.contains(taken));
        let by =
            by.map_or_else(|| "a DaemonSet".to_owned(), |(_, name)| format!("DaemonSet {name}"));
        let port = wanted.iter().find(|own| own.clashes(taken)).map(|own| own.port())?;
        Some(format!(
            "the pod needs host port {port}, which {by} takes on every node of NodePool {}; use \
             another port",
            self.pool_name()
        ))
    }

    fn rule_text(&self, id: GroupId, group: &Group, domains: &[ValueId]) -> String {
        let (key, pods) = (self.key_noun(group.key), group.selector_text());
        let keys = phrase::nouns(self.vocabulary().key_text(group.key));
        let usable = self.names(group.key, domains);
        match group.rule {
            _ if domains.is_empty() => format!(
                "the pod's spread or affinity goes by the label {}, which no node of NodePool {} \
                 has; use a topologyKey that nodes have",
                self.vocabulary().key_text(group.key),
                self.pool_name()
            ),
            Rule::Spread { max_skew, min_domains } => {
                let tally = self.solver.counts.tally(id, group, self.variant, self.vocabulary());
                if (tally.len() as u64) < u64::from(min_domains) {
                    let there: Vec<ValueId> = tally.iter().map(|(domain, _)| *domain).collect();
                    return format!(
                        "the pod wants to spread over {min_domains} {keys} or more (minDomains) \
                         and there are {}: {}; lower minDomains, or allow more {keys}",
                        tally.len(),
                        self.names(group.key, &there)
                    );
                }
                let counts = tally.iter().map(|(domain, count)| {
                    format!("{} in {}", count, self.vocabulary().value_text(group.key, *domain))
                });
                let counts: Vec<String> = counts.collect();
                let counts: Vec<&str> = counts.iter().map(String::as_str).collect();
                format!(
                    "the pod must spread over {keys}: of pods with {pods} there are {}, so the next \
                     goes where the fewest are (maxSkew {max_skew}), and it can go to {usable} only; \
                     allow the others, or raise maxSkew",
                    phrase::listed(&counts, "and")
                )
            }
            Rule::Affinity => {
                let inhabited: Vec<ValueId> = self.solver.counts.inhabited_now(id).collect();
                match inhabited.as_slice() {
                    [] => format!(
                        "by its affinity the pod must be in one {key} with pods with {pods}, and \
                         there are none; start them, or correct the selector"
                    ),
                    there => format!(
                        "by its affinity the pod must be in one {key} with pods with {pods}, which \
                         are in {}, and it can go to {usable} only; allow that {key}",
                        self.names(group.key, there)
                    ),
                }
            }
            Rule::AntiAffinity => format!(
                "by its anti-affinity the pod must not share a {key} with pods with {pods}, and \
                 every {key} it could use has one ({usable}); allow more {keys}, or run fewer such \
                 pods"
            ),
        }
    }

    /// The domains that nodes of the pool could be in.
    fn domains(
        &self,
        key: KeyId,
        fitting: &[&PoolInstanceType],
        node: &Requirements,
    ) -> Vec<ValueId> {
        let vocabulary = self.vocabulary();
        let own = node.find(key);
        let mut domains: Vec<ValueId> = fitting
            .iter()
            .flat_map(|it| it.domains(key, vocabulary))
            .filter(|domain| own.is_none_or(|own| own.has(*domain, vocabulary)))
            .collect();
        if let Some(own) = own.filter(|own| !own.is_complement()) {
            domains.extend(own.values().iter().filter(|it| own.has(*it, vocabulary)));
        }
        domains.sort_unstable();
        domains.dedup();
        domains
    }

    fn names(&self, key: KeyId, domains: &[ValueId]) -> String {
        let mut names: Vec<&str> =
            domains.iter().map(|it| self.vocabulary().value_text(key, *it)).collect();
        names.sort_unstable();
        phrase::listed(&names, "and")
    }

    fn key_noun(&self, key: KeyId) -> String {
        let text = self.vocabulary().key_text(key);
        phrase::noun(text).map_or_else(|| format!("{text} domain"), str::to_owned)
    }
}
