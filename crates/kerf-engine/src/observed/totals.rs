//! What some nodes have in all, kept up as nodes come and go.

use std::collections::BTreeMap;

use kerf_model::quantity::{Format, Quantity};
use kerf_model::resources::ResourceList;

/// What some nodes have in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    amounts: BTreeMap<Box<str>, Total>,
}

/// An amount, and of how many nodes it is the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Total {
    nanos: i128,
    nodes: i64,
    /// How many of them write it in each of [`FORMATS`].
    written: [i64; FORMATS.len()],
}

/// The ways to write an amount; where as many nodes write it in two of them, the last counts.
const FORMATS: [Format; 3] = [Format::DecimalExponent, Format::BinarySi, Format::DecimalSi];

impl Totals {
    /// Adds what a node has, or takes it off again (`times` is −1).
    pub(crate) fn add(&mut self, capacity: &ResourceList, times: i64) {
        for (name, quantity) in capacity.iter() {
            if !self.amounts.contains_key(name) {
                self.amounts.insert(name.into(), Total::default());
            }
            let total = self.amounts.get_mut(name).expect("just put there");
            total.add(quantity, times);
            if total.nodes == 0 {
                self.amounts.remove(name);
            }
        }
    }

    /// Whether it is the sum of nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.amounts.is_empty()
    }

    /// What there is of a resource, if some node has it.
    pub(crate) fn get(&self, resource: &str) -> Option<Quantity> {
        self.amounts.get(resource).map(Total::quantity)
    }

    /// What there is of each resource that some node has.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Quantity)> {
        self.amounts.iter().map(|(name, total)| (&**name, total.quantity()))
    }
}

impl Total {
    fn add(&mut self, quantity: Quantity, times: i64) {
        let more = quantity.nanos().saturating_mul(i128::from(times));
        self.nanos = self.nanos.saturating_add(more);
        self.nodes += times;
        for (count, format) in self.written.iter_mut().zip(FORMATS) {
            if quantity.format() == format {
                *count += times;
            }
        }
    }

    /// The amount, written as most nodes write theirs.
    fn quantity(&self) -> Quantity {
        let ways = self.written.into_iter().zip(FORMATS);
        let format = ways.max_by_key(|(count, _)| *count).map_or(Format::DecimalSi, |it| it.1);
        Quantity::from_nanos(self.nanos, format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &[(&str, &str)]) -> ResourceList {
        text.iter().map(|(name, amount)| (*name, amount.parse::<Quantity>().unwrap())).collect()
    }

    #[test]
    fn a_sum_is_written_as_most_nodes_write_theirs() {
        let mut totals = Totals::default();
        totals.add(&list(&[("memory", "1073741824")]), 1);
        totals.add(&list(&[("memory", "1Gi")]), 1);
        assert_eq!(totals.get("memory").unwrap().to_string(), "2147483648");
        totals.add(&list(&[("memory", "1Gi")]), 1);
        assert_eq!(totals.get("memory").unwrap().to_string(), "3Gi");
        totals.add(&list(&[("memory", "1073741824")]), -1);
        assert_eq!(totals.get("memory").unwrap().to_string(), "2Gi");
    }

    #[test]
    fn a_resource_that_no_node_has_any_more_is_not_there() {
        let mut totals = Totals::default();
        totals.add(&list(&[("cpu", "4"), ("example.com/gpu", "0")]), 1);
        assert_eq!(totals.iter().count(), 2, "none of something is told too");
        totals.add(&list(&[("cpu", "4"), ("example.com/gpu", "0")]), -1);
        assert!(totals.is_empty());
    }
}
