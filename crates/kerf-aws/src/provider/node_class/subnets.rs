//! The subnets of a node class.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use aws_sdk_ec2::operation::describe_subnets::DescribeSubnetsOutput;
use kerf_api::ec2_node_class::{Subnet, SubnetSelectorTerm};

use super::part::{PartError, PartResult};
use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::{AwsAction, Result};

/// The most results a page has.
const PAGE: i32 = 500;
/// Pages read for one answer: a network has two hundred subnets unless somebody asks for more.
const PAGES_MAX: usize = 10;

/// A subnet with what changes by the minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundSubnet {
    pub(super) subnet: Subnet,
    /// Addresses that nobody has.
    pub(super) free: u32,
}

/// The subnets that any term selects, the one with most free addresses first.
pub(super) async fn find(
    context: &Context,
    terms: &[SubnetSelectorTerm],
) -> PartResult<Vec<FoundSubnet>> {
    let mut found = BTreeMap::new();
    for filters in queries(terms) {
        let subnets = describe(context, &filters).await?;
        found.extend(subnets.into_iter().map(|it| (it.subnet.id.clone(), it)));
    }
    if found.is_empty() {
        let message = "SubnetSelector did not match any Subnets";
        return Err(PartError::not_ready("SubnetsNotFound", message));
    }
    let mut found: Vec<FoundSubnet> = found.into_values().collect();
    found.sort_by_key(|it| Reverse(it.free));
    Ok(found)
}

/// One call for all ids and one for each term with tags. An id counts more than tags beside it.
fn queries(terms: &[SubnetSelectorTerm]) -> Vec<Filters> {
    let ids: Vec<String> = terms.iter().filter_map(|term| term.id.clone()).collect();
    let by_id = (!ids.is_empty()).then(|| Filters::any_of("subnet-id", ids));
    let by_tags = terms.iter().filter(|term| term.id.is_none());
    let by_tags = by_tags.filter_map(|term| term.tags.as_ref()).map(Filters::tags);
    by_id.into_iter().chain(by_tags).collect()
}

async fn describe(context: &Context, filters: &Filters) -> Result<Vec<FoundSubnet>> {
    let mut found = Vec::new();
    let call = |token| {
        let call = context.clients.ec2.describe_subnets().set_filters(Some(filters.to_sdk()));
        call.max_results(PAGE).set_next_token(token).send()
    };
    let take = |page: DescribeSubnetsOutput| {
        found.extend(page.subnets().iter().filter_map(described));
        page.next_token
    };
    context.calls.pages(AwsAction::DescribeSubnets, PAGES_MAX, call, take).await?;
    Ok(found)
}

fn described(subnet: &aws_sdk_ec2::types::Subnet) -> Option<FoundSubnet> {
    let free = subnet.available_ip_address_count().unwrap_or(0);
    let zone_id = subnet.availability_zone_id().filter(|id| !id.is_empty());
    Some(FoundSubnet {
        subnet: Subnet {
            id: subnet.subnet_id()?.to_owned(),
            zone: subnet.availability_zone()?.to_owned(),
            zone_id: zone_id.map(str::to_owned),
        },
        free: u32::try_from(free).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_asked_for_at_once_and_count_more_than_tags_beside_them() {
        let tags = || Some(BTreeMap::from([("Name".to_owned(), "web".to_owned())]));
        let terms = [
            SubnetSelectorTerm { id: Some("subnet-1".to_owned()), tags: tags() },
            SubnetSelectorTerm { id: None, tags: tags() },
            SubnetSelectorTerm { id: Some("subnet-2".to_owned()), tags: None },
        ];
        let ids = vec!["subnet-1".to_owned(), "subnet-2".to_owned()];
        let tagged = Filters::default().with("tag:Name", "web");
        assert_eq!(queries(&terms), [Filters::any_of("subnet-id", ids), tagged]);
    }
}
