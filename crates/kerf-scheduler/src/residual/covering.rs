//! What nodes would cost at least if their pods could be cut to measure.

use kerf_model::price::Price;
use smallvec::SmallVec;

use crate::packing::covering::{Column, cover};
use crate::prepared_cluster::PreparedCluster;
use crate::reading::base::is_displaceable;
use crate::units::{self, Amounts};

/// Most resources that are priced; the rest count for nothing, which keeps the bound valid.
const ROWS_MAX: usize = 8;

/// The least that some nodes of a cluster and whatever comes for them can cost, and what the pods
/// of each are worth at the dual prices that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covering {
    /// No fleet that holds their pods beside the nodes that stay costs less.
    pub bound: Price,
    /// In the order the nodes were given: what the pods that would have to move are worth. A node
    /// that costs far more than this is the one to look at first.
    pub values: Vec<Price>,
}

impl PreparedCluster<'_> {
    /// Prices the pods of nodes that may go, each with its own price, when nodes and instance types
    /// can be bought in fractions. `staying` names nodes that take pods and cost nothing more.
    #[must_use]
    pub fn covering(&self, going: &[(usize, Price)], staying: &[usize]) -> Covering {
        let pods: Vec<Amounts> = going.iter().map(|(node, _)| self.pods_to_move(*node)).collect();
        let mut demand = Amounts::new();
        pods.iter().for_each(|asked| units::add(&mut demand, asked, 1));
        for node in staying {
            let index = self.base.cluster.index_of(*node);
            let free = self.base.cluster.nodes[index].free.iter().map(|free| (*free).max(0));
            units::subtract(&mut demand, &free.collect(), 1);
        }
        let rows: Vec<usize> =
            (0..demand.len()).filter(|row| demand[*row] > 0).take(ROWS_MAX).collect();
        let row = |amounts: &Amounts| -> SmallVec<[i64; ROWS_MAX]> {
            rows.iter().map(|row| amounts.get(*row).copied().unwrap_or(0).max(0)).collect()
        };
        let offered = self.base.instance_types.all.iter().filter_map(|instance_type| {
            Some((instance_type.offerings.first()?.price_micros, row(&instance_type.free)))
        });
        let mut columns: Vec<(u64, SmallVec<[i64; ROWS_MAX]>)> = offered.collect();
        for ((node, price), asked) in going.iter().zip(&pods) {
            let index = self.base.cluster.index_of(*node);
            let mut whole = self.base.cluster.nodes[index].free.clone();
            units::add(&mut whole, asked, 1);
            columns.push((price.micros_per_hour(), row(&whole)));
        }
        columns.sort_unstable();
        columns.dedup();
        let columns: Vec<Column<'_>> = columns
            .iter()
            .map(|(cost_micros, amounts)| Column { cost_micros: *cost_micros, amounts })
            .collect();
        let wanted: Vec<i64> = rows.iter().map(|row| demand[*row]).collect();
        let cover = if rows.is_empty() { None } else { cover(&columns, &wanted) };
        let micros = Price::from_micros_per_hour;
        let value = |asked: &Amounts| cover.as_ref().map_or(0, |it| it.value_micros(row(asked)));
        Covering {
            bound: micros(cover.as_ref().map_or(0, |it| it.bound_micros)),
            values: pods.iter().map(|asked| micros(value(asked))).collect(),
        }
    }

    /// What the pods of a node that would need another place ask for together.
    fn pods_to_move(&self, node: usize) -> Amounts {
        let mut asked = Amounts::new();
        let pods = self.base.problem.nodes[node].pods.iter();
        for bound in pods.filter(|bound| is_displaceable(bound)) {
            let class = self.base.shapes.known(&bound.pod.shape);
            let class = class.expect("every shape that may move was read");
            units::add(&mut asked, &self.base.classes[class].requests, 1);
        }
        asked
    }
}
