//! Pools.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_api::FieldError;
use kerf_api::convert::node_pool_to_model;
use kerf_api::node_pool::{NodePool, NodePoolStatus};
use kerf_api::validation::validate_node_pool;
use kerf_engine::observed::{Pool, PoolStatus};
use kerf_model::duration::NillableDuration;
use kerf_model::labels::LabelRules;
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::pool as model;
use kerf_model::resources::ResourceList;

use super::meta::{api_conditions, api_resources, conditions, meta, own_annotations, resources};

/// Reads a pool. One that cannot be understood is there all the same, with its faults, and serves
/// nobody until they are mended; what could not be understood is returned beside it.
pub(crate) fn read(pool: &NodePool, rules: &LabelRules) -> (Pool, Vec<FieldError>) {
    let mut faults: Vec<String> =
        validate_node_pool(&pool.spec, rules).iter().map(ToString::to_string).collect();
    let (spec, problems) = match node_pool_to_model(pool) {
        Ok(spec) => (spec, Vec::new()),
        Err(problems) => (unreadable(pool), problems),
    };
    faults.extend(problems.iter().map(ToString::to_string));
    let pool = Pool {
        meta: meta(&pool.metadata),
        spec: Arc::new(spec),
        annotations: own_annotations(&pool.metadata),
        faults,
        status: pool.status.as_ref().map(status).unwrap_or_default(),
    };
    (pool, problems)
}

/// A pool that serves nobody, with the reasons.
pub(crate) fn unusable(pool: &NodePool, faults: Vec<String>) -> Pool {
    Pool {
        meta: meta(&pool.metadata),
        spec: Arc::new(unreadable(pool)),
        annotations: own_annotations(&pool.metadata),
        faults,
        status: PoolStatus::default(),
    }
}

/// A status as it is stored.
pub(crate) fn api_status(status: &PoolStatus) -> NodePoolStatus {
    NodePoolStatus {
        conditions: Some(api_conditions(&status.conditions)),
        node_class_observed_generation: status.node_class_observed_generation,
        nodes: Some(i64::try_from(status.nodes).unwrap_or(i64::MAX)),
        resources: api_resources(&status.resources),
    }
}

fn status(status: &NodePoolStatus) -> PoolStatus {
    PoolStatus {
        resources: resources(status.resources.as_ref()),
        nodes: status.nodes.and_then(|nodes| u64::try_from(nodes).ok()).unwrap_or_default(),
        node_class_observed_generation: status.node_class_observed_generation,
        conditions: conditions(status.conditions.as_ref()),
    }
}

/// A pool that makes no nodes and takes none away.
fn unreadable(pool: &NodePool) -> model::NodePool {
    let class = &pool.spec.template.spec.node_class_ref;
    let node_class = NodeClassRef {
        group: class.group.clone(),
        kind: class.kind.clone(),
        name: class.name.clone(),
    };
    model::NodePool {
        name: pool.metadata.name.clone().unwrap_or_default(),
        weight: 0,
        sizing: model::Sizing::Dynamic,
        limits: ResourceList::new(),
        disruption: model::Disruption {
            policy: model::ConsolidationPolicy::WhenEmpty,
            consolidate_after: NillableDuration::NEVER,
            budgets: Default::default(),
        },
        template: model::NodeTemplate {
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            spec: NodeSpec {
                requirements: Vec::new(),
                taints: Vec::new(),
                startup_taints: Vec::new(),
                node_class,
                termination_grace: None,
                expire_after: NillableDuration::NEVER,
            },
        },
        hash: kerf_api::node_pool_hash(&pool.spec.template),
    }
}
