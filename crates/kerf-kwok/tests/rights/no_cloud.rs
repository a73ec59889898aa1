//! A cloud that needs no rights in Kubernetes.

use std::sync::Arc;

use kerf_engine::event::{Failure, Instance};
use kerf_engine::observed::{Claim, Name, Pool};
use kerf_kube::{Cloud, Ending};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kube::api::ApiResource;

pub(crate) struct NoCloud;

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
