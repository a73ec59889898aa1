//! What resources are worth in a batch: the prices of the cheapest conceivable fleet.

use smallvec::SmallVec;

use crate::packing::covering::{Column, Cover, cover};
use crate::packing::item::PackingContext;
use crate::units::{Amounts, at};

/// Most resources that are priced; the rest count for nothing, which keeps every bound valid.
const ROWS_MAX: usize = 8;
/// As many as most batches ask for: CPU, memory, pods, storage.
const ROWS_INLINE: usize = 4;

/// The dual price of each resource of a batch.
#[derive(Clone, Debug)]
pub(crate) struct DualPrices {
    rows: Vec<usize>,
    cover: Option<Cover>,
}

impl DualPrices {
    /// Prices the resources of a demand by instance types that each cost their price and
    /// `overhead`.
    pub(crate) fn of(
        demand: &Amounts,
        instance_types: impl Iterator<Item = (usize, u64)>,
        context: &PackingContext<'_>,
        overhead_micros: u64,
    ) -> Self {
        let rows: Vec<usize> =
            (0..demand.len()).filter(|row| demand[*row] > 0).take(ROWS_MAX).collect();
        let wanted: Vec<i64> = rows.iter().map(|row| demand[*row]).collect();
        // Zones mostly sell an instance type at one price, so that few of so many differ.
        let mut instance_types: Vec<(u64, usize)> = instance_types
            .map(|(instance_type, price_micros)| (price_micros, instance_type))
            .collect();
        instance_types.sort_unstable();
        instance_types.dedup();
        let mut amounts: Vec<(u64, SmallVec<[i64; ROWS_INLINE]>)> = instance_types
            .into_iter()
            .map(|(price_micros, instance_type)| {
                let free = &context.instance_types.all[instance_type].free;
                let amounts = rows.iter().map(|row| at(free, *row).max(0));
                (price_micros + overhead_micros, amounts.collect())
            })
            .collect();
        amounts.sort_unstable();
        amounts.dedup();
        let columns: Vec<Column<'_>> = amounts
            .iter()
            .map(|(cost_micros, amounts)| Column { cost_micros: *cost_micros, amounts })
            .collect();
        let cover = if rows.is_empty() { None } else { cover(&columns, &wanted) };
        Self { rows, cover }
    }

    /// What amounts are worth.
    pub(crate) fn value(&self, amounts: &Amounts) -> u64 {
        self.value_of(self.rows.iter().map(|row| at(amounts, *row)))
    }

    /// What the smaller of two amounts is worth, resource by resource. Both come with what they are
    /// worth, because mostly one is the smaller throughout.
    pub(crate) fn value_of_smaller(&self, a: (&Amounts, u64), b: (&Amounts, u64)) -> u64 {
        let ((a, a_value), (b, b_value)) = (a, b);
        let below =
            |a: &Amounts, b: &Amounts| self.rows.iter().all(|row| at(a, *row) <= at(b, *row));
        if below(a, b) {
            return a_value;
        }
        if below(b, a) {
            return b_value;
        }
        self.value_of(self.rows.iter().map(|row| at(a, *row).min(at(b, *row))))
    }

    fn value_of(&self, mut amounts: impl Iterator<Item = i64>) -> u64 {
        match &self.cover {
            Some(cover) => cover.value_micros(amounts),
            // Without prices, CPU stands for everything.
            None => amounts.next().map_or(0, |first| u64::try_from(first).unwrap_or(0)),
        }
    }
}
