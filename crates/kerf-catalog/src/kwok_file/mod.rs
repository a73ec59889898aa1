//! The kwok provider's file of instance types.
//!
//! A JSON list of `{name, architecture, operatingSystems, resources, offerings}`; an offering is
//! `{Price, Requirements, ReservationCapacity}`. Everything in the file is taken to be available,
//! a node holds 110 pods unless `resources` says otherwise, and labels and overhead follow from
//! the rest. Prices are rounded to the nearest micro-dollar. A name may come several times as long
//! as architecture or operating systems differ: the provider's own example does so.

mod document;
mod error;
mod instance_type;

use std::collections::BTreeSet;

use kerf_model::instance_type::InstanceType;

use document::InstanceTypeDocument;

pub use error::{FileError, OfferingProblem, ResourceProblem};
pub(crate) use instance_type::{InstanceTypeFacts, kwok_instance_type};

/// The most types a file may hold: ten times what the largest cloud sells.
pub const TYPES_MAX: usize = 20_000;

/// Reads a file of instance types.
///
/// # Errors
/// The text is no such file; the error names the type and the field.
pub fn from_json(text: &str) -> Result<Vec<InstanceType>, FileError> {
    let documents: Vec<InstanceTypeDocument> = serde_json::from_str(text)?;
    if documents.len() > TYPES_MAX {
        return Err(FileError::TooMany { found: documents.len(), most: TYPES_MAX });
    }
    let mut seen = BTreeSet::new();
    let mut types = Vec::with_capacity(documents.len());
    for (index, document) in documents.into_iter().enumerate() {
        let facts = document.read(index)?;
        let identity =
            (facts.name.clone(), facts.architecture.clone(), facts.operating_systems.clone());
        if !seen.insert(identity) {
            return Err(FileError::Repeated { name: facts.name });
        }
        types.push(kwok_instance_type(facts));
    }
    Ok(types)
}

/// Writes a file of instance types.
///
/// The format has room for name, architecture, operating systems, capacity and offerings. Other
/// labels, overhead, and what sets an offering's instances apart are lost; reading the file gives
/// every type the labels and overhead of the kwok provider. So `kwok()` comes back as it was.
#[must_use]
pub fn to_json(types: &[InstanceType]) -> String {
    let documents: Vec<_> = types.iter().map(InstanceTypeDocument::write).collect();
    serde_json::to_string_pretty(&documents).expect("texts, numbers and lists are always JSON")
}

/// The label keys that distinguish offerings: all of them become well-known labels.
#[must_use]
pub fn offering_keys(types: &[InstanceType]) -> BTreeSet<&str> {
    let offerings = types.iter().flat_map(|instance_type| instance_type.offerings.iter());
    offerings.flat_map(|offering| &*offering.requirements).map(|entry| entry.key.as_str()).collect()
}
