//! A table that says where the queues of clusters are.

use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;

use crate::{CallError, Result};

const KEY: &str = "cluster";
const URL: &str = "queueUrl";

/// Pages read of the whole table: a page is up to 1 MiB, thousands of clusters.
const PAGES_MAX: usize = 10;

/// A DynamoDB table with the key `cluster` and the attribute `queueUrl`.
#[derive(Clone, Debug)]
pub struct ClusterTable {
    client: Client,
    name: String,
}

impl ClusterTable {
    pub(crate) fn new(config: &SdkConfig, name: &str) -> Self {
        Self { client: Client::new(config), name: name.to_owned() }
    }

    /// The queue of a cluster, if the table has one.
    pub async fn queue_url(&self, cluster: &str) -> Result<Option<String>> {
        let call = self.client.get_item().table_name(&self.name);
        let answer = call.key(KEY, AttributeValue::S(cluster.to_owned())).send().await;
        let answer =
            answer.map_err(|error| CallError::new("dynamodb:GetItem", &self.name, error))?;
        Ok(answer.item().and_then(|item| item.get(URL)?.as_s().ok()).cloned())
    }

    /// Every cluster of the table and its queue.
    pub async fn clusters(&self) -> Result<Vec<(String, String)>> {
        let (mut found, mut from) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.client.scan().table_name(&self.name).set_exclusive_start_key(from);
            let answer = call.send().await;
            let page =
                answer.map_err(|error| CallError::new("dynamodb:Scan", &self.name, error))?;
            for item in page.items() {
                let text = |name: &str| item.get(name)?.as_s().ok().cloned();
                found.extend(text(KEY).zip(text(URL)));
            }
            from = page.last_evaluated_key().cloned();
            if from.is_none() {
                break;
            }
        }
        Ok(found)
    }
}
