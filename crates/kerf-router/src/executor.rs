//! Carries out what a batch asks for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kerf_aws::{CallError, ClusterTable, Queues, Session, Tagged};
use kerf_notices::message::InstanceId;
use kerf_notices::routing::{
    Batch, CallFailure, Discovery, EntryId, EntryOutcome, FoundQueue, Lookup, QueueQuery, Scope,
    SendBatch, TaggedInstance, Via,
};

use crate::tagged_queues::{CLUSTER_TAG, TaggedQueues};

/// The longest that clusters are searched for in one go.
const SEARCH_TIME: Duration = Duration::from_secs(45);

/// Sessions kept for other accounts and regions; beyond that they are made anew each time.
const SESSIONS_MAX: usize = 256;

/// What the executor needs to know beside the routing settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorSettings {
    /// The table of clusters, if there is one.
    pub table: Option<String>,
    /// The role to assume in other accounts, if any.
    pub account_role: Option<String>,
    /// What that role asks for, if anything.
    pub external_id: Option<String>,
    /// Whether a queue that is found by its name must be tagged as the cluster's.
    pub require_queue_tag: bool,
    /// The router's own account and region.
    pub home: Scope,
}

impl ExecutorSettings {
    /// Reads them by name, as the environment gives them.
    pub fn from_lookup(get: impl Fn(&str) -> Option<String>, home: Scope) -> Self {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        Self {
            table: get("CLUSTER_TABLE"),
            account_role: get("ACCOUNT_ROLE_NAME"),
            external_id: get("ACCOUNT_EXTERNAL_ID"),
            require_queue_tag: get("REQUIRE_QUEUE_TAG").as_deref() != Some("false"),
            home,
        }
    }
}

impl Default for ExecutorSettings {
    fn default() -> Self {
        Self::from_lookup(|_| None, Scope::default())
    }
}

/// Calls AWS for a batch.
#[derive(Debug)]
pub struct Executor {
    home: Session,
    queues: Queues,
    tagged: TaggedQueues,
    table: Option<ClusterTable>,
    settings: ExecutorSettings,
    elsewhere: Mutex<BTreeMap<Scope, Session>>,
}

impl Executor {
    /// Makes the clients once; nothing is called yet.
    pub fn new(session: Session, settings: ExecutorSettings) -> Self {
        let table = settings.table.as_deref().map(|name| session.cluster_table(name));
        let queues = session.queues();
        let tagged = TaggedQueues::new(queues.clone());
        let elsewhere = Mutex::new(BTreeMap::new());
        Self { home: session, queues, tagged, table, settings, elsewhere }
    }

    /// Looks instances up the way a lookup says.
    pub(crate) async fn look_up(
        &self,
        lookup: &Lookup,
    ) -> Result<Vec<TaggedInstance>, CallFailure> {
        let instances = self.session(&lookup.scope).await.instances();
        let ids = lookup.ids.iter().map(InstanceId::to_string).collect();
        let answer = match lookup.via {
            Via::Instances | Via::Single => instances.describe(ids).await,
            Via::Tags => instances.tags(ids).await,
        };
        let tagged =
            |one: Tagged| Some(TaggedInstance { id: one.id.parse().ok()?, tags: one.tags });
        Ok(answer.map_err(failure)?.into_iter().filter_map(tagged).collect())
    }

    /// The session for an account and region.
    async fn session(&self, scope: &Arc<Scope>) -> Session {
        let home = &self.settings.home;
        let same_account = scope.account.is_empty() || scope.account == home.account;
        let same_region =
            scope.region.is_empty() || Some(scope.region.as_str()) == self.home.region();
        if (same_account || self.settings.account_role.is_none()) && same_region {
            return self.home.clone();
        }
        let known = self.elsewhere.lock().expect("no holder panics").get(scope.as_ref()).cloned();
        if let Some(known) = known {
            return known;
        }
        let mut session = self.home.clone();
        if !same_region {
            session = session.in_region(&scope.region);
        }
        if let (false, Some(role)) = (same_account, &self.settings.account_role) {
            let partition = partition(&scope.region);
            let arn = format!("arn:{partition}:iam::{}:role/{role}", scope.account);
            session = session.assume(&arn, self.settings.external_id.as_deref()).await;
        }
        let mut elsewhere = self.elsewhere.lock().expect("no holder panics");
        if elsewhere.len() < SESSIONS_MAX {
            elsewhere.insert(scope.as_ref().clone(), session.clone());
        }
        session
    }

    /// Finds the queue of a cluster.
    pub(crate) async fn find(&self, query: &QueueQuery) -> Result<FoundQueue, CallFailure> {
        match (query, &self.table) {
            (QueueQuery::Named { cluster, name }, _) => {
                self.named(name, &cluster.name).await.map_err(failure)
            }
            (QueueQuery::Table { cluster }, Some(table)) => {
                table.queue_url(&cluster.name).await.map(FoundQueue::from).map_err(failure)
            }
            (QueueQuery::Table { .. }, None) => Ok(FoundQueue::Missing),
        }
    }

    async fn named(&self, name: &str, cluster: &str) -> Result<FoundQueue, CallError> {
        let Some(url) = self.queues.url(name).await? else { return Ok(FoundQueue::Missing) };
        if !self.settings.require_queue_tag {
            return Ok(FoundQueue::At(url));
        }
        let owner = self.queues.tag(&url, CLUSTER_TAG).await?;
        let is_own = owner.as_deref() == Some(cluster);
        Ok(if is_own { FoundQueue::At(url) } else { FoundQueue::NotTagged })
    }

    /// Finds the clusters there are, within [`SEARCH_TIME`].
    pub(crate) async fn discover(
        &self,
        how: Discovery,
    ) -> Result<Vec<(String, String)>, CallFailure> {
        let search = async {
            match (how, &self.table) {
                (Discovery::Tags, _) => self.tagged.find().await.map_err(failure),
                (Discovery::Table, Some(table)) => table.clusters().await.map_err(failure),
                (Discovery::Table, None) => Ok(Vec::new()),
            }
        };
        let took_too_long = |_| CallFailure::Unavailable("the search took too long".to_owned());
        tokio::time::timeout(SEARCH_TIME, search).await.map_err(took_too_long)?
    }

    /// Sends one batch.
    pub(crate) async fn send(
        &self,
        batch: &Batch,
        send: &SendBatch,
    ) -> Result<Vec<(EntryId, EntryOutcome)>, CallFailure> {
        let message = |id: &EntryId| {
            let outgoing = batch.outgoing(*id)?;
            let mut attributes =
                vec![("kerf-router", "1".to_owned()), ("event-source", outgoing.source.to_owned())];
            attributes.extend(outgoing.event_id.map(|id| ("event-id", id.to_string())));
            Some((outgoing.body.to_owned(), attributes))
        };
        let messages = send.entries.iter().filter_map(message).collect();
        let refusals = self.queues.send(&send.queue, messages).await.map_err(failure)?;
        let outcome = |(index, id): (usize, &EntryId)| {
            let refusal = refusals.iter().find(|refusal| refusal.index == index);
            let outcome = refusal.map_or(EntryOutcome::Accepted, |refusal| EntryOutcome::Failed {
                sender_fault: refusal.sender_fault,
                why: refusal.why.clone(),
            });
            (*id, outcome)
        };
        Ok(send.entries.iter().enumerate().map(outcome).collect())
    }
}

/// The partition of a region: ARNs outside the commercial regions begin differently.
fn partition(region: &str) -> &'static str {
    if region.starts_with("cn-") {
        "aws-cn"
    } else if region.starts_with("us-gov-") {
        "aws-us-gov"
    } else {
        "aws"
    }
}

fn failure(error: CallError) -> CallFailure {
    match error {
        CallError::Throttled { retry_after, .. } => {
            let retry_after_ms = retry_after.unwrap_or_default().as_millis();
            CallFailure::Throttled {
                retry_after_ms: u64::try_from(retry_after_ms).unwrap_or(u64::MAX),
            }
        }
        CallError::Credentials { .. } => CallFailure::Credentials(error.to_string()),
        CallError::Denied { .. } => CallFailure::Denied(error.to_string()),
        CallError::NoSuchQueue { .. } => CallFailure::NoQueue,
        CallError::Unavailable { .. } => CallFailure::Unavailable(error.to_string()),
        CallError::Refused { .. } => CallFailure::Refused(error.to_string()),
    }
}
