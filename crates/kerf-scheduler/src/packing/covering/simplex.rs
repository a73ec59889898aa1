//! Proposes dual prices in floating point.
//!
//! Solves the dual programme, `max Σ y_r · demand_r` with `Σ y_r · amount_{t,r} ≤ cost_t` for every
//! column `t` and `y ≥ 0`, by the dual simplex method. It starts at the corner where every row is
//! worth what it would cost alone, which is too much, and lets the most outspent column cut the
//! corner off, until no column is outspent. Each step is one pass over the columns and some work
//! on a matrix as small as the rows are few, and steps are few because the deepest cut comes first.
//!
//! Every corner on the way is worth at least the optimum. Scaled down until the most outspent
//! column affords it, it falls short by no more than that scale: stopping early costs little.
//!
//! Nothing here has to be right, only good: the caller checks every column again in integers. The
//! operations are plain IEEE ones in a fixed order, so the proposal is the same on every machine.

use smallvec::SmallVec;

use super::{Column, PerRow, ROWS_INLINE};

/// Overspending below this share of a column's cost is taken for rounding, and is the share of the
/// optimum that stopping there may lose.
const OVERSPENT_LEAST: f64 = 1e-12;

/// How far a column may stay below its cost at the first corner and still be kept: well above the
/// rounding of its few terms, so that a column that decides a row alone is never dropped.
const SPENT_ROUNDING: f64 = 1e-9;

/// A tight limit that weighs less than this in a cut is not exchanged for it: dividing by so little
/// would spoil the edges.
const EXCHANGE_LEAST: f64 = 1e-11;

/// Steps by the deepest cut, which needs few but may go round in circles where columns tie. Eight
/// rows over 1,500 columns, each of them the best for some demand, were seen to take 61.
const DEEPEST_STEPS_MAX: usize = 128;

/// Steps in all. Those after the deepest ones follow Bland's rule, which never repeats a corner;
/// the figure only keeps the time bounded.
const STEPS_MAX: usize = 256;

/// The dual programme without units: the variable of a row is its share of what the row costs
/// alone, and the cost of every column is 1. So all numbers lie between 0 and 1.
struct Programme {
    /// By row: what the whole of its share adds to the objective.
    gain: PerRow<f64>,
    /// By column, then by row: what the whole of that row's share spends of the column.
    spending: Vec<f64>,
}

/// One limit on the shares: `Σ normal_r · share_r ≤ most`.
struct Limit {
    /// Orders the limits for Bland's rule: rows, then columns; then the starting ones, which the
    /// columns imply and which never come back.
    number: usize,
    normal: PerRow<f64>,
    most: f64,
}

/// Where as many limits as there are rows are tight.
struct Corner {
    numbers: PerRow<usize>,
    most: PerRow<f64>,
    /// By tight limit, then by row: the inverse of the matrix of normals, one column after another.
    /// Each is the way the corner moves as that limit is raised.
    edges: SmallVec<[f64; ROWS_INLINE * ROWS_INLINE]>,
}

/// Proposes the worth in micros of one unit of each of `rows`, in their order.
///
/// Every one of `rows` must be demanded and provided, and by no column that costs nothing: then
/// every worth is bounded.
pub(super) fn propose(columns: &[Column<'_>], demand: &[i64], rows: &[usize]) -> PerRow<f64> {
    if rows.is_empty() {
        return PerRow::new();
    }
    let unit_micros: PerRow<f64> = rows.iter().map(|&row| unit_micros(columns, row)).collect();
    let mut dual_price_micros = Programme::new(columns, demand, rows, &unit_micros).maximise();
    dual_price_micros
        .iter_mut()
        .zip(&unit_micros)
        .for_each(|(dual_prices, unit)| *dual_prices *= unit);
    dual_price_micros
}

/// What one unit of a row costs when no other row is demanded.
fn unit_micros(columns: &[Column<'_>], row: usize) -> f64 {
    columns
        .iter()
        .filter(|column| column.amount(row) > 0)
        .map(|column| column.cost_micros as f64 / column.amount(row) as f64)
        .fold(f64::INFINITY, f64::min)
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

impl Programme {
    /// Drops the columns that not even the first corner can outspend.
    fn new(columns: &[Column<'_>], demand: &[i64], rows: &[usize], unit_micros: &[f64]) -> Self {
        let alone_micros = |(&row, unit): (&usize, &f64)| demand[row] as f64 * unit;
        let mut gain: PerRow<f64> = rows.iter().zip(unit_micros).map(alone_micros).collect();
        let greatest = gain.iter().copied().fold(0.0, f64::max);
        gain.iter_mut().for_each(|gain| *gain /= greatest);

        let mut spending = Vec::with_capacity(rows.len() * columns.len());
        for column in columns.iter().filter(|column| column.cost_micros > 0) {
            let kept = spending.len();
            let cost_micros = column.cost_micros as f64;
            spending.extend(
                rows.iter()
                    .zip(unit_micros)
                    .map(|(&row, unit)| column.amount(row) as f64 * unit / cost_micros),
            );
            if spending[kept..].iter().sum::<f64>() < 1.0 - SPENT_ROUNDING {
                spending.truncate(kept);
            }
        }
        Self { gain, spending }
    }

    /// Shares that spend the most outspent column exactly and add up to nearly the optimum.
    fn maximise(&self) -> PerRow<f64> {
        let mut corner = Corner::dearest(self.gain.len());
        let mut shares = corner.shares();
        for step in 0..STEPS_MAX {
            let broken = if step < DEEPEST_STEPS_MAX {
                self.deepest_cut(&shares)
            } else {
                self.first_cut(&shares)
            };
            let Some(limit) = broken else { break };
            if !corner.exchange(&limit, &self.gain) {
                break;
            }
            shares = corner.shares();
        }
        shares.iter_mut().for_each(|share| *share = share.max(0.0));
        let spent = self.columns().map(|column| dot(column, &shares)).fold(0.0, f64::max);
        if spent > 0.0 {
            shares.iter_mut().for_each(|share| *share /= spent);
        }
        shares
    }

    fn columns(&self) -> impl Iterator<Item = &[f64]> {
        self.spending.chunks_exact(self.gain.len())
    }

    /// The limit that `shares` break by most; the first of equals.
    fn deepest_cut(&self, shares: &[f64]) -> Option<Limit> {
        let mut deepest = None;
        let mut depth = OVERSPENT_LEAST;
        for (row, share) in shares.iter().enumerate() {
            if -share > depth {
                (deepest, depth) = (Some(row), -share);
            }
        }
        for (index, column) in self.columns().enumerate() {
            let overspent = dot(column, shares) - 1.0;
            if overspent > depth {
                (deepest, depth) = (Some(shares.len() + index), overspent);
            }
        }
        deepest.map(|number| self.limit(number))
    }

    /// Bland's choice: the broken limit of lowest number.
    fn first_cut(&self, shares: &[f64]) -> Option<Limit> {
        let row = shares.iter().position(|share| -share > OVERSPENT_LEAST);
        let column = || {
            self.columns()
                .position(|column| dot(column, shares) - 1.0 > OVERSPENT_LEAST)
                .map(|index| shares.len() + index)
        };
        row.or_else(column).map(|number| self.limit(number))
    }

    /// The limits by number: no row's share is below zero, no column is outspent.
    fn limit(&self, number: usize) -> Limit {
        let rows = self.gain.len();
        if number < rows {
            let normal = (0..rows).map(|row| if row == number { -1.0 } else { 0.0 }).collect();
            return Limit { number, normal, most: 0.0 };
        }
        let start = (number - rows) * rows;
        let normal = PerRow::from_slice(&self.spending[start..start + rows]);
        Limit { number, normal, most: 1.0 }
    }
}

impl Corner {
    /// The first corner: every row's share is whole.
    fn dearest(rows: usize) -> Self {
        let mut edges = SmallVec::from_elem(0.0, rows * rows);
        edges.iter_mut().step_by(rows + 1).for_each(|diagonal| *diagonal = 1.0);
        Self {
            numbers: (0..rows).map(|row| usize::MAX - row).collect(),
            most: SmallVec::from_elem(1.0, rows),
            edges,
        }
    }

    fn shares(&self) -> PerRow<f64> {
        let rows = self.most.len();
        let mut shares = PerRow::from_elem(0.0, rows);
        for (edge, most) in self.edges.chunks_exact(rows).zip(&self.most) {
            shares.iter_mut().zip(edge).for_each(|(share, step)| *share += most * step);
        }
        shares
    }

    /// Makes a broken limit tight in place of the one that gives up least for it, so that the new
    /// corner is again the best of its limits. `false` when none can go, which only rounding does.
    fn exchange(&mut self, limit: &Limit, gain: &[f64]) -> bool {
        let rows = self.most.len();
        let weights: PerRow<f64> =
            self.edges.chunks_exact(rows).map(|edge| dot(edge, &limit.normal)).collect();
        let Some(leaving) = self.leaving(&weights, gain) else { return false };

        let mut entering = PerRow::from_slice(&self.edges[leaving * rows..(leaving + 1) * rows]);
        entering.iter_mut().for_each(|step| *step /= weights[leaving]);
        for (tight, edge) in self.edges.chunks_exact_mut(rows).enumerate() {
            if tight == leaving {
                edge.copy_from_slice(&entering);
                continue;
            }
            let weight = weights[tight];
            edge.iter_mut().zip(&entering).for_each(|(step, new)| *step -= weight * new);
        }
        self.numbers[leaving] = limit.number;
        self.most[leaving] = limit.most;
        true
    }

    /// The tight limit with the least gain per weight; the lowest number among equals.
    fn leaving(&self, weights: &[f64], gain: &[f64]) -> Option<usize> {
        let mut leaving: Option<(f64, usize, usize)> = None;
        for (tight, edge) in self.edges.chunks_exact(gain.len()).enumerate() {
            if weights[tight] <= EXCHANGE_LEAST {
                continue;
            }
            let price = dot(edge, gain).max(0.0) / weights[tight];
            let number = self.numbers[tight];
            if leaving.is_none_or(|(least, lowest, _)| (price, number) < (least, lowest)) {
                leaving = Some((price, number, tight));
            }
        }
        leaving.map(|(_, _, tight)| tight)
    }
}
