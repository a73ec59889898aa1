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

/// The part of the table about one region, read when somebody asks for it.
struct Section {
    region: &'static str,
    text: &'static str,
    offerings: OnceLock<RegionOfferings<'static>>,
}

/// The regions whose offerings are compiled in, in the order of their names.
pub fn regions() -> impl ExactSizeIterator<Item = &'static str> {
    built_in().iter().map(|section| section.region)
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
    let section = section(region).ok_or_else(|| UnknownRegion { region: region.to_owned() })?;
    Ok(section.offerings.get_or_init(|| {
        let mut read = read_offerings(section.text).expect("a test reads the whole table");
        read.pop().expect("a section begins with its region")
    }))
}

/// Whether the region is known.
pub(crate) fn has_region(region: &str) -> bool {
    section(region).is_some()
}

fn section(region: &str) -> Option<&'static Section> {
    let sections = built_in();
    let place = sections.binary_search_by(|section| section.region.cmp(region)).ok()?;
    Some(&sections[place])
}

/// The table by region. Thirty regions are hardly ever wanted at once, so only the brackets are
/// looked for.
fn built_in() -> &'static [Section] {
    static SECTIONS: OnceLock<Vec<Section>> = OnceLock::new();
    SECTIONS.get_or_init(|| {
        let starts: Vec<usize> = OFFERINGS.match_indices('[').map(|(start, _)| start).collect();
        let ends = starts.iter().skip(1).copied().chain([OFFERINGS.len()]);
        let section = |(start, end): (&usize, usize)| {
            let text = &OFFERINGS[*start..end];
            let region = text[1..].split(']').next().unwrap_or_default();
            Section { region, text, offerings: OnceLock::new() }
        };
        starts.iter().zip(ends).map(section).collect()
    })
}
