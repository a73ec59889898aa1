//! Instances and their tags.

use std::collections::BTreeMap;

use aws_config::SdkConfig;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::{Filter, Tag};

use crate::{CallError, Result};

/// The most results a page of DescribeInstances or DescribeTags has.
const PAGE: i32 = 1_000;

/// Pages read for one answer. Two hundred instances with fifty tags each are ten pages of tags.
const PAGES_MAX: usize = 20;

/// An instance with its tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tagged {
    /// Its id.
    pub id: String,
    /// Keys and values.
    pub tags: Vec<(String, String)>,
}

/// Descriptions of instances.
#[derive(Clone, Debug)]
pub struct Instances {
    client: Client,
}

impl Instances {
    pub(crate) fn new(config: &SdkConfig) -> Self {
        Self { client: Client::new(config) }
    }

    /// Those of the instances that exist, in whatever state, with their tags. Asked by a filter:
    /// the parameter `InstanceIds` fails the whole call for one unknown id.
    pub async fn describe(&self, ids: Vec<String>) -> Result<Vec<Tagged>> {
        const ACTION: &str = "ec2:DescribeInstances";
        let filter = Filter::builder().name("instance-id").set_values(Some(ids)).build();
        let (mut found, mut token) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.client.describe_instances().filters(filter.clone()).max_results(PAGE);
            let answer = call.set_next_token(token).send().await;
            let page = answer.map_err(|error| CallError::new(ACTION, "*", error))?;
            for instance in page.reservations().iter().flat_map(|one| one.instances()) {
                let Some(id) = instance.instance_id() else { continue };
                found.push(Tagged { id: id.to_owned(), tags: pairs(instance.tags()) });
            }
            token = page.next_token().filter(|token| !token.is_empty()).map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        Ok(found)
    }

    /// The tags of those of the resources that have any.
    pub async fn tags(&self, ids: Vec<String>) -> Result<Vec<Tagged>> {
        const ACTION: &str = "ec2:DescribeTags";
        let filter = Filter::builder().name("resource-id").set_values(Some(ids)).build();
        let (mut found, mut token) = (BTreeMap::<String, Vec<_>>::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.client.describe_tags().filters(filter.clone()).max_results(PAGE);
            let answer = call.set_next_token(token).send().await;
            let page = answer.map_err(|error| CallError::new(ACTION, "*", error))?;
            for tag in page.tags() {
                if let (Some(id), Some(key)) = (tag.resource_id(), tag.key()) {
                    let value = tag.value().unwrap_or_default().to_owned();
                    found.entry(id.to_owned()).or_default().push((key.to_owned(), value));
                }
            }
            token = page.next_token().filter(|token| !token.is_empty()).map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        Ok(found.into_iter().map(|(id, tags)| Tagged { id, tags }).collect())
    }
}

pub(crate) fn pairs(tags: &[Tag]) -> Vec<(String, String)> {
    let pair =
        |tag: &Tag| Some((tag.key()?.to_owned(), tag.value().unwrap_or_default().to_owned()));
    tags.iter().filter_map(pair).collect()
}
