//! Rows of the lower bound that count pods instead of resources: what one node can hold of them.
//!
//! A node holds whole pods, so that half of its CPU may be of no use to any; and rules about
//! neighbours on a node, such as anti-affinity to one's own kind, let only a few onto it however
//! large it is. A fleet pays for both, and a bound that left them out would blame the fleet.

use kerf_model::bitset::BitSet;

use crate::reading::group::{GroupId, Rule};
use crate::solving::solver::Solver;
use crate::units::{Amounts, at};

/// Most classes, and most rules, that get a row of their own; leaving one out keeps the bound valid.
const CLASSES_MAX: usize = 6;
const RULES_MAX: usize = 4;

/// What nodes hold of the pods of a component.
pub(crate) struct PodRows<'s> {
    classes: Vec<ClassRow<'s>>,
    rules: Vec<RuleRow>,
}

/// Pods of one class.
struct ClassRow<'s> {
    count: i64,
    requests: &'s Amounts,
    /// The most that rules let onto one node.
    per_node: i64,
    /// Which instance types accept them; none where that was never asked.
    accepted: Option<BitSet>,
}

/// Pods of several classes under one rule.
struct RuleRow {
    count: i64,
    per_node: i64,
}

impl<'s> PodRows<'s> {
    /// Rows for the classes with the most pods, and for rules that bind several classes.
    pub(crate) fn of(solver: &'s Solver<'_>, classes: &[(usize, i64)]) -> Self {
        let mut largest: Vec<(usize, i64)> = classes.to_vec();
        largest.sort_unstable_by_key(|(class, count)| (-count, *class));
        largest.truncate(CLASSES_MAX);
        let row = |(class, count): &(usize, i64)| ClassRow {
            count: *count,
            requests: &solver.base.classes[*class].requests,
            per_node: solver.per_node(*class),
            accepted: solver.accepted(*class),
        };
        Self { classes: largest.iter().map(row).collect(), rules: solver.rule_rows(classes) }
    }

    /// How many pods there are, row by row.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = i64> {
        let classes = self.classes.iter().map(|row| row.count);
        classes.chain(self.rules.iter().map(|row| row.count))
    }

    /// How many pods a node of an instance type holds at most, row by row.
    pub(crate) fn offer(&self, instance_type: usize, free: &Amounts, amounts: &mut Vec<i64>) {
        let accepts = |row: &ClassRow<'_>| {
            let index = u32::try_from(instance_type).expect("fewer than 2³² instance types");
            row.accepted.as_ref().is_none_or(|accepted| accepted.contains(index))
        };
        let held = |row: &ClassRow<'_>| if accepts(row) { row.held(free) } else { 0 };
        amounts.extend(self.classes.iter().map(held));
        amounts.extend(self.rules.iter().map(|row| row.per_node));
    }
}

impl ClassRow<'_> {
    /// How many of the pods a node with so much room holds.
    fn held(&self, free: &Amounts) -> i64 {
        let asked = self.requests.iter().enumerate().filter(|(_, amount)| **amount > 0);
        let fitting = asked.map(|(row, amount)| at(free, row).max(0) / amount);
        fitting.min().unwrap_or(i64::MAX).min(self.per_node).min(self.count)
    }
}

impl Solver<'_> {
    /// The most pods of a class that rules let onto one node, whatever it gives up.
    fn per_node(&self, class: usize) -> i64 {
        let hosts = self.base.hosts.all.iter().copied();
        let bound = hosts.filter(|group| self.is_bound(class, *group));
        bound.filter_map(|group| self.lets_in(group)).min().unwrap_or(i64::MAX)
    }

    /// Whether pods of a class count in a group and keep to its rule in every way to place them.
    fn is_bound(&self, class: usize, group: GroupId) -> bool {
        let class = &self.base.classes[class];
        let mut variants = class.variants.iter();
        class.counts_in(group) && variants.all(|variant| variant.groups.contains(&group))
    }

    /// How many pods of a group may share a node.
    fn lets_in(&self, group: GroupId) -> Option<i64> {
        match self.base.groups.get(group).rule {
            Rule::Spread { max_skew, .. } => Some(i64::from(max_skew).max(1)),
            Rule::AntiAffinity => Some(1),
            Rule::Affinity => None,
        }
    }

    /// Rules that bind more than one class; one class has its own row.
    fn rule_rows(&self, classes: &[(usize, i64)]) -> Vec<RuleRow> {
        let row = |group: GroupId| {
            let bound = classes.iter().filter(|(class, _)| self.is_bound(*class, group));
            let (members, count) =
                bound.fold((0, 0), |(members, pods), (_, count)| (members + 1, pods + count));
            let per_node = self.lets_in(group).filter(|_| members > 1)?;
            Some(RuleRow { count, per_node })
        };
        let mut rows: Vec<RuleRow> = self.base.hosts.all.iter().copied().filter_map(row).collect();
        rows.sort_by_key(|row| -(row.count / row.per_node));
        rows.truncate(RULES_MAX);
        rows
    }

    /// The instance types that accept pods of a class in some way, if that was asked of each way.
    fn accepted(&self, class: usize) -> Option<BitSet> {
        let mut accepted = BitSet::new();
        for way in &self.base.classes[class].variants {
            accepted.or_with(&self.demands.known(&way.node, &way.tolerated)?.instance_types);
        }
        Some(accepted)
    }
}
