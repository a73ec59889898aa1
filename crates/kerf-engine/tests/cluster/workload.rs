//! Pods that wait, pools that can serve them, and the instances to do it with.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::action::{Action, ActionKind, NewClaim};
use kerf_engine::condition::{Condition, READY, Status};
use kerf_engine::event::{Event, Instance, Object, Outcome};
use kerf_engine::observed::{Claim, Name, Pod, PodKey, PodPhase, Pool};
use kerf_engine::time::Time;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, ON_DEMAND, ZONE};
use kerf_model::pod::PodShape;
use kerf_model::pool::NodePool;
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;
use kerf_scheduler::{CancelFlag, PlacementProblem};

use super::{Cluster, START, meta, pod, pod_key, pool};

/// Name, CPUs and price in micro-dollars of the instances there are.
const MACHINES: [(&str, i64, u64); 3] =
    [("m-2x", 2, 100_000), ("m-4x", 4, 200_000), ("m-8x", 8, 400_000)];
const ZONES: [&str; 2] = ["zone-a", "zone-b"];

/// A pool that is ready to get nodes.
pub(crate) fn ready_pool(name: &str, change: impl FnOnce(&mut NodePool)) -> Pool {
    let mut pool = pool(name);
    let mut spec = (*pool.spec).clone();
    change(&mut spec);
    pool.spec = Arc::new(spec);
    pool.status.conditions.0.push(Condition {
        kind: READY.to_owned(),
        status: Status::True,
        reason: READY.to_owned(),
        message: String::new(),
        changed_at: START,
        observed_generation: 1,
    });
    pool
}

/// The instances every pool can be made of.
pub(crate) fn instances() -> Arc<[InstanceType]> {
    let entry = |key: &str, value: &str| RequirementEntry::new(key, Operator::In, [value]);
    let instance = |(name, cpu, micros): (&str, i64, u64)| InstanceType {
        name: name.to_owned(),
        requirements: [
            entry(INSTANCE_TYPE, name),
            RequirementEntry::new(ZONE, Operator::In, ZONES),
            entry(CAPACITY_TYPE, ON_DEMAND),
        ]
        .into(),
        capacity: amounts(cpu).into(),
        overhead: Arc::default(),
        offerings: ZONES
            .map(|zone| Offering {
                requirements: [entry(ZONE, zone), entry(CAPACITY_TYPE, ON_DEMAND)].into(),
                price: Price::from_micros_per_hour(micros),
                available: true,
                reservation: None,
                capacity_override: ResourceList::new(),
                overhead_override: None,
            })
            .into(),
    };
    MACHINES.into_iter().map(instance).collect()
}

/// So many CPUs, four times as many gibibytes, and room for 110 pods.
pub(crate) fn amounts(cpus: i64) -> ResourceList {
    let memory = Quantity::parse("4Gi").unwrap().checked_mul(cpus).unwrap();
    let (cpu, pods) = (Quantity::from_int(cpus), Quantity::from_int(110));
    [("cpu", cpu), ("memory", memory), ("pods", pods)].into_iter().collect()
}

/// A shape that asks for so much CPU.
pub(crate) fn shape(cpu: &str) -> PodShape {
    let requests = [("cpu", Quantity::parse(cpu).unwrap()), ("pods", Quantity::from_int(1))];
    PodShape {
        namespace: "default".to_owned(),
        requests: requests.into_iter().collect(),
        ..PodShape::default()
    }
}

/// A pod the cluster's scheduler has given up on.
pub(crate) fn waiting_pod(name: &str, cpu: &str, now: Time) -> Pod {
    let mut pod = pod(name, "");
    pod.meta.created_at = now;
    pod.shape = Arc::new(shape(cpu));
    pod.phase = PodPhase::Unschedulable { since: now };
    (pod.is_ready, pod.started_at) = (false, None);
    pod
}

impl Cluster {
    /// A cluster with one pool that is ready.
    pub(crate) fn with_pool(change: impl FnOnce(&mut NodePool)) -> Self {
        let mut cluster = Self::new();
        cluster.add_pool(ready_pool("pool", change));
        cluster
    }

    /// A pool and the instances for it.
    pub(crate) fn add_pool(&mut self, pool: Pool) {
        self.instance_types.insert(pool.meta.name.clone(), instances());
        self.store(Object::Pool(pool));
        self.offer_all();
    }

    /// Tells what each pool's nodes can be made of.
    pub(crate) fn offer_all(&mut self) {
        for (pool, instance_types) in self.instance_types.clone() {
            self.undelivered.push_back(Event::Offered { pool, instance_types });
        }
    }

    /// A pod begins to wait for a node.
    pub(crate) fn pend(&mut self, name: &str, cpu: &str) {
        self.store(Object::Pod(waiting_pod(name, cpu, self.now)));
    }

    /// A pod of this shape begins to wait for a node.
    pub(crate) fn pend_shape(&mut self, name: &str, shape: PodShape) {
        let mut pod = waiting_pod(name, "1", self.now);
        pod.shape = Arc::new(shape);
        self.store(Object::Pod(pod));
    }

    /// Binds every pod that is nominated to a node that is up, as the cluster's scheduler would.
    pub(crate) fn bind(&mut self) {
        let waiting = self.pods().into_iter().filter(|pod| pod.node().is_none());
        let keys: Vec<PodKey> = waiting.map(|pod| pod.key.clone()).collect();
        for key in keys {
            if let Some(node) = self.place_of(&key.name) {
                self.bind_to(&key.name, &node);
            }
        }
    }

    /// Binds a pod to a node.
    pub(crate) fn bind_to(&mut self, pod: &str, node: &str) {
        let key = kerf_engine::event::Key::Pod(pod_key(pod));
        let now = self.now;
        self.edit(&key, |object| {
            let Object::Pod(pod) = object else { unreachable!("a pod's key") };
            pod.phase = PodPhase::Bound { node: node.into() };
            (pod.is_ready, pod.started_at) = (true, Some(now));
        });
    }

    /// The node a pod is meant for, once it is up.
    fn place_of(&self, pod: &str) -> Option<String> {
        let claim = self.find_claim(&self.target_of(pod)?)?;
        let id = claim.status.provider_id.as_ref()?;
        let nodes = self.nodes();
        let node = nodes.iter().find(|node| node.provider_id.as_ref() == Some(id))?;
        node.is_initialized().then(|| node.meta.name.to_string())
    }

    /// The claim or node a pod is meant for.
    pub(crate) fn target_of(&self, pod: &str) -> Option<Name> {
        let nominations = &self.engine.world().memory.nominations;
        nominations.get(&pod_key(pod)).map(|nomination| nomination.target.clone())
    }

    pub(crate) fn claims(&self) -> Vec<&Claim> {
        let claims = self.objects.values().filter_map(|object| match object {
            Object::Claim(claim) => Some(claim),
            _ => None,
        });
        claims.collect()
    }

    /// The claims that were ordered so far, in order.
    pub(crate) fn ordered_claims(&self) -> Vec<&NewClaim> {
        let claims = self.actions.iter().filter_map(|(_, action)| match &action.kind {
            ActionKind::CreateClaim(claim) => Some(&**claim),
            _ => None,
        });
        claims.collect()
    }

    /// The solves that were asked so far, with their times.
    pub(crate) fn solves(&self) -> Vec<(Time, &PlacementProblem)> {
        let asked = self.actions.iter().filter_map(|(at, action)| match &action.kind {
            ActionKind::Solve(request) => Some((*at, &*request.problem)),
            _ => None,
        });
        asked.collect()
    }

    /// Answers the last solve that was held back.
    pub(crate) fn answer_last_solve(&mut self) {
        let is_solve = |action: &&Action| matches!(action.kind, ActionKind::Solve(_));
        let last = self.actions.iter().rev().map(|(_, action)| action).find(is_solve);
        let action = last.expect("a solve was asked for").clone();
        let ActionKind::Solve(request) = &action.kind else { unreachable!("it is a solve") };
        let outcome = request.solve(&CancelFlag::default());
        self.undelivered.push_back(Event::Finished { action: action.id, outcome });
    }

    /// The messages of the Events about a pod, node, claim or pool under this reason.
    pub(crate) fn messages(&self, reason: &str) -> Vec<&str> {
        let events = self.kubernetes_events.iter().filter(|event| event.reason == reason);
        events.map(|event| event.message.as_str()).collect()
    }

    /// The cheapest instance on offer that a claim allows.
    pub(crate) fn instance_of_type(&self, claim: &Claim) -> Option<Instance> {
        let instance_types = self.instance_types.get(claim.pool()?)?;
        let entries = &claim.spec.node.requirements;
        let values = |key: &str| {
            let entry = entries.iter().find(|entry| entry.key == key)?;
            (entry.operator == Operator::In).then_some(&entry.values)
        };
        let named = values(INSTANCE_TYPE)?;
        let instance = instance_types.iter().find(|instance| named.contains(&instance.name))?;
        let zone = values(ZONE).and_then(|zones| zones.first()).map_or(ZONES[0], |zone| zone);
        let labels = [(ZONE, zone), (INSTANCE_TYPE, &instance.name), (CAPACITY_TYPE, ON_DEMAND)];
        Some(Instance {
            provider_id: format!("kwok://{}", claim.meta.uid).into(),
            claim: Some(claim.meta.name.clone()),
            image_id: None,
            labels: labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
            annotations: BTreeMap::new(),
            capacity: ResourceList::clone(&instance.capacity),
            allocatable: instance.allocatable(),
            made_of: BTreeMap::new(),
            is_ending: false,
        })
    }
}

/// The values a claim allows for a label.
pub(crate) fn allowed<'a>(claim: &'a NewClaim, key: &str) -> Vec<&'a str> {
    let entry = claim.spec.node.requirements.iter().find(|entry| entry.key == key);
    entry.map(|entry| entry.values.iter().map(String::as_str).collect()).unwrap_or_default()
}

/// A daemon set whose pods ask for so much CPU.
pub(crate) fn daemon_set(name: &str, cpu: &str) -> Object {
    Object::DaemonSet(kerf_engine::observed::DaemonSet {
        meta: meta(name),
        namespace: "kube-system".into(),
        shape: Arc::new(PodShape { namespace: "kube-system".to_owned(), ..shape(cpu) }),
    })
}
