//! What the cloud sells, as the scenario says.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_catalog::aws::{Zone, Zones};
use kerf_catalog::settings::NodeClassSettings;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known::{CAPACITY_TYPE, ZONE};

use super::OfferingIndex;
use crate::scenario::{Catalogue, CloudPlan, ScenarioError};

pub(super) fn read(plan: &CloudPlan) -> Result<Arc<[InstanceType]>, ScenarioError> {
    let types = match &plan.catalogue {
        Catalogue::Kwok => kwok(&plan.zones),
        Catalogue::Aws { region, families } => aws(region, families, &plan.zones)?,
    };
    if types.is_empty() {
        let problem = "nothing is sold: no type is of these families and in these zones";
        return Err(ScenarioError::Field {
            field: "cloud".to_owned(),
            problem: problem.to_owned(),
        });
    }
    Ok(types.into())
}

/// How many instances there are of offerings that are not endless.
pub(super) fn stock(
    plan: &CloudPlan,
    instance_types: &[InstanceType],
) -> BTreeMap<OfferingIndex, u32> {
    let mut stock = BTreeMap::new();
    for rule in &plan.stock {
        let wanted = |wish: &Option<String>, value: Option<&str>| {
            wish.as_deref().is_none_or(|wish| value.is_some_and(|value| value.ends_with(wish)))
        };
        for (instance_type, it) in instance_types.iter().enumerate() {
            let named = rule.instance_type.as_ref().is_none_or(|name| *name == it.name);
            for (offering, sold) in it.offerings.iter().enumerate() {
                if named
                    && wanted(&rule.zone, value(sold, ZONE))
                    && wanted(&rule.capacity_type, value(sold, CAPACITY_TYPE))
                {
                    stock.insert(OfferingIndex { instance_type, offering }, rule.instances);
                }
            }
        }
    }
    stock
}

/// The one value an offering has for a key.
pub(super) fn value<'o>(offering: &'o Offering, key: &str) -> Option<&'o str> {
    let entry = offering.requirements.iter().find(|entry| entry.key == key)?;
    entry.values.first().map(String::as_str)
}

fn kwok(zones: &[String]) -> Vec<InstanceType> {
    let mut types = kerf_catalog::kwok();
    if !zones.is_empty() {
        let is_there = |zone: &String| zones.iter().any(|it| zone.ends_with(it));
        for it in &mut types {
            for entry in Arc::make_mut(&mut it.requirements) {
                if entry.key == ZONE {
                    entry.values.retain(is_there);
                }
            }
            let is_sold = |offering: &&Offering| {
                value(offering, ZONE).is_some_and(|zone| zones.iter().any(|z| zone.ends_with(z)))
            };
            it.offerings = it.offerings.iter().filter(is_sold).cloned().collect();
        }
    }
    types
}

fn aws(
    region: &str,
    families: &[String],
    zones: &[String],
) -> Result<Vec<InstanceType>, ScenarioError> {
    let settings = NodeClassSettings::default();
    let named: Vec<Zone> = zones
        .iter()
        .map(|zone| {
            let name =
                if zone.starts_with(region) { zone.clone() } else { format!("{region}{zone}") };
            Zone { name, id: None }
        })
        .collect();
    let zones = if named.is_empty() { Zones::All } else { Zones::Only(&named) };
    let mut types = kerf_catalog::aws(region, &settings, zones).map_err(|error| {
        ScenarioError::Field { field: "cloud.catalogue".to_owned(), problem: error.to_string() }
    })?;
    if !families.is_empty() {
        types.retain(|it| {
            let family = it.name.split_once('.').map_or(it.name.as_str(), |(family, _)| family);
            families.iter().any(|wanted| wanted == family)
        });
    }
    Ok(types)
}
