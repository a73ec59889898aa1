//! Descriptions of instances by their ids.

use std::collections::HashMap;

use aws_sdk_ec2::operation::describe_instances::DescribeInstancesOutput;
use aws_sdk_ec2::types::Instance as Described;

use super::id_batches::IdCall;
use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::{AwsAction, Result};

/// The most results of one page.
const PAGE: i32 = 1_000;
/// Pages read for one answer: a hundred thousand instances.
const PAGES_MAX: usize = 100;
/// The most values EC2 takes in one filter.
const VALUES_MAX: usize = 200;

/// DescribeInstances by id.
#[derive(Clone, Debug)]
pub(crate) struct DescribeCall(pub(crate) Context);

impl IdCall for DescribeCall {
    type Answer = Described;
    const NAME: &'static str = "describe_instances";

    /// Asked by a filter: the parameter `InstanceIds` fails the whole call for one unknown id.
    async fn call(&self, ids: Vec<String>) -> Result<HashMap<String, Described>> {
        let mut found = HashMap::new();
        for ids in ids.chunks(VALUES_MAX) {
            let described = describe(&self.0, Filters::any_of("instance-id", ids.to_vec())).await?;
            let by_id = |it: Described| Some((it.instance_id()?.to_owned(), it));
            found.extend(described.into_iter().filter_map(by_id));
        }
        Ok(found)
    }
}

/// All instances that pass these filters, page by page.
pub(crate) async fn describe(context: &Context, filters: Filters) -> Result<Vec<Described>> {
    let (filters, mut found) = (filters.to_sdk(), Vec::new());
    let call = |token| {
        let call = context.clients.ec2.describe_instances().set_filters(Some(filters.clone()));
        call.max_results(PAGE).set_next_token(token).send()
    };
    let take = |mut page: DescribeInstancesOutput| {
        for reservation in page.reservations.take().unwrap_or_default() {
            found.extend(reservation.instances.unwrap_or_default());
        }
        page.next_token
    };
    context.calls.pages(AwsAction::DescribeInstances, PAGES_MAX, call, take).await?;
    Ok(found)
}
