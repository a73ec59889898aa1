//! Conditions of claims, pools, node classes and nodes, and how long their ends take, as they are
//! right now.

use kerf_engine::World;
use kerf_engine::condition::Conditions;
use kerf_engine::observed::{Claim, Meta, Node, NodeClass, Pool};
use kerf_engine::time::Time;
use kerf_model::labels::node_class_key;
use kerf_model::labels::well_known::{INITIALIZED, NODE_POOL};
use kerf_runtime::metrics::Page;

use super::seconds;

/// The group of claims and pools, for the older metrics that name it.
const GROUP: &str = "karpenter.sh";

/// An object whose conditions are shown.
struct Shown<'a> {
    /// The kind, as metrics are named after it.
    word: &'static str,
    /// The group and kind as the older metrics name it; they never knew nodes.
    older: Option<(&'a str, &'static str)>,
    meta: &'a Meta,
    conditions: &'a Conditions,
    /// Labels beyond those all kinds have.
    extra: Vec<(String, String)>,
}

/// Writes the gauges of every claim, pool, node class and node.
pub(super) fn write(page: &mut Page, world: &World, now: Time) {
    for claim in world.claims.values() {
        Shown::claim(claim).write(page, now);
    }
    for pool in world.pools.values() {
        Shown::pool(pool).write(page, now);
    }
    for class in world.node_classes.values() {
        if let Some(shown) = Shown::node_class(class) {
            shown.write(page, now);
        }
    }
    let class = world.settings.provider.node_classes.first();
    let class = class.map(|class| node_class_key(&class.group, &class.kind));
    for node in world.nodes.values() {
        Shown::node(node, class.as_deref()).write(page, now);
    }
}

impl<'a> Shown<'a> {
    fn claim(claim: &'a Claim) -> Self {
        let class = &claim.spec.node.node_class;
        let key = node_class_key(&class.group, &class.kind);
        let extra = [key.as_str(), NODE_POOL].map(|key| shown(key, claim.label(key)));
        let (meta, conditions) = (&claim.meta, &claim.status.conditions);
        let older = Some((GROUP, "NodeClaim"));
        Self { word: "nodeclaim", older, meta, conditions, extra: extra.into() }
    }

    fn pool(pool: &'a Pool) -> Self {
        let (meta, conditions) = (&pool.meta, &pool.status.conditions);
        let older = Some((GROUP, "NodePool"));
        Self { word: "nodepool", older, meta, conditions, extra: Vec::new() }
    }

    /// Of a kind that dashboards know; the others have no metrics of their own.
    fn node_class(class: &'a NodeClass) -> Option<Self> {
        const KIND: &str = "EC2NodeClass";
        let (meta, conditions) = (&class.meta, &class.status.conditions);
        let older = Some((class.key.group.as_str(), KIND));
        let shown = Self { word: "ec2nodeclass", older, meta, conditions, extra: Vec::new() };
        (class.key.kind == KIND).then_some(shown)
    }

    fn node(node: &'a Node, class: Option<&str>) -> Self {
        let label = |key| shown(key, node.labels.get(key).map(String::as_str));
        let extra = class.into_iter().chain([NODE_POOL, INITIALIZED]).map(label).collect();
        let (meta, conditions) = (&node.meta, &node.profile.conditions);
        Self { word: "node", older: None, meta, conditions, extra }
    }

    fn write(&self, page: &mut Page, now: Time) {
        for condition in &self.conditions.0 {
            let own = [
                ("type", condition.kind.clone()),
                ("status", condition.status.to_string()),
                ("reason", condition.reason.clone()),
            ];
            let age = seconds(now.since(condition.changed_at).millis());
            self.gauge(page, "status_condition_count", &own, 1.0);
            self.gauge(page, "status_condition_current_status_seconds", &own, age);
        }
        if let Some(since) = self.meta.deleting_since {
            let span = seconds(now.since(since).millis());
            self.gauge(page, "termination_current_time_seconds", &[], span);
        }
    }

    /// Writes a gauge under the name of its kind, and under the older name all kinds share.
    fn gauge(&self, page: &mut Page, metric: &str, own: &[(&str, String)], value: f64) {
        let mut labels: Vec<(&str, String)> =
            vec![("namespace", String::new()), ("name", self.meta.name.to_string())];
        labels.extend(own.iter().cloned());
        if let Some((group, kind)) = self.older {
            let mut older = labels.clone();
            older.extend([("group", group.to_owned()), ("kind", kind.to_owned())]);
            page.gauge(&format!("operator_{metric}"), &older, value);
        }
        labels.extend(self.extra.iter().map(|(key, value)| (key.as_str(), value.clone())));
        page.gauge(&format!("operator_{}_{metric}", self.word), &labels, value);
    }
}

/// A label of an object as metrics show it.
fn shown(key: &str, value: Option<&str>) -> (String, String) {
    (key.replace(['/', '.', '-'], "_"), value.unwrap_or_default().to_owned())
}
