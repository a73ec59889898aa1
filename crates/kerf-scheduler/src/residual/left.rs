//! The nodes that are left, with what is free on them, and everything that rules count.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::packing::bin::Content;
use crate::packing::pack_state::PackState;
use crate::reading::base::Base;
use crate::reading::demand::Demands;
use crate::reading::domains::DomainCounts;
use crate::reading::group::Rule;
use crate::reading::node::Headroom;
use crate::residual::new_nodes::EmptyNode;
use crate::residual::placing::Way;
use crate::residual::target_index::TargetIndex;

/// What is left of a cluster.
pub(crate) struct Left<'b> {
    pub(crate) base: &'b Base<'b>,
    /// By node in filling order: what is left on those that are no longer as they were read.
    changed: Vec<Option<Box<Headroom>>>,
    pub(super) targets: TargetIndex,
    pub(crate) counts: DomainCounts,
    /// Of each group how many matching pods stand anywhere.
    pub(crate) bound_pods: Vec<u32>,
    pub(crate) state: PackState,
    /// What nodes had before the changes since the last mark, latest last.
    undo: Vec<(usize, Option<Box<Headroom>>)>,
    /// Nodes that come, while a rehearsal fills them.
    pub(super) new_nodes: Vec<EmptyNode>,
    pub(super) demands: Demands,
    /// By class and variant: what decides where such pods may stand.
    pub(super) ways: FxHashMap<(usize, usize), Arc<Way>>,
}

/// A state to come back to.
pub(super) struct Mark {
    undo: usize,
    counts: DomainCounts,
    bound_pods: Vec<u32>,
    state: PackState,
}

impl<'b> Left<'b> {
    /// Everything as it was read.
    pub(super) fn of(base: &'b Base<'b>, targets: &[usize]) -> Self {
        let order = targets.iter().map(|place| base.cluster.index_of(*place));
        Self {
            base,
            changed: base.cluster.nodes.iter().map(|_| None).collect(),
            targets: TargetIndex::new(base, order),
            counts: base.counts.clone(),
            bound_pods: base.bound_pods.clone(),
            state: base.state.clone(),
            undo: Vec::new(),
            new_nodes: Vec::new(),
            demands: Demands::default(),
            ways: FxHashMap::default(),
        }
    }

    /// What is left on a node, by its place in filling order.
    pub(super) fn headroom(&self, index: usize) -> &Headroom {
        let shared = || self.base.counted.get(index);
        let read = || self.base.cluster.headroom(index);
        self.changed[index].as_deref().or_else(shared).unwrap_or_else(read)
    }

    /// The nodes that are no longer as they were read.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (usize, &Headroom)> {
        let changed = self.changed.iter().enumerate();
        changed.filter_map(|(index, headroom)| Some((index, headroom.as_deref()?)))
    }

    fn set(&mut self, index: usize, headroom: Headroom) {
        self.targets.set(index, &headroom.free);
        let before = self.changed[index].replace(Box::new(headroom));
        self.undo.push((index, before));
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            undo: self.undo.len(),
            counts: self.counts.clone(),
            bound_pods: self.bound_pods.clone(),
            state: self.state.clone(),
        }
    }

    /// Goes back to a mark.
    pub(super) fn undo(&mut self, mark: &Mark) {
        while self.undo.len() > mark.undo {
            let Some((index, before)) = self.undo.pop() else { break };
            self.changed[index] = before;
            let free = self.headroom(index).free.clone();
            self.targets.set(index, &free);
        }
        self.counts.clone_from(&mark.counts);
        self.bound_pods.clone_from(&mark.bound_pods);
        self.state.clone_from(&mark.state);
    }

    /// What happened so far is not undone any more.
    pub(super) fn forget_marks(&mut self) {
        self.undo.clear();
    }

    /// Nodes that are not listed take no pods.
    pub(super) fn close_all_but(&mut self, targets: &[usize]) {
        let mut is_open = vec![false; self.changed.len()];
        for place in targets {
            is_open[self.base.cluster.index_of(*place)] = true;
        }
        for index in (0..self.changed.len()).filter(|index| !is_open[*index]) {
            let closed = self.headroom(index).closed();
            self.set(index, closed);
        }
        self.forget_marks();
    }

    /// Takes nodes of the problem away, their pods with them.
    pub(super) fn take_away(&mut self, gone: &[usize]) {
        for index in gone.iter().map(|place| self.base.cluster.index_of(*place)) {
            self.set(index, Headroom::none());
            self.base.uncount_node(index, &mut self.counts, &mut self.bound_pods);
            self.base.give_back(index, &mut self.state);
        }
        self.see_who_stands();
    }

    /// Takes over what packing has used of limits and reservations.
    pub(super) fn take_limits(&mut self, state: PackState) {
        self.state = state;
        self.see_who_stands();
    }

    fn see_who_stands(&mut self) {
        self.state.started = self.bound_pods.iter().map(|count| *count > 0).collect();
    }

    /// Lets a pod stand on a node as if it always had.
    pub(super) fn bind(&mut self, index: usize, class: usize, variant: usize) {
        let base = self.base;
        let class = &base.classes[class];
        let variant = &class.variants[variant];
        let node = base.cluster.read(index);
        let mut headroom = self.headroom(index).clone();
        headroom.bind(class);
        for id in class.concerned(variant) {
            let group = base.groups.get(id);
            let matches = class.counts_in(id) && group.counts_node(node, &base.vocabulary);
            let carries = group.rule == Rule::AntiAffinity && variant.groups.contains(&id);
            if matches {
                self.bound_pods[id] += 1;
                self.state.started[id] = true;
            }
            if group.is_hostname() {
                headroom.occupancy.note_existing(id, matches, carries);
            } else if let Some(domain) = node.label(group.key) {
                self.counts.note_existing(id, domain, i64::from(matches), i64::from(carries));
            }
        }
        self.set(index, headroom);
    }

    /// Lets pods stand on nodes, and others on new nodes, of which only the domains are known.
    pub(super) fn bind_all(&mut self, on_nodes: &[(usize, Vec<Content>)], on_new: &[Content]) {
        for (index, contents) in on_nodes {
            for Content { item, count } in contents {
                (0..*count).for_each(|_| self.bind(*index, item.class, item.variant));
            }
        }
        for content in on_new {
            self.count_on_new(content);
        }
    }

    fn count_on_new(&mut self, Content { item, count }: &Content) {
        let base = self.base;
        let class = &base.classes[item.class];
        let variant = &class.variants[item.variant];
        for id in class.concerned(variant) {
            let group = base.groups.get(id);
            let matches = class.counts_in(id);
            let carries = group.rule == Rule::AntiAffinity && variant.groups.contains(&id);
            if matches {
                self.bound_pods[id] += u32::try_from(*count).expect("fewer than 2³² pods");
            }
            let domain = item.pins.iter().find(|(key, _)| *key == group.key);
            if let Some((_, domain)) = domain {
                let of = |is: bool| if is { *count } else { 0 };
                self.counts.note_existing(id, *domain, of(matches), of(carries));
            }
        }
        self.see_who_stands();
    }
}
