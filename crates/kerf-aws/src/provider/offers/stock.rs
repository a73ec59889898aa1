//! Which types there are and in which zones they are sold: as EC2 says, or from the built-in
//! tables until it does.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_ec2::operation::describe_instance_type_offerings::DescribeInstanceTypeOfferingsOutput;
use aws_sdk_ec2::operation::describe_instance_types::DescribeInstanceTypesOutput;
use aws_sdk_ec2::types::{Filter, LocationType};
use kerf_catalog::region::{UnknownRegion, zones};
use kerf_catalog::shape::Shape;
use kerf_catalog::{aws::sold_in, table};

use super::shape::shape;
use crate::Result;
use crate::aws_action::AwsAction;
use crate::provider::Context;

/// EC2 allows so many types a page at most.
const TYPES_PER_PAGE: i32 = 100;
/// And so many offerings.
const OFFERINGS_PER_PAGE: i32 = 1_000;
/// Ten times the pages of the largest region: a listing that never ends is given up.
const PAGES_MAX: usize = 200;

/// What is sold in a region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stock {
    /// The types, in the order of their names.
    pub(super) shapes: Vec<Shape>,
    /// The zones each is sold in, by the type's name.
    pub(super) zones: BTreeMap<String, BTreeSet<String>>,
}

impl Stock {
    /// What the built-in tables know of a region.
    pub(super) fn built_in(region: &str) -> std::result::Result<Self, UnknownRegion> {
        let all = zones(region)?;
        let mut stock = Self::default();
        for &(name, letters) in sold_in(region)? {
            let Some(shape) = table::shape(name) else { continue };
            let is_sold = |zone: &&String| {
                zone.strip_prefix(region).is_some_and(|letter| letters.contains(letter))
            };
            let sold = all.iter().filter(is_sold).cloned().collect();
            stock.shapes.push(shape.clone());
            stock.zones.insert(name.to_owned(), sold);
        }
        stock.shapes.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(stock)
    }

    /// What EC2 sells.
    pub(super) async fn ask(context: &Context) -> Result<Self> {
        let (shapes, zones) = tokio::try_join!(types(context), offerings(context))?;
        Ok(Self { shapes, zones })
    }

    /// Whether there is anything in it.
    pub(super) fn is_empty(&self) -> bool {
        self.shapes.is_empty() || self.zones.is_empty()
    }
}

async fn types(context: &Context) -> Result<Vec<Shape>> {
    let mut shapes = Vec::new();
    let call = |token| {
        let call = context.clients.ec2.describe_instance_types();
        call.filters(filter("supported-virtualization-type", &["hvm"]))
            .filters(filter("processor-info.supported-architecture", &["x86_64", "arm64"]))
            .max_results(TYPES_PER_PAGE)
            .set_next_token(token)
            .send()
    };
    let take = |page: DescribeInstanceTypesOutput| {
        shapes.extend(page.instance_types().iter().filter_map(shape));
        page.next_token
    };
    context.calls.pages(AwsAction::DescribeInstanceTypes, PAGES_MAX, call, take).await?;
    shapes.sort_by(|one, other| one.name.cmp(&other.name));
    shapes.dedup_by(|one, other| one.name == other.name);
    Ok(shapes)
}

async fn offerings(context: &Context) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut zones: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let call = |token| {
        let call = context.clients.ec2.describe_instance_type_offerings();
        call.location_type(LocationType::AvailabilityZone)
            .max_results(OFFERINGS_PER_PAGE)
            .set_next_token(token)
            .send()
    };
    let take = |page: DescribeInstanceTypeOfferingsOutput| {
        for offering in page.instance_type_offerings() {
            if let (Some(name), Some(zone)) = (offering.instance_type(), offering.location()) {
                zones.entry(name.as_str().to_owned()).or_default().insert(zone.to_owned());
            }
        }
        page.next_token
    };
    context.calls.pages(AwsAction::DescribeInstanceTypeOfferings, PAGES_MAX, call, take).await?;
    Ok(zones)
}

fn filter(name: &str, values: &[&str]) -> Filter {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    Filter::builder().name(name).set_values(Some(values)).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_know_what_is_sold_where() {
        let stock = Stock::built_in("eu-west-1").expect("the region is known");
        let zones = &stock.zones["m5.large"];
        assert!(zones.contains("eu-west-1a") && zones.len() > 1, "{zones:?}");
        assert!(stock.shapes.is_sorted_by(|one, other| one.name < other.name));
        assert!(Stock::built_in("moon-1").is_err());
    }
}
