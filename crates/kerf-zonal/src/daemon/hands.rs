//! Carrying out the steps of a plan, each as one call that changes nothing when it comes too late.

use futures_util::{FutureExt, StreamExt, stream};
use kerf_kube::Pace;
use kerf_notices::zonal_shift::{
    CopyEdit, NODE_BATCH, NODE_BATCHES_IN_PARALLEL, NodeEdit, PoolEdit, Step,
};
use kube::Client;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions,
};
use serde_json::Value;

use crate::api_call::{ApiFailure, call};
use crate::daemon::mirrors::Mirrors;
use crate::kinds;

/// The name under which changes stand in an object's managed fields.
const FIELD_MANAGER: &str = "kerf-zonal-autoshift";

/// The nodes written at once: batches of five, twenty side by side.
const NODES_AT_ONCE: usize = NODE_BATCH * NODE_BATCHES_IN_PARALLEL;

/// What came of a step.
#[derive(Debug)]
pub(crate) struct Done<'a> {
    pub(crate) step: &'a Step,
    /// The object as it is now, if there is one.
    pub(crate) result: Result<Option<DynamicObject>, ApiFailure>,
}

/// Writes to the API server.
#[derive(Clone)]
pub(crate) struct Hands {
    client: Client,
    pace: Pace,
    pools: Vec<ApiResource>,
}

impl Hands {
    /// Hands that write these kinds of pools, no faster than the pace allows.
    pub(crate) fn new(client: Client, pace: Pace, pools: Vec<ApiResource>) -> Self {
        Self { client, pace, pools }
    }

    /// Carries out all steps in their order. Nodes that follow each other are written side by side;
    /// a step that fails stops no other.
    pub(crate) async fn carry_out<'a>(
        &self,
        steps: &'a [Step],
        mirrors: &Mirrors,
    ) -> Vec<Done<'a>> {
        let is_node = |step: &Step| matches!(step, Step::Node(_));
        let mut done = Vec::with_capacity(steps.len());
        for run in steps.chunk_by(|one, next| is_node(one) == is_node(next)) {
            let at_once = if run.first().is_some_and(is_node) { NODES_AT_ONCE } else { 1 };
            let calls: Vec<_> = run.iter().map(|step| self.do_one(step, mirrors).boxed()).collect();
            done.extend(stream::iter(calls).buffered(at_once).collect::<Vec<_>>().await);
        }
        done
    }

    async fn do_one<'a>(&self, step: &'a Step, mirrors: &Mirrors) -> Done<'a> {
        self.pace.turn().await;
        Done { step, result: self.write(step, mirrors).await }
    }

    async fn write(
        &self,
        step: &Step,
        mirrors: &Mirrors,
    ) -> Result<Option<DynamicObject>, ApiFailure> {
        match step {
            Step::Node(edit) => self.edit_node(edit).await.map(Some),
            Step::Pool(edit) => self.edit_pool(edit).await.map(Some),
            Step::Copy(CopyEdit::Create { object }) => {
                let (api, object) = self.pool_of(object)?;
                call(api.create(&PostParams::default(), &object)).await.map(Some)
            }
            Step::Copy(CopyEdit::Replace { object, .. }) => {
                let (api, object) = self.pool_of(object)?;
                let name = object.metadata.name.clone().unwrap_or_default();
                call(api.replace(&name, &PostParams::default(), &object)).await.map(Some)
            }
            Step::Copy(CopyEdit::Delete { pool }) => {
                let preconditions =
                    Preconditions { uid: mirrors.uid_of(pool), resource_version: None };
                let params =
                    DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
                let api = self.pools(&pool.api_version, &pool.kind)?;
                match call(api.delete(&pool.name, &params)).await {
                    Ok(_) | Err(ApiFailure::NotFound) => Ok(None),
                    Err(failure) => Err(failure),
                }
            }
        }
    }

    async fn edit_pool(&self, edit: &PoolEdit) -> Result<DynamicObject, ApiFailure> {
        let api = self.pools(&edit.pool.api_version, &edit.pool.kind)?;
        let patch = Patch::Merge(edit.merge_patch());
        call(api.patch(&edit.pool.name, &params(), &patch)).await
    }

    async fn edit_node(&self, edit: &NodeEdit) -> Result<DynamicObject, ApiFailure> {
        let api = Api::<DynamicObject>::all_with(self.client.clone(), &kinds::nodes());
        call(api.patch(&edit.node, &params(), &Patch::Merge(edit.merge_patch()))).await
    }

    fn pool_of(&self, object: &Value) -> Result<(Api<DynamicObject>, DynamicObject), ApiFailure> {
        let object: DynamicObject = serde_json::from_value(object.clone())
            .map_err(|error| ApiFailure::Refused(error.to_string()))?;
        let types = object.types.clone().unwrap_or_default();
        Ok((self.pools(&types.api_version, &types.kind)?, object))
    }

    fn pools(&self, api_version: &str, kind: &str) -> Result<Api<DynamicObject>, ApiFailure> {
        let is_it = |one: &&ApiResource| one.api_version == api_version && one.kind == kind;
        let kind = self.pools.iter().find(is_it).ok_or(ApiFailure::NotFound)?;
        Ok(Api::all_with(self.client.clone(), kind))
    }
}

fn params() -> PatchParams {
    PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() }
}
