//! The built-in tables: text written by `catalog/generate.py`, read once, on first use.

mod line;
mod network;
mod shapes;

use std::sync::OnceLock;

use kerf_model::price::Price;
use thiserror::Error;

use crate::shape::{NetworkFacts, Shape, VpcLimits};

pub use network::{read_bandwidth, read_limits};
pub use shapes::read_shapes;

const SHAPES: &str = include_str!("../../data/shapes.csv");
const LIMITS: &str = include_str!("../../data/limits.csv");
const BANDWIDTH: &str = include_str!("../../data/bandwidth.csv");
const PRICES: &str = include_str!("../../data/prices.csv");

/// Why a table cannot be read. The text must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// The first line does not name the expected columns.
    #[error("the first line must be {expected:?}")]
    Header {
        /// The line that was expected.
        expected: &'static str,
    },
    /// A line has too many or too few fields.
    #[error("line {line} has {found} fields instead of {expected}")]
    FieldCount {
        /// Counted from one.
        line: usize,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A field holds something else than it should.
    #[error("line {line}: {column} cannot be {text:?}; expected {expected}")]
    Field {
        /// Counted from one.
        line: usize,
        /// The column's name.
        column: &'static str,
        /// The field as written.
        text: Box<str>,
        /// What would be right.
        expected: &'static str,
    },
    /// The types are not in the order of their names, or one comes twice.
    #[error("line {line}: type {name:?} does not come after {previous:?}; names must ascend")]
    Order {
        /// Counted from one.
        line: usize,
        /// The type's name.
        name: Box<str>,
        /// The name before it.
        previous: Box<str>,
    },
}

/// What the program knows about every type without asking anyone.
pub(crate) struct Tables {
    // All of them in the order of the types' names.
    shapes: Vec<Shape>,
    limits: Vec<(&'static str, VpcLimits)>,
    bandwidth: Vec<(&'static str, u32)>,
    prices: Vec<(&'static str, Price)>,
}

/// The tables compiled into the program.
pub(crate) fn built_in() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        Tables::read(SHAPES, LIMITS, BANDWIDTH, PRICES)
            .expect("every test of this crate reads the tables that are compiled in")
    })
}

/// Every type the program knows, in the order of their names.
#[must_use]
pub fn shapes() -> &'static [Shape] {
    &built_in().shapes
}

/// The type of that name, if the program knows it.
#[must_use]
pub fn shape(name: &str) -> Option<&'static Shape> {
    let shapes = shapes();
    shapes.binary_search_by(|shape| shape.name.as_str().cmp(name)).ok().map(|i| &shapes[i])
}

/// What EC2 does not say about the type of that name; nothing is known about unknown types.
#[must_use]
pub fn network_facts(name: &str) -> NetworkFacts {
    built_in().network_facts(name)
}

/// Reads the price table: a type and dollars per hour a line, in the order of the types' names.
///
/// # Errors
/// A line is not of that form, or names do not ascend.
pub fn read_prices(text: &str) -> Result<Vec<(&str, Price)>, TableError> {
    let lines = line::lines::<2>(text, "type,us-east-1")?;
    lines
        .map(|line| {
            let line = line?;
            let expected = "dollars per hour above zero such as 0.096";
            let price = line.read(1, "price", expected, |text| {
                Price::parse(text).ok().filter(|price| *price > Price::ZERO)
            })?;
            Ok((line.name(), price))
        })
        .collect()
}

impl Tables {
    fn read(
        shapes: &str,
        limits: &'static str,
        bandwidth: &'static str,
        prices: &'static str,
    ) -> Result<Tables, TableError> {
        let mut tables = Tables {
            shapes: Vec::new(),
            limits: read_limits(limits)?,
            bandwidth: read_bandwidth(bandwidth)?,
            prices: read_prices(prices)?,
        };
        let mut shapes = read_shapes(shapes)?;
        for shape in &mut shapes {
            shape.network.facts = tables.network_facts(&shape.name);
        }
        tables.shapes = shapes;
        Ok(tables)
    }

    /// The on-demand price of us-east-1, where it is known.
    pub(crate) fn price(&self, name: &str) -> Option<Price> {
        find(&self.prices, name)
    }

    fn network_facts(&self, name: &str) -> NetworkFacts {
        NetworkFacts {
            bandwidth_mbps: find(&self.bandwidth, name),
            limits: find(&self.limits, name),
        }
    }
}

/// What a column that is in the order of the names says about one of them.
fn find<T: Copy>(column: &[(&str, T)], name: &str) -> Option<T> {
    let place = column.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    Some(column[place].1)
}
