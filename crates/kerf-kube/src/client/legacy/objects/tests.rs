//! What the engine hears of legacy objects, and of NodePools beside them.

use std::sync::Arc;

use kerf_engine::time::Time;
use kerf_engine::{Engine, Settings};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::client::legacy::LegacyUpdate;
use crate::client::observe::{Observer, WatchUpdate};

/// An observer that knows legacy objects, and the engine it feeds.
struct Edge {
    objects: LegacyObjects,
    observer: Observer,
    engine: Engine,
}

impl Edge {
    /// Provisioners are served, and nothing has been listed.
    fn new() -> Self {
        let settings = Settings::default();
        let objects = LegacyObjects::new(Options::default(), LabelRules::default());
        let observer = Observer::new(&settings).with_legacy(objects.clone());
        let mut edge = Self { objects, observer, engine: Engine::new(settings) };
        edge.serve(true);
        edge
    }

    fn serve(&mut self, provisioners: bool) {
        self.learn(WatchUpdate::Legacy(LegacyUpdate::Served { provisioners, templates: false }));
    }

    fn learn(&mut self, update: WatchUpdate) {
        for event in self.observer.observe(update, self.engine.world()) {
            self.engine.handle(event, Time::from_seconds(1_000));
        }
    }

    fn provisioner(&mut self, change: Change<Guarded<Provisioner>>) {
        self.learn(WatchUpdate::Legacy(LegacyUpdate::Provisioner(change)));
    }

    /// A whole list of Provisioners with these names.
    fn list(&mut self, names: &[&str]) {
        self.provisioner(Change::Relisting);
        for name in names {
            self.provisioner(Change::Is(Box::new(provisioner(name))));
        }
        self.provisioner(Change::Listed(None));
    }

    /// The uid of every pool that the engine knows, by name.
    fn pools(&self) -> Vec<(String, String)> {
        let pools = self.engine.world().pools.iter();
        pools.map(|(name, pool)| (name.to_string(), pool.meta.uid.to_string())).collect()
    }

    fn pool(&self, name: &str) -> &Pool {
        let pools = &self.engine.world().pools;
        pools.get(&Arc::from(name)).unwrap_or_else(|| panic!("no pool {name}"))
    }
}

fn read<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).unwrap()
}

fn provisioner(name: &str) -> Guarded<Provisioner> {
    read(json!({
        "apiVersion": "karpenter.sh/v1alpha5", "kind": "Provisioner",
        "metadata": {"name": name, "uid": format!("old-{name}"), "resourceVersion": "3",
            "generation": 1, "creationTimestamp": "2021-12-01T00:00:00Z"},
        "spec": {"provider": {
            "instanceProfile": "of-nodes",
            "subnetSelector": {"team": "a"}, "securityGroupSelector": {"team": "a"},
        }},
    }))
}

fn node_pool(name: &str, revision: u64) -> Box<Guarded<kerf_api::node_pool::NodePool>> {
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name});
    Box::new(read(json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": name, "uid": format!("new-{name}"),
            "resourceVersion": revision.to_string(), "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"template": {"spec": {"nodeClassRef": class, "requirements": []}}},
    })))
}

fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, uid)| ((*name).to_owned(), (*uid).to_owned())).collect()
}

#[test]
fn a_node_pool_of_the_same_name_takes_the_place_and_gives_it_back() {
    let mut edge = Edge::new();
    edge.list(&["a", "b"]);
    assert_eq!(edge.pools(), named(&[("a", "old-a"), ("b", "old-b")]));
    edge.learn(WatchUpdate::Pool(Change::Is(node_pool("a", 7))));
    assert_eq!(edge.pools(), named(&[("a", "new-a"), ("b", "old-b")]));
    assert!(!edge.objects.is_provisioner("old-a") && edge.objects.is_provisioner("old-b"));

    // Nothing that happens to the Provisioner meanwhile brings it back.
    edge.provisioner(Change::Is(Box::new(provisioner("a"))));
    edge.list(&["a", "b"]);
    assert_eq!(edge.pool("a").meta.uid.as_ref(), "new-a");

    edge.learn(WatchUpdate::Pool(Change::Was(node_pool("a", 9))));
    assert_eq!(edge.pools(), named(&[("a", "old-a"), ("b", "old-b")]));
    assert!(edge.objects.is_provisioner("old-a"));

    edge.learn(WatchUpdate::Pool(Change::Is(node_pool("a", 11))));
    assert_eq!(edge.pool("a").meta.uid.as_ref(), "new-a", "and again");
}

#[test]
fn a_node_pool_that_went_unseen_gives_the_name_back_with_the_next_list() {
    let mut edge = Edge::new();
    edge.list(&["a"]);
    edge.learn(WatchUpdate::Pool(Change::Is(node_pool("a", 7))));
    edge.learn(WatchUpdate::Pool(Change::Relisting));
    edge.learn(WatchUpdate::Pool(Change::Listed(Some(Revision(20)))));
    assert_eq!(edge.pools(), named(&[("a", "old-a")]));
}

#[test]
fn a_list_of_node_pools_takes_nothing_away_that_stands_for_a_provisioner() {
    let mut edge = Edge::new();
    edge.list(&["a"]);
    edge.learn(WatchUpdate::Pool(Change::Relisting));
    edge.learn(WatchUpdate::Pool(Change::Is(node_pool("b", 7))));
    edge.learn(WatchUpdate::Pool(Change::Listed(Some(Revision(20)))));
    assert_eq!(edge.pools(), named(&[("a", "old-a"), ("b", "new-b")]));
}

#[test]
fn a_list_of_provisioners_takes_away_those_it_does_not_name_and_only_at_its_end() {
    let mut edge = Edge::new();
    edge.list(&["a", "b"]);
    edge.provisioner(Change::Relisting);
    edge.provisioner(Change::Is(Box::new(provisioner("b"))));
    assert_eq!(edge.pools().len(), 2, "half a list says nothing about the rest");
    edge.provisioner(Change::Listed(None));
    assert_eq!(edge.pools(), named(&[("b", "old-b")]));
    edge.provisioner(Change::Was(Box::new(provisioner("b"))));
    assert_eq!(edge.pools(), named(&[]));
    edge.list(&["b"]);
    assert_eq!(edge.pools(), named(&[("b", "old-b")]), "one that comes again is there again");
}

#[test]
fn nothing_is_known_before_the_first_list_ends() {
    let mut edge = Edge::new();
    edge.provisioner(Change::Relisting);
    edge.provisioner(Change::Is(Box::new(provisioner("a"))));
    assert_eq!(edge.pools(), named(&[]));
}

#[test]
fn a_kind_that_is_no_longer_served_has_no_objects() {
    let mut edge = Edge::new();
    edge.list(&["a"]);
    edge.serve(false);
    assert_eq!(edge.pools(), named(&[]));
    edge.serve(true);
    edge.list(&["a"]);
    assert_eq!(edge.pools(), named(&[("a", "old-a")]));
}

#[test]
fn what_the_engine_wrote_outlives_a_list_and_not_the_object() {
    let mut edge = Edge::new();
    edge.list(&["a"]);
    let hash = BTreeMap::from([("karpenter.sh/nodepool-hash".to_owned(), "1".to_owned())]);
    edge.objects.annotate_pool("a", &hash).unwrap();
    let written = |edge: &Edge| edge.objects.pool("a").unwrap().annotations;
    edge.list(&["a"]);
    assert_eq!(written(&edge), hash);
    edge.list(&[]);
    edge.list(&["a"]);
    assert_eq!(written(&edge), BTreeMap::new());
}

#[test]
fn a_provisioner_that_cannot_be_read_is_a_pool_that_says_so() {
    let mut edge = Edge::new();
    edge.list(&["a"]);
    let strange = json!({"metadata": {"name": "a", "uid": "old-a"}, "spec": {"weight": "heavy"}});
    edge.provisioner(Change::Is(Box::new(read(strange))));
    assert_eq!(edge.pools(), named(&[("a", "old-a")]));
    assert!(edge.pool("a").faults[0].contains("heavy"), "{:?}", edge.pool("a").faults);
    edge.provisioner(Change::Is(Box::new(provisioner("a"))));
    assert_eq!(edge.pool("a").faults, [""; 0]);
}
