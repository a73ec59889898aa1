//! An instance type in a problem file: the kwok provider's format, with labels and overhead told.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use kerf_api::{Quantity as ApiQuantity, Requirement};
use kerf_model::instance_type::{InstanceType, Offering, Overhead, Reservation};
use kerf_model::labels::well_known::{CAPACITY_TYPE, RESERVED};
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::RequirementEntry;
use kerf_model::resources::ResourceList;
use serde::Deserialize;
use serde_json::Number;

/// How the key of a label that names a reservation ends.
const RESERVATION_ID_SUFFIX: &str = "reservation-id";

/// One type of the file.
#[derive(Deserialize)]
pub(super) struct InstanceTypeFile {
    name: String,
    resources: BTreeMap<String, ApiQuantity>,
    overhead: Option<BTreeMap<String, ApiQuantity>>,
    requirements: Vec<Requirement>,
    offerings: Vec<OfferingFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct OfferingFile {
    price: Number,
    available: bool,
    #[serde(default)]
    reservation_capacity: u32,
    requirements: Vec<Requirement>,
}

impl InstanceTypeFile {
    /// The type in the model's words.
    pub(super) fn read(self) -> Result<InstanceType> {
        let Self { name, resources, overhead, requirements, offerings } = self;
        let kube_reserved = amounts(&overhead.unwrap_or_default())?;
        let offerings = offerings.into_iter().map(|offering| offering.read(&name));
        Ok(InstanceType {
            requirements: entries(&requirements)?.into(),
            capacity: amounts(&resources)?.into(),
            overhead: Overhead { kube_reserved, ..Overhead::default() }.into(),
            offerings: offerings.collect::<Result<_>>()?,
            name,
        })
    }
}

impl OfferingFile {
    fn read(self, type_name: &str) -> Result<Offering> {
        let requirements = entries(&self.requirements)?;
        let values = |wanted: &dyn Fn(&str) -> bool| {
            let entry = requirements.iter().find(|entry| wanted(&entry.key));
            entry.and_then(|entry| entry.values.first()).cloned()
        };
        let reserved = values(&|key| key == CAPACITY_TYPE).is_some_and(|value| value == RESERVED);
        let reservation = reserved.then(|| Reservation {
            id: values(&|key| key.ends_with(RESERVATION_ID_SUFFIX))
                .unwrap_or_else(|| type_name.to_owned()),
            remaining: self.reservation_capacity,
        });
        // Rust prints numbers without an exponent, as prices are written.
        let dollars = self.price.as_f64().with_context(|| format!("price {}", self.price))?;
        Ok(Offering {
            price: Price::parse(&dollars.to_string())?,
            requirements: requirements.into(),
            available: self.available,
            reservation,
            capacity_override: ResourceList::new(),
            overhead_override: None,
        })
    }
}

fn entries(requirements: &[Requirement]) -> Result<Vec<RequirementEntry>> {
    let entry = |requirement: &Requirement| {
        Ok(RequirementEntry {
            key: requirement.key.clone(),
            operator: requirement.operator.parse()?,
            values: requirement.values.clone().unwrap_or_default(),
            min_values: None,
        })
    };
    requirements.iter().map(entry).collect()
}

fn amounts(list: &BTreeMap<String, ApiQuantity>) -> Result<ResourceList> {
    let mut amounts = ResourceList::new();
    for (name, quantity) in list {
        amounts.insert(name.as_str(), Quantity::parse(&quantity.text())?);
    }
    Ok(amounts)
}
