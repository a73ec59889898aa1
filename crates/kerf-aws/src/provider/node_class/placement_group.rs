//! The placement group of a node class.

use aws_sdk_ec2::types::PlacementStrategy as Sold;
use kerf_api::ec2_node_class::PlacementGroupSelector;
use kerf_catalog::settings::PlacementGroup;
use kerf_catalog::shape::PlacementStrategy;

use super::part::{PartError, PartResult};
use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::{AwsAction, CallError, Result};

/// What the codes of EC2 begin with that say there is no such group.
const NOT_FOUND: &str = "InvalidPlacementGroup";

/// The group that a class names.
pub(super) async fn find(
    context: &Context,
    selector: &PlacementGroupSelector,
) -> PartResult<PlacementGroup> {
    match describe(context, selector).await {
        Ok(Some(group)) => Ok(group),
        Ok(None) => Err(PartError::not_ready("PlacementGroupNotFound", not_found(selector))),
        Err(error) if error.is_transient() => Err(error.into()),
        Err(error) => {
            Err(PartError::not_ready("PlacementGroupResolutionFailed", error.to_string()))
        }
    }
}

fn not_found(selector: &PlacementGroupSelector) -> String {
    let name = selector.id.as_ref().or(selector.name.as_ref()).map_or("", String::as_str);
    format!("spec.placementGroupSelector: there is no placement group {name} that is available")
}

async fn describe(
    context: &Context,
    selector: &PlacementGroupSelector,
) -> Result<Option<PlacementGroup>> {
    let filters = Filters::default().with("state", "available");
    let filters = match (&selector.id, &selector.name) {
        (None, Some(name)) => filters.with("group-name", name),
        _ => filters,
    };
    let call = context.clients.ec2.describe_placement_groups();
    let call = call.set_group_ids(selector.id.clone().map(|id| vec![id]));
    let call = call.set_filters(Some(filters.to_sdk())).send();
    match context.calls.make(AwsAction::DescribePlacementGroups, "*", call).await {
        Ok(answer) => Ok(answer.placement_groups().iter().find_map(described)),
        Err(error) if is_not_found(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_not_found(error: &CallError) -> bool {
    error.code().is_some_and(|code| code.starts_with(NOT_FOUND))
}

fn described(group: &aws_sdk_ec2::types::PlacementGroup) -> Option<PlacementGroup> {
    let strategy = match group.strategy()? {
        Sold::Cluster => PlacementStrategy::Cluster,
        Sold::Partition => PlacementStrategy::Partition,
        Sold::Spread => PlacementStrategy::Spread,
        _ => return None,
    };
    let partitions = match strategy {
        PlacementStrategy::Partition => group.partition_count().unwrap_or(0),
        _ => 0,
    };
    let partitions = u32::try_from(partitions).unwrap_or(0);
    Some(PlacementGroup { id: group.group_id()?.to_owned(), strategy, partitions })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_of_partitions_have_any() {
        let group = |strategy: &str| {
            let group = aws_sdk_ec2::types::PlacementGroup::builder().group_id("pg-1");
            described(&group.strategy(Sold::from(strategy)).partition_count(7).build())
        };
        assert_eq!(group("partition").unwrap().partitions, 7);
        assert_eq!(group("spread").unwrap().partitions, 0);
        assert_eq!(group("heap"), None);
    }
}
