//! Placing the pods of removed nodes, one by one, on nodes that stay.

use std::sync::Arc;

use kerf_model::vocabulary::KeyId;

use crate::reading::demand::DemandId;
use crate::residual::Refusal;
use crate::residual::left::Left;
use crate::solution::Displaced;

/// A pod that was bound to a node.
pub(super) struct Bound {
    pub(super) pod: Displaced,
    pub(super) class: usize,
    pub(super) variant: usize,
    /// The node, by its place in filling order; none for one that comes.
    pub(super) index: Option<usize>,
}

/// What decides where pods of a class may stand, placed one way.
pub(crate) struct Way {
    pub(super) demand: DemandId,
    /// The labels whose domains matter, and whether a node without the label is out.
    pub(super) keys: Vec<(KeyId, bool)>,
}

/// Which of the nodes that could take a pod gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The first of the targets, so that as few nodes as can be are touched.
    First,
    /// As kube-scheduler does.
    LeastInUse,
}

impl Left<'_> {
    /// Places pods as planned: the largest first, each on the first target that takes it.
    pub(super) fn place_planned(&mut self, pods: &[Displaced]) -> Result<Vec<Bound>, Refusal> {
        let mut classes = self.classes(pods);
        classes.sort_by(|(one, first), (other, second)| {
            let requests = |class: usize| &self.base.classes[class].requests;
            requests(*second).cmp(requests(*first)).then_with(|| one.cmp(other))
        });
        self.place_in_order(&classes, Choice::First).map_err(|pod| Refusal::NoRoom { pod })
    }

    /// The class of each pod.
    pub(super) fn classes(&self, pods: &[Displaced]) -> Vec<(Displaced, usize)> {
        let class = |pod: &Displaced| {
            let class = self.base.shapes.known(&pod.of(self.base.problem).shape);
            (*pod, class.expect("every shape that may move was read"))
        };
        pods.iter().map(class).collect()
    }

    /// Places pods in an order. Those that find no place are asked again as long as others find
    /// one, because they may be waiting for them. Answers with the first that has none in the end.
    pub(super) fn place_in_order(
        &mut self,
        pods: &[(Displaced, usize)],
        choice: Choice,
    ) -> Result<Vec<Bound>, Displaced> {
        let mut bound = Vec::with_capacity(pods.len());
        let mut pending = pods.to_vec();
        loop {
            let before = bound.len();
            let mut waiting = Vec::new();
            for (pod, class) in pending {
                match self.place(class, choice) {
                    Some((variant, index)) => bound.push(Bound { pod, class, variant, index }),
                    // Without rules about other pods nobody makes room for it.
                    None if !self.follows_others(class) => return Err(pod),
                    None => waiting.push((pod, class)),
                }
            }
            match waiting.first() {
                None => return Ok(bound),
                Some((pod, _)) if bound.len() == before => return Err(*pod),
                Some(_) => pending = waiting,
            }
        }
    }

    fn follows_others(&self, class: usize) -> bool {
        self.base.classes[class].variants.iter().any(|variant| !variant.groups.is_empty())
    }

    /// Places one pod of a class; answers how and where.
    fn place(&mut self, class: usize, choice: Choice) -> Option<(usize, Option<usize>)> {
        if self.base.classes[class].shape.has_resource_claims {
            return None;
        }
        let count = self.base.classes[class].variants.len();
        for step in 0..count {
            let variant = match choice {
                Choice::First => step,
                // Preferences weigh with kube-scheduler, but do not decide.
                Choice::LeastInUse => count - 1 - step,
            };
            let way = self.way(class, variant);
            let asked = &self.base.classes[class].requests;
            let suits = |index| self.suits(index, class, variant, &way);
            let found = match choice {
                Choice::First => self.targets.first(asked, suits),
                Choice::LeastInUse => self.targets.least_in_use(asked, suits),
            };
            let in_use = found.map(|index| self.targets.use_of(index));
            if choice == Choice::LeastInUse && self.place_on_new(class, variant, &way, in_use) {
                return Some((variant, None));
            }
            if let Some(index) = found {
                self.bind(index, class, variant);
                return Some((variant, found));
            }
        }
        None
    }

    /// Whether a node takes a pod for which enough is free.
    fn suits(&self, index: usize, class: usize, variant: usize, way: &Way) -> bool {
        let base = self.base;
        let number = u32::try_from(index).expect("fewer than 2³² nodes");
        if !self.demands.get(way.demand).nodes.contains(number) {
            return false;
        }
        let class = &base.classes[class];
        let variant = &class.variants[variant];
        let started = &self.state.started;
        let headroom = self.headroom(index);
        if headroom.times(class, variant, &base.groups, &base.hosts, started) == 0 {
            return false;
        }
        let node = base.cluster.read(index);
        way.keys.iter().all(|(key, is_needed)| match node.label(*key) {
            None => !is_needed,
            Some(domain) => {
                self.counts.allows(class, variant, &base.groups, *key, domain, &base.vocabulary)
            }
        })
    }

    fn way(&mut self, class: usize, variant: usize) -> Arc<Way> {
        if let Some(known) = self.ways.get(&(class, variant)) {
            return known.clone();
        }
        let read = &self.base.classes[class];
        let wanted = &read.variants[variant];
        let mut keys: Vec<(KeyId, bool)> = Vec::new();
        for id in read.concerned(wanted) {
            let group = self.base.groups.get(id);
            let is_held = wanted.groups.contains(&id);
            if group.is_hostname() || !(is_held || group.binds_others) {
                continue;
            }
            match keys.iter_mut().find(|(key, _)| *key == group.key) {
                Some((_, is_needed)) => *is_needed |= is_held,
                None => keys.push((group.key, is_held)),
            }
        }
        let supply = self.base.supply();
        let demand = self.demands.find(&wanted.node, &wanted.tolerated, &supply);
        let way = Arc::new(Way { demand, keys });
        self.ways.insert((class, variant), way.clone());
        way
    }
}
