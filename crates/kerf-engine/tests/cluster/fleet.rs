//! Nodes that came up for pods, and budgets for taking them away.

use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{Name, Node, Pod};
use kerf_model::budget::{BudgetList, BudgetText};
use kerf_model::duration::NillableDuration;
use kerf_model::pool::NodePool;
use kerf_model::taint::DISRUPTED_KEY;

use super::{Cluster, pod_key};

/// Makes a pool take empty nodes away when they have been quiet for half a minute.
pub(crate) fn quick(pool: &mut NodePool) {
    pool.disruption.consolidate_after = NillableDuration::parse("30s").unwrap();
}

/// Lets so many nodes go at once, in the words of the API.
pub(crate) fn budget(pool: &mut NodePool, nodes: &str) {
    let text = BudgetText { nodes, ..BudgetText::default() };
    pool.disruption.budgets = BudgetList::parse([text]);
    assert!(pool.disruption.budgets.unreadable().is_empty(), "{nodes}");
}

impl Cluster {
    /// So many nodes that are up, each with one pod that fills it: `pod-0`, `pod-1`, …
    pub(crate) fn with_nodes(count: usize, change: impl FnOnce(&mut NodePool)) -> Self {
        let mut cluster = Self::with_pool(change);
        for number in 0..count {
            cluster.pend(&format!("pod-{number}"), "7");
        }
        cluster.seconds(25);
        cluster.bind();
        cluster.settle();
        assert_eq!(cluster.nodes().len(), count, "{:?}", cluster.log());
        cluster
    }

    /// Takes the pods away that [`Cluster::with_nodes`] put on nodes.
    pub(crate) fn empty_nodes(&mut self, count: usize) {
        for number in 0..count {
            self.remove(&Key::Pod(pod_key(&format!("pod-{number}"))));
        }
    }

    /// The node a pod is on.
    pub(crate) fn node_under(&self, pod: &str) -> String {
        match self.objects.get(&Key::Pod(pod_key(pod))) {
            Some(Object::Pod(pod)) => pod.node().expect("it is bound").to_string(),
            _ => panic!("no pod {pod}"),
        }
    }

    /// The claim whose node a pod is on.
    pub(crate) fn claim_under(&self, pod: &str) -> Name {
        let node = self.node_under(pod);
        let nodes = self.nodes();
        let node = nodes.iter().find(|it| *it.meta.name == *node).unwrap();
        let claims = self.claims();
        let claim = claims.iter().find(|it| it.status.provider_id == node.provider_id).unwrap();
        claim.meta.name.clone()
    }

    /// What the cluster's controllers do for a while: each pod that was evicted comes back under
    /// another name, and pods are bound where they are meant to go.
    pub(crate) fn live(&mut self, seconds: u64, check: impl Fn(&Cluster)) {
        let pods: Vec<Pod> = self.pods().into_iter().cloned().collect();
        let again = |pod: &Pod| format!("{}-again", pod.key.name.trim_end_matches("-again"));
        for _ in 0..seconds {
            self.seconds(1);
            for pod in &pods {
                let is_there = |name: &str| self.objects.contains_key(&Key::Pod(pod_key(name)));
                if !is_there(&pod.key.name) && !is_there(&again(pod)) {
                    self.pend_shape(&again(pod), (*pod.shape).clone());
                }
            }
            self.settle();
            self.bind();
            self.settle();
            check(self);
        }
    }

    /// Changes a node by hand.
    pub(crate) fn edit_node_named(&mut self, name: &str, change: impl FnOnce(&mut Node)) {
        self.edit(&Key::Node(name.into()), |object| match object {
            Object::Node(node) => change(node),
            _ => unreachable!("a node's key names a node"),
        });
    }

    /// The nodes that carry the mark of a removal.
    pub(crate) fn closed_nodes(&self) -> Vec<&Node> {
        let is_closed = |node: &&Node| node.taints.iter().any(|taint| taint.key == DISRUPTED_KEY);
        self.nodes().into_iter().filter(is_closed).collect()
    }

    /// How many claims are on their way out.
    pub(crate) fn going(&self) -> usize {
        self.claims().iter().filter(|claim| claim.meta.is_deleting()).count()
    }
}
