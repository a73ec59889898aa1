//! Carries out what the engine asks for, each as one call that changes nothing when it comes too
//! late.

use std::sync::Arc;

use kerf_engine::event::{Failure, Outcome};
use kerf_engine::zonal_shift::{
    ArcReading, ShiftCall, ShiftInput, ShiftKind, ShiftNetwork, StoredShifts,
};
use kerf_kube::Pace;
use kerf_notices::zonal_shift::{
    ArcReplies, CopyEdit, Listing, NODE_BATCH, NODE_BATCHES_IN_PARALLEL, Origin, PoolKey, Step,
    ZoneId, ZoneName, ZoneTable,
};
use kube::Client;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions,
};
use serde_json::Value;
use tokio::sync::Semaphore;
use tracing::debug;

use crate::api_call::{ApiFailure, call};
use crate::daemon::Settings;
use crate::daemon::account::Account;
use crate::daemon::complaints::{Complaints, Kind};
use crate::daemon::reconcile_loop::Tools;
use crate::daemon::watches::Keeps;
use crate::kinds;
use crate::state_store::{StateStore, StoreError};

/// The name under which changes stand in an object's managed fields.
const FIELD_MANAGER: &str = "kerf-zonal-autoshift";

/// Objects written at once: batches of five, twenty side by side.
const WRITES_AT_ONCE: usize = NODE_BATCH * NODE_BATCHES_IN_PARALLEL;

/// The origins ARC knows of; when it lists all of them, age need not end a shift.
const ARC_ORIGINS: [Origin; 4] = [Origin::Autoshift, Origin::Fis, Origin::Manual, Origin::Practice];

/// What came of a call.
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    /// Whether somebody else wrote the state, so that it must be read again.
    pub(crate) is_state_outdated: bool,
}

/// Makes calls to the API server and to AWS.
#[derive(Clone)]
pub(crate) struct Executor {
    settings: Settings,
    client: Client,
    account: Account,
    store: StateStore,
    pace: Pace,
    complaints: Complaints,
    writes: Arc<Semaphore>,
}

impl Executor {
    pub(crate) fn new(tools: &Tools, store: StateStore) -> Self {
        Self {
            settings: tools.settings.clone(),
            client: tools.client.clone(),
            account: tools.account.clone(),
            store,
            pace: tools.pace.clone(),
            complaints: tools.complaints.clone(),
            writes: Arc::new(Semaphore::new(WRITES_AT_ONCE)),
        }
    }

    /// The stand-in a call deletes, whose identity has to be known.
    pub(crate) fn deleted_pool(call: &ShiftCall) -> Option<&PoolKey> {
        let ShiftCall::Apply(step) = call else { return None };
        match &**step {
            Step::Copy(CopyEdit::Delete { pool }) => Some(pool),
            _ => None,
        }
    }

    /// Makes a call. `pools` are the kinds that are served, `uid` the identity of a stand-in that
    /// goes.
    pub(crate) async fn carry_out(
        self,
        call: ShiftCall,
        pools: Vec<ApiResource>,
        uid: Option<String>,
    ) -> Answer {
        let outcome = match call {
            ShiftCall::Store { shifts, .. } => return self.store(*shifts).await,
            ShiftCall::DescribeNetwork => known(ShiftInput::Network(self.network().await)),
            ShiftCall::ListShifts { cluster_arn } => {
                known(ShiftInput::Arc(self.arc(cluster_arn.as_deref()).await))
            }
            ShiftCall::Apply(step) => {
                let _turn = self.writes.acquire().await;
                self.pace.turn().await;
                let writer = Writer { client: &self.client, pools: &pools };
                let written = writer.write(&step, uid).await;
                self.applied(&step, written)
            }
        };
        Answer { outcome, is_state_outdated: false }
    }

    async fn store(&self, shifts: StoredShifts) -> Answer {
        let written = self.store.write(&shifts).await;
        let is_state_outdated = written.as_ref().is_err_and(StoreError::is_conflict);
        let outcome = match written {
            Ok(stored) => {
                self.complaints.settle("state");
                known(ShiftInput::Stored(stored))
            }
            Err(_) if is_state_outdated => Outcome::Failed(Failure::Conflict),
            Err(error) => {
                self.complain_of_state(&error);
                unavailable(error.to_string())
            }
        };
        Answer { outcome, is_state_outdated }
    }

    pub(crate) fn complain_of_state(&self, error: &StoreError) {
        let is_denied = matches!(error, StoreError::Newer { .. })
            || matches!(error, StoreError::Call { failure: ApiFailure::Denied(_), .. });
        let kind = if is_denied { Kind::Denied } else { Kind::Failing };
        self.complaints.complain("state", kind, error.to_string());
    }

    async fn network(&self) -> ShiftNetwork {
        let zones = self.account.zones(&self.complaints).await;
        let cluster = self.account.cluster(&self.settings.cluster_name, &self.complaints).await;
        let vpc_id = cluster.as_ref().and_then(|cluster| cluster.vpc_id.clone());
        let subnets = match &vpc_id {
            Some(vpc_id) => self.account.subnets(vpc_id, &self.complaints).await,
            None => None,
        };
        let table = |pairs: Vec<(String, String)>| {
            let mut table = ZoneTable::default();
            for (id, name) in &pairs {
                table.learn(&ZoneId::new(id), &ZoneName::new(name));
            }
            table
        };
        let cluster_arn = cluster.map(|cluster| cluster.arn);
        ShiftNetwork { zones: zones.map(table), cluster_arn, vpc_id, subnets }
    }

    async fn arc(&self, cluster_arn: Option<&str>) -> ArcReading {
        let answers = self.account.arc(cluster_arn, &self.complaints).await;
        let replies = ArcReplies {
            managed_resource: answers.managed_resource.as_ref(),
            zonal_shifts: answers.zonal_shifts.as_deref(),
            autoshifts: answers.autoshifts.as_deref(),
        };
        let listing = Listing::read(replies, &self.settings.matching);
        let is_complete = ARC_ORIGINS.iter().all(|origin| listing.complete_for.contains(origin));
        ArcReading { listing, is_complete, is_denied: answers.is_denied }
    }

    fn applied(&self, step: &Step, written: Result<ShiftInput, ApiFailure>) -> Outcome {
        let what = what(step);
        match written {
            Ok(input) => {
                self.complaints.settle(what);
                known(input)
            }
            // The watch tells what it is like now, and the next plan sees to it.
            Err(failure @ (ApiFailure::Conflict | ApiFailure::NotFound)) => {
                debug!(what, %failure, "too late");
                match failure {
                    ApiFailure::NotFound => Outcome::NotFound,
                    _ => Outcome::Failed(Failure::Conflict),
                }
            }
            Err(failure) => {
                let is_denied = matches!(failure, ApiFailure::Denied(_));
                let kind = if is_denied { Kind::Denied } else { Kind::Failing };
                self.complaints.complain(what, kind, failure.to_string());
                unavailable(failure.to_string())
            }
        }
    }
}

/// Writes to the API server.
struct Writer<'a> {
    client: &'a Client,
    pools: &'a [ApiResource],
}

impl Writer<'_> {
    async fn write(&self, step: &Step, uid: Option<String>) -> Result<ShiftInput, ApiFailure> {
        match step {
            Step::Node(edit) => {
                let resource = kinds::nodes();
                let api = Api::<DynamicObject>::all_with(self.client.clone(), &resource);
                let patch = Patch::Merge(edit.merge_patch());
                let object = call(api.patch(&edit.node, &params(), &patch)).await?;
                Ok(seen(ShiftKind::Node, object, &resource))
            }
            Step::Pool(edit) => {
                let resource = self.pool_kind(&edit.pool.api_version, &edit.pool.kind)?;
                let patch = Patch::Merge(edit.merge_patch());
                let api = self.api(resource);
                let object = call(api.patch(&edit.pool.name, &params(), &patch)).await?;
                Ok(seen_pool(object, resource))
            }
            Step::Copy(CopyEdit::Create { object }) => {
                let (resource, object) = self.pool_of(object)?;
                let api = self.api(resource);
                let object = call(api.create(&PostParams::default(), &object)).await?;
                Ok(seen_pool(object, resource))
            }
            Step::Copy(CopyEdit::Replace { object, .. }) => {
                let (resource, object) = self.pool_of(object)?;
                let name = object.metadata.name.clone().unwrap_or_default();
                let api = self.api(resource);
                let object = call(api.replace(&name, &PostParams::default(), &object)).await?;
                Ok(seen_pool(object, resource))
            }
            Step::Copy(CopyEdit::Delete { pool }) => self.delete(pool, uid).await,
        }
    }

    async fn delete(&self, pool: &PoolKey, uid: Option<String>) -> Result<ShiftInput, ApiFailure> {
        let preconditions = Preconditions { uid, resource_version: None };
        let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
        let resource = self.pool_kind(&pool.api_version, &pool.kind)?;
        match call(self.api(resource).delete(&pool.name, &params)).await {
            Ok(_) | Err(ApiFailure::NotFound) => {
                let kind = ShiftKind::Pool(pool.kind.clone());
                Ok(ShiftInput::Gone { kind, name: pool.name.clone() })
            }
            Err(failure) => Err(failure),
        }
    }

    fn api(&self, resource: &ApiResource) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), resource)
    }

    fn pool_of(&self, object: &Value) -> Result<(&ApiResource, DynamicObject), ApiFailure> {
        let object: DynamicObject = serde_json::from_value(object.clone())
            .map_err(|error| ApiFailure::Refused(error.to_string()))?;
        let types = object.types.clone().unwrap_or_default();
        Ok((self.pool_kind(&types.api_version, &types.kind)?, object))
    }

    fn pool_kind(&self, api_version: &str, kind: &str) -> Result<&ApiResource, ApiFailure> {
        let is_it = |one: &&ApiResource| one.api_version == api_version && one.kind == kind;
        self.pools.iter().find(is_it).ok_or(ApiFailure::NotFound)
    }
}

/// What a step is complained of as: a missing permission is one message, not one for each object.
fn what(step: &Step) -> &'static str {
    match step {
        Step::Node(_) => "changing nodes",
        Step::Pool(_) => "changing pools",
        Step::Copy(_) => "changing stand-ins of pools",
    }
}

fn seen_pool(object: DynamicObject, resource: &ApiResource) -> ShiftInput {
    seen(ShiftKind::Pool(resource.kind.clone()), object, resource)
}

fn seen(kind: ShiftKind, object: DynamicObject, resource: &ApiResource) -> ShiftInput {
    let object = Keeps::of(&kind).kept(object, resource);
    ShiftInput::Seen { kind, object }
}

fn known(input: ShiftInput) -> Outcome {
    Outcome::ZonalShift(Box::new(input))
}

fn unavailable(message: String) -> Outcome {
    Outcome::Failed(Failure::Unavailable { message })
}

fn params() -> PatchParams {
    PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() }
}
