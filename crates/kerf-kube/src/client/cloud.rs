//! What a cloud must be able to do. AWS, kwok and others are implementations, none special.

use std::future::Future;
use std::sync::Arc;

use kerf_engine::event::{Failure, Instance};
use kerf_engine::observed::{Claim, Name, Pool, ShiftedZone};
use kerf_model::duration::GoDuration;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kube::api::ApiResource;
use tokio::sync::watch;

/// A cloud.
pub trait Cloud: Send + Sync + 'static {
    /// Its name, as metrics carry it.
    fn name(&self) -> &'static str;

    /// The kinds of node classes it understands; the first is the default.
    fn node_classes(&self) -> Vec<ApiResource>;

    /// Which labels may be used with it.
    fn label_rules(&self) -> LabelRules;

    /// The drain limit of claims whose pool sets none, where this cloud wants one.
    fn termination_grace_default(&self) -> Option<GoDuration> {
        None
    }

    /// What the nodes of a pool can be made of, whether available now or not.
    fn instance_types(
        &self,
        pool: &Pool,
    ) -> impl Future<Output = Result<Arc<[InstanceType]>, Failure>> + Send;

    /// Comes when what pools are offered has changed since this was called, so that they are asked
    /// about anew at once.
    fn instance_types_changed(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// The zones the cluster is shifted away from, as they change, where this cloud is told of it.
    fn shifted_zones(&self) -> Option<watch::Receiver<Vec<ShiftedZone>>> {
        None
    }

    /// Launches an instance for a claim, or finds the one launched before: at most one ever for the
    /// claim's uid.
    fn launch(&self, claim: &Claim) -> impl Future<Output = Result<Instance, Failure>> + Send;

    /// Asks for the end of a claim's instance; without an id, of whatever was launched for it.
    fn terminate(
        &self,
        claim: &Name,
        provider_id: Option<&str>,
    ) -> impl Future<Output = Result<Ending, Failure>> + Send;

    /// The instances that belong to this cluster.
    fn instances(&self) -> impl Future<Output = Result<Vec<Instance>, Failure>> + Send;
}

/// No cloud, for roles that launch nothing: no node classes, no instances.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCloud;

impl Cloud for NoCloud {
    fn name(&self) -> &'static str {
        "none"
    }

    fn node_classes(&self) -> Vec<ApiResource> {
        Vec::new()
    }

    fn label_rules(&self) -> LabelRules {
        LabelRules::core()
    }

    async fn instance_types(&self, _: &Pool) -> Result<Arc<[InstanceType]>, Failure> {
        Ok(Arc::default())
    }

    async fn launch(&self, _: &Claim) -> Result<Instance, Failure> {
        Err(Failure::InsufficientCapacity { message: "there is no cloud".to_owned() })
    }

    async fn terminate(&self, _: &Name, _: Option<&str>) -> Result<Ending, Failure> {
        Ok(Ending::Gone)
    }

    async fn instances(&self) -> Result<Vec<Instance>, Failure> {
        Ok(Vec::new())
    }
}

/// How far the end of an instance has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is on its way out.
    Begun,
    /// There is none (any more).
    Gone,
}
