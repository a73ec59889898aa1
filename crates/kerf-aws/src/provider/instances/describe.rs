//! Descriptions of instances by their ids.

use std::collections::HashMap;

use aws_sdk_ec2::types::{Filter, Instance as Described};

use super::id_batches::IdCall;
use crate::provider::context::Context;
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
            let described = describe(&self.0, vec![filter("instance-id", ids.to_vec())]).await?;
            let by_id = |it: Described| Some((it.instance_id()?.to_owned(), it));
            found.extend(described.into_iter().filter_map(by_id));
        }
        Ok(found)
    }
}

/// All instances that pass these filters, page by page.
pub(crate) async fn describe(context: &Context, filters: Vec<Filter>) -> Result<Vec<Described>> {
    let (mut found, mut token) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let call = context.clients.ec2.describe_instances().set_filters(Some(filters.clone()));
        let call = call.max_results(PAGE).set_next_token(token).send();
        let mut page = context.calls.make(AwsAction::DescribeInstances, "*", call).await?;
        for reservation in page.reservations.take().unwrap_or_default() {
            found.extend(reservation.instances.unwrap_or_default());
        }
        token = page.next_token.filter(|token| !token.is_empty());
        if token.is_none() {
            break;
        }
    }
    Ok(found)
}

/// A filter: one of these values.
pub(crate) fn filter(name: &str, values: Vec<String>) -> Filter {
    Filter::builder().name(name).set_values(Some(values)).build()
}
