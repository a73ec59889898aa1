//! The instances of the cluster.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use aws_sdk_ec2::types::InstanceStateName;
use kerf_engine::event::{Failure, Instance};
use kerf_engine::observed::Name;
use kerf_model::labels::aws::NODE_CLASS;
use kerf_model::labels::well_known::NODE_POOL;

use super::describe::{DescribeCall, describe};
use super::id_batches::IdCall;
use super::instance::{self, read, state};
use super::{CONSISTENT_AFTER, Instances};
use crate::provider::filters::Filters;
use crate::provider::launch::ledger::Remembered;
use crate::provider::tags;

/// The states of instances that are there: all but terminated.
const STATES: [InstanceStateName; 5] = [
    InstanceStateName::Pending,
    InstanceStateName::Running,
    InstanceStateName::Stopping,
    InstanceStateName::Stopped,
    InstanceStateName::ShuttingDown,
];

impl Instances {
    /// The instances of the cluster, those included that were launched a moment ago and that EC2
    /// does not describe yet.
    ///
    /// # Errors
    /// EC2 gave no answer.
    pub(crate) async fn list(&self) -> Result<Vec<Instance>, Failure> {
        let then = Instant::now().checked_sub(CONSISTENT_AFTER);
        let (young, claims) = {
            let ledger = self.batches.ledger();
            (ledger.launched_since(then), claims(&ledger.launched_since(None)))
        };
        let described = describe(&self.context, filters(&self.context.cluster.name)).await?;
        let reserves = self.context.settings.uses_reserved_capacity;
        let mut listed: HashSet<&str> = HashSet::new();
        let mut instances = Vec::with_capacity(described.len());
        for it in &described {
            let id = it.instance_id().unwrap_or_default();
            if listed.insert(id) {
                instances.extend(read(it, claims.get(id), reserves));
            }
        }
        *self.own() = listed.iter().map(|id| (*id).to_owned()).collect();
        let unlisted = young.into_iter().filter(|it| !listed.contains(it.instance.id.as_str()));
        instances.extend(self.unlisted(unlisted.collect()).await?);
        Ok(instances)
    }

    /// Instances that were launched and are not listed: over already, or too young for EC2.
    async fn unlisted(&self, young: Vec<Remembered>) -> Result<Vec<Instance>, Failure> {
        if young.is_empty() {
            return Ok(Vec::new());
        }
        let ids = young.iter().map(|it| it.instance.id.clone()).collect();
        let described = DescribeCall(self.context.clone()).call(ids).await?;
        let reserves = self.context.settings.uses_reserved_capacity;
        let instance = |it: &Remembered| match described.get(&it.instance.id) {
            Some(gone) if state(gone) == Some(&InstanceStateName::Terminated) => {
                self.note_end(&it.instance.id, Some(gone));
                None
            }
            Some(described) => read(described, Some(&it.claim), reserves),
            None => Some(instance::of_launched(&it.instance, &it.claim)),
        };
        Ok(young.iter().filter_map(instance).collect())
    }
}

/// The claims of instances that were launched here, by id.
fn claims(remembered: &[Remembered]) -> HashMap<String, Name> {
    let claim = |it: &Remembered| (it.instance.id.clone(), it.claim.clone());
    remembered.iter().map(claim).collect()
}

fn filters(cluster: &str) -> Filters {
    let states = STATES.iter().map(|state| state.as_str().to_owned()).collect();
    Filters::any_of("instance-state-name", states)
        .with_tag_key(NODE_POOL)
        .with_tag_key(NODE_CLASS)
        .with(&format!("tag:{}", tags::CLUSTER_NAME), cluster)
}
