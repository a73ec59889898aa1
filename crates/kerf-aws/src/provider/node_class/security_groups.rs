//! The security groups of a node class.

use std::collections::BTreeMap;

use aws_sdk_ec2::operation::describe_security_groups::DescribeSecurityGroupsOutput;
use kerf_api::ec2_node_class::{SecurityGroup, SecurityGroupSelectorTerm};

use super::part::{PartError, PartResult};
use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::{AwsAction, Result};

/// The most results a page has.
const PAGE: i32 = 500;
/// Pages read for one answer: a region has 2,500 groups unless somebody asks for more.
const PAGES_MAX: usize = 10;

/// The security groups that any term selects, by id.
pub(super) async fn find(
    context: &Context,
    terms: &[SecurityGroupSelectorTerm],
) -> PartResult<Vec<SecurityGroup>> {
    let mut found = BTreeMap::new();
    for filters in queries(terms) {
        let groups = describe(context, &filters).await?;
        found.extend(groups.into_iter().map(|group| (group.id.clone(), group)));
    }
    if found.is_empty() {
        let message = "SecurityGroupSelector did not match any SecurityGroups";
        return Err(PartError::not_ready("SecurityGroupsNotFound", message));
    }
    Ok(found.into_values().collect())
}

/// One call for all ids, one for all names, and one for each term with tags. In one term an id
/// counts more than a name, and a name more than tags.
fn queries(terms: &[SecurityGroupSelectorTerm]) -> Vec<Filters> {
    let (mut ids, mut names, mut by_tags) = (Vec::new(), Vec::new(), Vec::new());
    for term in terms {
        match (&term.id, &term.name, &term.tags) {
            (Some(id), ..) => ids.push(id.clone()),
            (None, Some(name), _) => names.push(name.clone()),
            (None, None, Some(tags)) => by_tags.push(Filters::tags(tags)),
            (None, None, None) => {}
        }
    }
    let mut queries = Vec::new();
    for (name, values) in [("group-id", ids), ("group-name", names)] {
        if !values.is_empty() {
            queries.push(Filters::any_of(name, values));
        }
    }
    queries.extend(by_tags);
    queries
}

async fn describe(context: &Context, filters: &Filters) -> Result<Vec<SecurityGroup>> {
    let mut found = Vec::new();
    let call = |token| {
        let call = context.clients.ec2.describe_security_groups();
        let call = call.set_filters(Some(filters.to_sdk()));
        call.max_results(PAGE).set_next_token(token).send()
    };
    let take = |page: DescribeSecurityGroupsOutput| {
        found.extend(page.security_groups().iter().filter_map(described));
        page.next_token
    };
    context.calls.pages(AwsAction::DescribeSecurityGroups, PAGES_MAX, call, take).await?;
    Ok(found)
}

fn described(group: &aws_sdk_ec2::types::SecurityGroup) -> Option<SecurityGroup> {
    let id = group.group_id()?.to_owned();
    Some(SecurityGroup { id, name: group.group_name().map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_counts_more_than_a_name_and_a_name_more_than_tags() {
        let tags = || Some(BTreeMap::from([("Name".to_owned(), "web".to_owned())]));
        let (id, name) = (Some("sg-1".to_owned()), Some("nodes".to_owned()));
        let terms = [
            SecurityGroupSelectorTerm { id, name: name.clone(), tags: tags() },
            SecurityGroupSelectorTerm { id: None, name, tags: tags() },
            SecurityGroupSelectorTerm { id: None, name: None, tags: tags() },
            SecurityGroupSelectorTerm::default(),
        ];
        let expected = [
            Filters::default().with("group-id", "sg-1"),
            Filters::default().with("group-name", "nodes"),
            Filters::default().with("tag:Name", "web"),
        ];
        assert_eq!(queries(&terms), expected);
    }
}
