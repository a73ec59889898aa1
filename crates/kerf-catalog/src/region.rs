//! Regions, their zones, and which type is sold where.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use thiserror::Error;

const OFFERINGS: &str = include_str!("../data/offerings.txt");

/// A region nothing is known about. Another region must be named; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown AWS region {region:?}; the known ones are {}", regions().collect::<Vec<_>>().join(", "))]
pub struct UnknownRegion {
    /// The name as given.
    pub region: String,
}

/// Why a table of offerings cannot be read. The text must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OfferingsError {
    /// A line stands before the first region.
    #[error("line {line}: expected a region such as [us-east-1]")]
    NoRegion {
        /// Counted from one.
        line: usize,
    },
    /// A line is no type with the letters of its zones.
    #[error(
        "line {line}: {text:?} is not a type and the letters of its zones such as m5.large abc"
    )]
    Malformed {
        /// Counted from one.
        line: usize,
        /// The line as written.
        text: Box<str>,
    },
    /// A region comes twice or out of order.
    #[error("line {line}: region {region:?} is out of order; names must ascend")]
    Order {
        /// Counted from one.
        line: usize,
        /// The region.
        region: Box<str>,
    },
}

/// What is sold in one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionOfferings<'a> {
    /// The region's name.
    pub region: &'a str,
    /// Types and the letters of the zones they are sold in, in the order of the table.
    pub types: Vec<(&'a str, &'a str)>,
}

/// The regions whose offerings are compiled in, in the order of their names.
pub fn regions() -> impl ExactSizeIterator<Item = &'static str> {
    built_in().iter().map(|offerings| offerings.region)
}

/// The zones of a region, in the order of their names.
///
/// # Errors
/// Nothing is known about the region.
pub fn zones(region: &str) -> Result<Vec<String>, UnknownRegion> {
    let offerings = region_offerings(region)?;
    let letters: BTreeSet<char> = offerings.types.iter().flat_map(|(_, zs)| zs.chars()).collect();
    Ok(letters.into_iter().map(|letter| format!("{region}{letter}")).collect())
}

/// Reads a table of offerings: a line `[region]`, then a line for each type sold there.
///
/// # Errors
/// A line is of neither form, or regions do not ascend.
pub fn read_offerings(text: &str) -> Result<Vec<RegionOfferings<'_>>, OfferingsError> {
    let mut regions: Vec<RegionOfferings<'_>> = Vec::new();
    for (index, content) in text.lines().enumerate() {
        let line = index + 1;
        if let Some(region) = content.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            if regions.last().is_some_and(|last| last.region >= region) {
                return Err(OfferingsError::Order { line, region: region.into() });
            }
            regions.push(RegionOfferings { region, types: Vec::new() });
            continue;
        }
        let malformed = || OfferingsError::Malformed { line, text: content.into() };
        let (name, letters) = content.split_once(' ').ok_or_else(malformed)?;
        let is_zones = !letters.is_empty() && letters.bytes().all(|b| b.is_ascii_lowercase());
        if name.is_empty() || !is_zones {
            return Err(malformed());
        }
        let region = regions.last_mut().ok_or(OfferingsError::NoRegion { line })?;
        region.types.push((name, letters));
    }
    Ok(regions)
}

/// What is sold in a region.
pub(crate) fn region_offerings(
    region: &str,
) -> Result<&'static RegionOfferings<'static>, UnknownRegion> {
    let all = built_in();
    match all.binary_search_by(|offerings| offerings.region.cmp(region)) {
        Ok(index) => Ok(&all[index]),
        Err(_) => Err(UnknownRegion { region: region.to_owned() }),
    }
}

/// Whether the region is known.
pub(crate) fn has_region(region: &str) -> bool {
    region_offerings(region).is_ok()
}

fn built_in() -> &'static [RegionOfferings<'static>] {
    static REGIONS: OnceLock<Vec<RegionOfferings<'static>>> = OnceLock::new();
    REGIONS.get_or_init(|| {
        read_offerings(OFFERINGS).expect("a test reads the table that is compiled in")
    })
}
