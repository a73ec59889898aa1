//! What stands between a pod and a node of one pool.

use kerf_model::requirements::Requirements;
use kerf_model::taint::{Taint, untolerated};
use kerf_model::vocabulary::KeyId;

use super::Measured;
use crate::reading::instance_type::PoolInstanceType;
use crate::units;

/// One thing in the way.
pub(super) enum Miss {
    /// The pool has a taint that the pod does not tolerate.
    Taint(Taint),
    /// The pool does not allow, or does not define, what the pod asks of a label.
    Label(KeyId),
    /// No instance type of the pool has what the pod asks of these labels together.
    Types(Vec<KeyId>),
    /// No instance type it could use is sold in the way these labels ask for.
    Offerings(Vec<KeyId>),
    /// No instance type it could use has the room.
    Room,
    /// Nothing but what other pods and nodes have taken.
    Taken,
}

/// How far a pool is from holding the pod: the less has to change the nearer. What people keep
/// apart on purpose, such as labels of their own, weighs more than what they forget.
pub(super) fn distance(measured: &Measured<'_>, misses: &[Miss]) -> u32 {
    misses.iter().map(|miss| measured.weight(miss)).sum()
}

impl<'a> Measured<'a> {
    /// Everything in the way, in the order in which it is worth mending.
    pub(super) fn misses(&self) -> Vec<Miss> {
        let labels = self.missed_labels();
        let mut wanted = self.variant.node.clone();
        for key in &labels {
            wanted.remove(*key);
        }
        let mut misses: Vec<Miss> = labels.into_iter().map(Miss::Label).collect();
        misses.extend(self.missed_taint().map(Miss::Taint));
        match self.fitting(&wanted) {
            Err(miss) => misses.push(miss),
            Ok(_) if misses.is_empty() => misses.push(Miss::Taken),
            Ok(_) => {}
        }
        misses
    }

    /// What the node of the pool must be like, if only these constraints are kept.
    pub(super) fn with_pool(&self, wanted: &Requirements) -> Requirements {
        let mut both = self.template.requirements.clone();
        both.narrow(wanted, self.vocabulary());
        both
    }

    /// The instance types that would hold the pod on an empty node, or what keeps all others away.
    pub(super) fn fitting(&self, wanted: &Requirements) -> Result<Vec<&'a PoolInstanceType>, Miss> {
        let allowed = self.allowed(wanted);
        if allowed.is_empty() {
            let keys = self.culprits(wanted, |kept| !self.allowed(kept).is_empty());
            return Err(Miss::Types(keys));
        }
        let sold = self.sold(wanted);
        if sold.is_empty() {
            let keys = self.culprits(wanted, |kept| !self.sold(kept).is_empty());
            return Err(Miss::Offerings(keys));
        }
        let requests = &self.class.requests;
        let fitting: Vec<_> =
            sold.into_iter().filter(|it| units::fits(requests, &it.free)).collect();
        if fitting.is_empty() { Err(Miss::Room) } else { Ok(fitting) }
    }

    /// The instance types that have the labels.
    fn allowed(&self, wanted: &Requirements) -> Vec<&'a PoolInstanceType> {
        let both = self.with_pool(wanted);
        let types = self.types().iter();
        types.filter(|it| it.requirements.intersects(&both, self.vocabulary())).collect()
    }

    /// The same, as far as they are sold that way.
    pub(super) fn sold(&self, wanted: &Requirements) -> Vec<&'a PoolInstanceType> {
        let both = self.with_pool(wanted);
        let mut allowed = self.allowed(wanted);
        allowed.retain(|it| it.cheapest_offering(&both, self.vocabulary()).is_some());
        allowed
    }

    /// The instance types that the pool has.
    pub(super) fn types(&self) -> &'a [PoolInstanceType] {
        &self.solver.base.instance_types.all[self.template.instance_types.clone()]
    }

    /// The fewest constraints that already cannot be met: one, two, or all.
    fn culprits(
        &self,
        wanted: &Requirements,
        is_met: impl Fn(&Requirements) -> bool,
    ) -> Vec<KeyId> {
        let keys: Vec<KeyId> = wanted.iter().map(|it| it.key()).collect();
        let kept = |keys: &[KeyId]| {
            let mut kept = Requirements::new();
            for own in wanted.iter().filter(|it| keys.contains(&it.key())) {
                kept.add(own.clone(), self.vocabulary());
            }
            kept
        };
        if let Some(one) = keys.iter().find(|key| !is_met(&kept(&[**key]))) {
            return vec![*one];
        }
        let pairs = keys
            .iter()
            .enumerate()
            .flat_map(|(place, one)| keys[place + 1..].iter().map(move |other| vec![*one, *other]));
        let pair = pairs.into_iter().find(|pair| !is_met(&kept(pair)));
        pair.unwrap_or(keys)
    }

    /// The labels that the pool itself does not allow or define.
    fn missed_labels(&self) -> Vec<KeyId> {
        let base = self.solver.base;
        let mut own = Requirements::new();
        let missed = self.variant.node.iter().filter(|wanted| {
            own = Requirements::new();
            own.add((*wanted).clone(), &base.vocabulary);
            !self.template.requirements.compatible(&own, &base.well_known, &base.vocabulary)
        });
        missed.map(|wanted| wanted.key()).collect()
    }

    fn missed_taint(&self) -> Option<Taint> {
        if self.template.taints.is_subset(&self.variant.tolerated) {
            return None;
        }
        let base = self.solver.base;
        let taints = &base.problem.pools[self.template.pool].pool.template.spec.taints;
        untolerated(taints, &self.class.shape.tolerations).next().cloned()
    }

    fn weight(&self, miss: &Miss) -> u32 {
        match miss {
            Miss::Taken => 1,
            Miss::Taint(_) => 10,
            Miss::Label(key) if *key == KeyId::NODE_POOL => 60,
            Miss::Label(key) if !self.solver.base.well_known.contains(*key) => 40,
            Miss::Label(_) | Miss::Types(_) => 20,
            Miss::Offerings(_) => 15,
            Miss::Room => self.room_weight(),
        }
    }

    /// The reason in words.
    pub(super) fn text(&self, misses: &[Miss]) -> String {
        match misses.first() {
            Some(Miss::Taint(taint)) => format!(
                "NodePool {} has the taint {taint}, which the pod does not tolerate; add a \
                 toleration for it to the pod",
                self.pool_name()
            ),
            Some(Miss::Label(key)) => self.label_text(*key),
            Some(Miss::Types(keys)) => self.types_text(keys),
            Some(Miss::Offerings(keys)) => self.offerings_text(keys),
            Some(Miss::Room) => self.room_text(misses),
            Some(Miss::Taken) | None => self.taken_text(),
        }
    }
}
