//! A cluster to shift away from zones: pools and nodes as the API server would hold them, the
//! stored state, and a planner that can be killed between any two steps.

use std::collections::{BTreeMap, BTreeSet};

use kerf_notices::zonal_shift::*;
use serde_json::{Value, json};

/// 2023-11-16T00:00:00Z, the day of AWS's sample event.
const DAY: i64 = 1_700_092_800;

pub(crate) fn at(seconds: i64) -> UnixSeconds {
    UnixSeconds::new(DAY + seconds).unwrap()
}

/// `zone("a")` is `us-west-2a`.
pub(crate) fn zone(letter: &str) -> String {
    format!("us-west-2{letter}")
}

pub(crate) fn names(letters: &[&str]) -> BTreeSet<ZoneName> {
    letters.iter().map(|letter| ZoneName::new(&zone(letter))).collect()
}

/// The account's zones: `a` is `usw2-az1` and so on.
pub(crate) fn zone_table() -> ZoneTable {
    ZoneTable::new([
        ("usw2-az1", "us-west-2a"),
        ("usw2-az2", "us-west-2b"),
        ("usw2-az3", "us-west-2c"),
        ("usw2-az4", "us-west-2d"),
    ])
}

pub(crate) fn zone_id(letter: &str) -> ZoneId {
    zone_table().id(&ZoneName::new(&zone(letter))).unwrap().clone()
}

pub(crate) fn scope() -> Scope {
    Scope {
        region: "us-west-2".to_owned(),
        cluster_name: "prod".to_owned(),
        cluster_arn: Some("arn:aws:eks:us-west-2:111122223333:cluster/prod".to_owned()),
        matching: Matching::Any,
    }
}

/// The body of a message about the zone, `seconds` into the day.
pub(crate) fn message(detail_type: &str, letter: &str, seconds: i64) -> Value {
    json!({
        "version": "0",
        "id": format!("{detail_type}/{letter}/{seconds}"),
        "detail-type": detail_type,
        "source": "aws.arc-zonal-shift",
        "account": "111122223333",
        "time": at(seconds).to_string(),
        "region": "us-west-2",
        "resources": ["arn:aws:eks:us-west-2:111122223333:cluster/prod"],
        "detail": {
            "version": "0.0.1",
            "data": "",
            "metadata": {"awayFrom": zone_id(letter).as_str(), "notes": ""},
        },
    })
}

/// A zone requirement with these values, given as letters.
pub(crate) fn zones(operator: &str, letters: &[&str]) -> Value {
    let values: Vec<_> = letters.iter().map(|letter| zone(letter)).collect();
    json!({"key": "topology.kubernetes.io/zone", "operator": operator, "values": values})
}

pub(crate) fn arm() -> Value {
    json!({"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]})
}

/// A pool with everything a shift must leave alone.
pub(crate) fn pool(name: &str, requirements: &[Value]) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {
            "name": name,
            "resourceVersion": "1",
            "annotations": {"team": "platform"},
        },
        "spec": {
            "weight": 10,
            "limits": {"cpu": "1000"},
            "template": {
                "metadata": {"labels": {"tier": "web"}},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                    "requirements": requirements,
                    "taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
                    "expireAfter": "720h",
                },
            },
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "budgets": [
                    {"nodes": "0", "schedule": "0 9 * * 1-5", "duration": "8h", "reasons": ["Drifted"]},
                    {"nodes": "10%"},
                ],
            },
        },
    })
}

/// A pool of Auto Mode.
pub(crate) fn auto_mode_pool(name: &str, requirements: &[Value]) -> Value {
    let mut object = pool(name, requirements);
    object["spec"]["template"]["spec"]["nodeClassRef"] =
        json!({"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default"});
    object["spec"].as_object_mut().unwrap().remove("weight");
    object
}

pub(crate) fn node(name: &str, letter: &str, pool: &str) -> Value {
    json!({
        "metadata": {
            "name": name,
            "resourceVersion": "1",
            "labels": {
                "topology.kubernetes.io/zone": zone(letter),
                "karpenter.sh/nodepool": pool,
            },
        },
        "spec": {"providerID": "aws:///us-west-2a/i-0123456789abcdef0"},
    })
}

/// The cluster and the planner's memory.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) stored: String,
    pub(crate) pools: Vec<Value>,
    pub(crate) nodes: Vec<Value>,
    pub(crate) used_zones: BTreeSet<ZoneName>,
    pub(crate) options: Options,
    pub(crate) memory: EditMemory,
    pub(crate) notes: Vec<Note>,
    pub(crate) now: UnixSeconds,
}

impl World {
    pub(crate) fn new(pools: impl IntoIterator<Item = Value>) -> World {
        World {
            stored: ShiftState::default().to_json(),
            pools: pools.into_iter().collect(),
            nodes: Vec::new(),
            used_zones: names(&["a", "b", "c"]),
            options: Options {
                do_not_disrupt: false,
                taint_away_nodes: true,
                auto_mode_revert: AutoModeRevert::Delete,
                grace_until: at(0),
            },
            memory: EditMemory::default(),
            notes: Vec::new(),
            now: at(0),
        }
    }

    pub(crate) fn state(&self) -> ShiftState {
        ShiftState::from_json(&self.stored).unwrap()
    }

    /// A message arrives and its effect is stored; pools are not yet touched.
    pub(crate) fn deliver(&mut self, body: &Value) -> Received {
        let body = serde_json::to_vec(body).unwrap();
        let received = self.state().receive(&body, &scope(), &zone_table(), self.now);
        self.stored = received.state.to_json();
        received
    }

    /// A message arrives at its own time and everything that follows is done.
    pub(crate) fn happens(&mut self, detail_type: &str, letter: &str, seconds: i64) {
        self.now = self.now.max(at(seconds));
        self.deliver(&message(detail_type, letter, seconds));
        self.settle();
    }

    pub(crate) fn plan(&self) -> Plan {
        let table = zone_table();
        let nodes: Vec<_> = self.nodes.iter().map(node_view).collect();
        let cluster = Cluster {
            zones: &table,
            used_zones: &self.used_zones,
            node_class_zones: &BTreeMap::new(),
            pools: &self.pools.iter().collect::<Vec<_>>(),
            nodes: &nodes.iter().collect::<Vec<_>>(),
        };
        Plan::new(&self.state(), cluster, &self.options, &self.memory, self.now)
    }

    /// Plans and carries out until nothing is left to do.
    pub(crate) fn settle(&mut self) {
        const ROUNDS_MAX: usize = 4;
        for _ in 0..ROUNDS_MAX {
            let plan = self.plan();
            self.notes.extend(self.memory.unheard(&plan.notes));
            if plan.steps.is_empty() {
                return;
            }
            for step in &plan.steps {
                self.carry_out(step);
            }
        }
        panic!("still not settled after {ROUNDS_MAX} rounds: {:#?}", self.plan().steps);
    }

    pub(crate) fn carry_out(&mut self, step: &Step) {
        match step {
            Step::Pool(edit) => {
                let pool = self.pool_mut(&edit.pool.name);
                *pool = edit.apply_to(pool);
                self.memory.carried_out(edit, self.now);
            }
            Step::Copy(CopyEdit::Create { object }) => self.pools.push(object.clone()),
            Step::Copy(CopyEdit::Replace { object, .. }) => {
                let name = object["metadata"]["name"].as_str().unwrap().to_owned();
                *self.pool_mut(&name) = object.clone();
            }
            Step::Copy(CopyEdit::Delete { pool }) => {
                self.pools.retain(|object| object["metadata"]["name"] != pool.name.as_str());
            }
            Step::Node(edit) => {
                let node = self.node_mut(&edit.node);
                merge_into(node, &merge_patch(edit));
            }
        }
    }

    pub(crate) fn pool(&self, name: &str) -> &Value {
        let is_it = |pool: &&Value| pool["metadata"]["name"] == name;
        self.pools.iter().find(is_it).unwrap_or_else(|| panic!("there is no pool {name}"))
    }

    pub(crate) fn pool_mut(&mut self, name: &str) -> &mut Value {
        self.pools.iter_mut().find(|pool| pool["metadata"]["name"] == name).unwrap()
    }

    pub(crate) fn node_mut(&mut self, name: &str) -> &mut Value {
        self.nodes.iter_mut().find(|node| node["metadata"]["name"] == name).unwrap()
    }

    pub(crate) fn requirements(&self, name: &str) -> &Value {
        &self.pool(name)["spec"]["template"]["spec"]["requirements"]
    }

    pub(crate) fn requirements_mut(&mut self, name: &str) -> &mut Value {
        &mut self.pool_mut(name)["spec"]["template"]["spec"]["requirements"]
    }

    /// The zones annotated as avoided; empty when there is no annotation.
    pub(crate) fn away_annotation(&self, name: &str) -> &str {
        self.pool(name)["metadata"]["annotations"][AWAY_ZONES].as_str().unwrap_or_default()
    }

    /// Why pools were skipped.
    pub(crate) fn skips(&self) -> Vec<(&str, SkipReason)> {
        let skip = |note| match note {
            &Note::Skipped { ref pool, reason, .. } => Some((pool.name.as_str(), reason)),
            _ => None,
        };
        self.notes.iter().filter_map(skip).collect()
    }
}

fn merge_into(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, value) in fields {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(name);
        } else {
            merge_into(&mut target[name.as_str()], value);
        }
    }
}

/// What a shift looks at on a node.
fn node_view(node: &Value) -> NodeView {
    let metadata = &node["metadata"];
    let texts = |map: &Value| serde_json::from_value(map.clone()).unwrap_or_default();
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    NodeView::of(
        metadata["name"].as_str().unwrap(),
        &texts(&metadata["labels"]),
        &texts(&metadata["annotations"]),
        node["spec"]["unschedulable"] == true,
        taints.map(|taint| (taint["key"].as_str().unwrap(), taint["effect"].as_str().unwrap())),
    )
}

/// An edit as the API server would take it.
fn merge_patch(edit: &NodeEdit) -> Value {
    let mut patch = json!({"metadata": {"annotations": edit.annotations}, "spec": {}});
    if let Some(unschedulable) = edit.unschedulable {
        patch["spec"]["unschedulable"] = json!(unschedulable.then_some(true));
    }
    if let Some(taints) = &edit.taints {
        patch["spec"]["taints"] = json!((!taints.is_empty()).then_some(taints));
    }
    patch
}
