//! Instances and their tags.

use std::collections::BTreeMap;

use aws_config::SdkConfig;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::{Filter, Instance, InstanceStateName, Tag};

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

/// An instance, as a termination handler asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// Its id.
    pub id: String,
    /// Its name inside the network; empty for one that is gone.
    pub private_dns_name: String,
    /// The zone it runs in.
    pub zone: String,
    /// Its type.
    pub instance_type: String,
    /// Whether it runs.
    pub is_running: bool,
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
        let tagged = |instance: &Instance| {
            let id = instance.instance_id()?.to_owned();
            Some(Tagged { id, tags: pairs(instance.tags()) })
        };
        self.instances("instance-id", ids, tagged).await
    }

    /// The same, with where they are and what they are called.
    pub async fn look_up(&self, ids: Vec<String>) -> Result<Vec<Described>> {
        self.instances("instance-id", ids, described).await
    }

    /// Those that have a tag of this key and are not gone.
    pub async fn with_tag(&self, key: &str) -> Result<Vec<Described>> {
        self.instances("tag-key", vec![key.to_owned()], described).await
    }

    async fn instances<T>(
        &self,
        filter: &str,
        values: Vec<String>,
        read: impl Fn(&Instance) -> Option<T>,
    ) -> Result<Vec<T>> {
        const ACTION: &str = "ec2:DescribeInstances";
        let filter = Filter::builder().name(filter).set_values(Some(values)).build();
        let (mut found, mut token) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.client.describe_instances().filters(filter.clone()).max_results(PAGE);
            let answer = call.set_next_token(token).send().await;
            let page = answer.map_err(|error| CallError::new(ACTION, "*", error))?;
            let instances = page.reservations().iter().flat_map(|one| one.instances());
            found.extend(instances.filter_map(&read));
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

fn described(instance: &Instance) -> Option<Described> {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let state = instance.state().and_then(|state| state.name());
    Some(Described {
        id: instance.instance_id()?.to_owned(),
        private_dns_name: text(instance.private_dns_name()),
        zone: text(instance.placement().and_then(|placement| placement.availability_zone())),
        instance_type: text(instance.instance_type().map(|of| of.as_str())),
        is_running: state == Some(&InstanceStateName::Running),
        tags: pairs(instance.tags()),
    })
}

pub(crate) fn pairs(tags: &[Tag]) -> Vec<(String, String)> {
    let pair =
        |tag: &Tag| Some((tag.key()?.to_owned(), tag.value().unwrap_or_default().to_owned()));
    tags.iter().filter_map(pair).collect()
}
