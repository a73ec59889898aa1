//! The least that a demand can cost when instance types may be bought in fractions.
//!
//! Minimise `Σ x_t · cost_t` over instance types `t`, so that `Σ x_t · amount_{t,r} ≥ demand_r` for
//! every resource row `r` and `x ≥ 0`. No fleet of whole instance types can be cheaper than that
//! minimum, so a proven lower bound on it says how far a plan is from the best one, and which of
//! two requests weighs more.
//!
//! The bound comes from the dual programme: give one unit of every row a dual price `y_r ≥ 0`, such that
//! no instance type carries more worth than it costs. Any such dual prices prove
//! `Σ y_r · demand_r ≤ Σ x_t · cost_t` for every fleet `x`, whoever chose them. So floating point
//! may propose them ([`simplex`]) and exact integers decide: see [`DualPrice`] and [`affordable`].

mod simplex;
#[cfg(test)]
mod tests;

use smallvec::SmallVec;

/// Most covering programmes have at most this many rows; more are allowed and move to the heap.
const ROWS_INLINE: usize = 8;

/// A value per resource row.
type PerRow<T> = SmallVec<[T; ROWS_INLINE]>;

/// The binary digits of a [`DualPrice`] after the point.
///
/// With 64 of them, rounding one dual price down loses less than `demand / 2^64` micros, which is less
/// than half a micro for any `i64` demand; and the worth of anything a column offers,
/// `cost_micros · 2^64` at most, still fits `u128`.
const DUAL_PRICE_FRACTION_BITS: u32 = 64;

/// The first shrink takes `2^-52` off each dual price: the last digit of the `f64` that proposed it.
const SHRINK_FINEST_BITS: u32 = 52;

/// One instance type: what it costs and what it offers per row, in the units of the demand.
///
/// Missing amounts count as none, and so do negative ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    pub(crate) cost_micros: u64,
    pub(crate) amounts: &'a [i64],
}

/// What one unit of a row is worth: this many `2^-64` micros, exactly.
///
/// An amount `a` of it is worth `a · numerator / 2^64` micros. The product may need 191 bits, so it
/// is kept in two parts. With `numerator = high · 2^64 + low`,
///
/// ```text
/// a · numerator / 2^64  =  a · high  +  a · low / 2^64
/// ```
///
/// where `a · high < 2^127` and `a · low < 2^127` fit `u128` each: [`Value`] adds the whole micros
/// and carries the fractions, so nothing is rounded until the very end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DualPrice(u128);

/// A proven lower bound, and the dual prices that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cover {
    /// No fleet that meets the demand costs less, not even one of fractions of instance types.
    pub(crate) bound_micros: u64,
    /// The dual price of one unit of each row, in the order of the demand.
    pub(crate) dual_prices: PerRow<DualPrice>,
}

impl Cover {
    /// What `amounts` are worth, rounded down; at most [`u64::MAX`]. Never more than the cost of a
    /// column when asked for what that column offers.
    pub(crate) fn value_micros(&self, amounts: impl IntoIterator<Item = i64>) -> u64 {
        Value::of(&self.dual_prices, amounts).floor_micros()
    }
}

/// The lower bound for `demand`, or `None` when no column provides a row that is demanded.
///
/// A demand of zero or less is met by nothing, so its row is worth nothing.
pub(crate) fn cover(columns: &[Column<'_>], demand: &[i64]) -> Option<Cover> {
    let rows = scarce_rows(columns, demand)?;
    let mut dual_prices: PerRow<DualPrice> =
        SmallVec::from_elem(DualPrice::default(), demand.len());
    for (&row, proposed_micros) in rows.iter().zip(simplex::propose(columns, demand, &rows)) {
        dual_prices[row] = DualPrice::at_most(proposed_micros);
    }
    let dual_prices = affordable(dual_prices, columns);
    let bound_micros = Value::of(&dual_prices, demand.iter().copied()).floor_micros();
    Some(Cover { bound_micros, dual_prices })
}

/// The rows that can be worth something: demanded, and given away by no column that costs nothing.
/// `None` when a demanded row is provided by no column at all.
fn scarce_rows(columns: &[Column<'_>], demand: &[i64]) -> Option<PerRow<usize>> {
    let mut rows = PerRow::new();
    for row in (0..demand.len()).filter(|&row| demand[row] > 0) {
        let mut providers = columns.iter().filter(|column| column.amount(row) > 0).peekable();
        providers.peek()?;
        if providers.all(|column| column.cost_micros > 0) {
            rows.push(row);
        }
    }
    Some(rows)
}

/// Shrinks the dual prices until no column carries more than it costs, in exact arithmetic.
///
/// The first try is the proposal itself; every further one takes off twice as much as the one
/// before, and the last leaves nothing, which every column can afford. So this ends, and it gives
/// away at most about twice the error of the proposal.
fn affordable(proposed: PerRow<DualPrice>, columns: &[Column<'_>]) -> PerRow<DualPrice> {
    let mut dual_prices = proposed.clone();
    for bits in (0..=SHRINK_FINEST_BITS).rev() {
        if columns.iter().all(|column| column.affords(&dual_prices)) {
            return dual_prices;
        }
        for (dual_prices, proposed) in dual_prices.iter_mut().zip(&proposed) {
            *dual_prices = proposed.shrunk(bits);
        }
    }
    dual_prices
}

impl Column<'_> {
    /// What the column offers of a row; zero when it does not name the row.
    fn amount(&self, row: usize) -> i64 {
        self.amounts.get(row).map_or(0, |&amount| amount.max(0))
    }

    /// Whether what the column offers is worth no more than it costs.
    fn affords(&self, dual_prices: &[DualPrice]) -> bool {
        Value::of(dual_prices, self.amounts.iter().copied()) <= Value::from_micros(self.cost_micros)
    }
}

impl DualPrice {
    /// The greatest dual price on the grid that is not above `micros`; nothing for less than zero.
    fn at_most(micros: f64) -> Self {
        // Scaling by a power of two is exact, and the cast rounds down, saturates, and takes
        // "not a number" to zero.
        Self((micros * 2f64.powi(DUAL_PRICE_FRACTION_BITS as i32)) as u128)
    }

    /// Less by one part in `2^bits` and one step of the grid; nothing when `bits` is zero.
    fn shrunk(self, bits: u32) -> Self {
        Self((self.0 - (self.0 >> bits)).saturating_sub(1))
    }
}

/// An exact sum of dual prices: whole micros, then `2^-64` micros.
///
/// The derived order compares the whole micros first, which is the order of the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Value {
    whole_micros: u128,
    fraction: u64,
}

impl Value {
    fn from_micros(whole_micros: u64) -> Self {
        Self { whole_micros: whole_micros.into(), fraction: 0 }
    }

    /// The worth of `amounts` together, taking a negative amount for none.
    fn of(dual_prices: &[DualPrice], amounts: impl IntoIterator<Item = i64>) -> Self {
        dual_prices.iter().zip(amounts).fold(Self::default(), |sum, (&dual_prices, amount)| {
            sum.plus(dual_prices, u64::try_from(amount).unwrap_or(0))
        })
    }

    fn plus(self, DualPrice(numerator): DualPrice, amount: u64) -> Self {
        let amount = u128::from(amount);
        let high = numerator >> DUAL_PRICE_FRACTION_BITS;
        let low = amount * u128::from(numerator as u64);
        let (fraction, carried) = self.fraction.overflowing_add(low as u64);
        // `amount` came from an `i64`, so these three stay below 2^127 + 2^63 + 1. Only adding many
        // such values can pass the end of `u128`, far above any cost, where it may stay.
        let added = amount * high + (low >> DUAL_PRICE_FRACTION_BITS) + u128::from(carried);
        Self { whole_micros: self.whole_micros.saturating_add(added), fraction }
    }

    fn floor_micros(self) -> u64 {
        u64::try_from(self.whole_micros).unwrap_or(u64::MAX)
    }
}
