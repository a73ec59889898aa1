//! Asking whose instances are: which ids together, by which call, and what to do when it fails.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::backoff::{CallFailure, Rng};
use super::memory::{InstanceKey, Ownership};
use super::{Owner, Router, Scope};
use crate::message::InstanceId;

/// The most values that a filter of DescribeInstances takes.
const IDS_PER_CALL_MAX: usize = 200;

/// After this many single lookups have failed in a batch the rest fail unasked: the service is
/// down, and more calls would only keep it there.
const FAILED_SINGLES_MAX: u32 = 5;

/// Single lookups asked together. Few, so that a service that is down is noticed early.
const SINGLES_TOGETHER_MAX: usize = 10;

/// The call to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// DescribeInstances with the filter `instance-id`. The parameter `InstanceIds` would fail the
    /// whole call for one unknown id.
    Instances,
    /// DescribeTags with the filter `resource-id`.
    Tags,
    /// DescribeInstances for one instance.
    Single,
}

/// A query about instances of one account and region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// Where to ask.
    pub scope: Arc<Scope>,
    /// At most 200.
    pub ids: Vec<InstanceId>,
    /// How to ask.
    pub via: Via,
    attempts: u32,
    not_before_ms: u64,
}

/// An instance that exists, with its tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedInstance {
    /// Its id.
    pub id: InstanceId,
    /// Keys and values.
    pub tags: Vec<(String, String)>,
}

/// The lookups of one batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookups {
    waiting: Vec<Lookup>,
    wanted: FxHashSet<InstanceKey>,
    new: BTreeMap<Arc<Scope>, Vec<InstanceId>>,
    answers: FxHashMap<InstanceKey, Result<Ownership, CallFailure>>,
    failed_singles: u32,
}

impl Lookups {
    /// What is known by now; asks if nothing is.
    pub(super) fn ownership(
        &mut self,
        key: &InstanceKey,
    ) -> Option<Result<Ownership, CallFailure>> {
        if let Some(answer) = self.answers.get(key) {
            return Some(answer.clone());
        }
        if self.wanted.insert(key.clone()) {
            self.new.entry(Arc::clone(&key.0)).or_default().push(key.1);
        }
        None
    }

    /// The lookups whose time has come, misses of the whole batch put together.
    pub(super) fn due(&mut self, now_ms: u64) -> Vec<Lookup> {
        for (scope, ids) in std::mem::take(&mut self.new) {
            for ids in ids.chunks(IDS_PER_CALL_MAX) {
                self.waiting.push(Lookup::new(Arc::clone(&scope), ids.to_vec(), Via::Instances));
            }
        }
        let mut singles = 0;
        let (due, later) = self.waiting.drain(..).partition(|lookup: &Lookup| {
            singles += usize::from(lookup.via == Via::Single);
            let too_many = lookup.via == Via::Single && singles > SINGLES_TOGETHER_MAX;
            lookup.not_before_ms <= now_ms && !too_many
        });
        self.waiting = later;
        due
    }

    /// When the next lookup may be asked.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.waiting.iter().map(|lookup| lookup.not_before_ms).min()
    }

    /// Takes in the answer to a lookup. Ids that the answer leaves out belong to nobody.
    pub(super) fn answered(
        &mut self,
        router: &mut Router,
        lookup: Lookup,
        instances: Vec<TaggedInstance>,
        now_ms: u64,
    ) {
        let mut tags: FxHashMap<_, _> =
            instances.into_iter().map(|instance| (instance.id, instance.tags)).collect();
        for id in lookup.ids {
            let required = &router.settings.static_map.required_tags;
            let owner = tags.remove(&id).and_then(|tags| Owner::from_tags(&tags, required));
            let key = (Arc::clone(&lookup.scope), id);
            let ownership = router.learn_owner(key.clone(), owner, now_ms);
            self.answers.insert(key, Ok(ownership));
        }
    }

    /// Decides what follows a lookup that gave no answer: again later, another way, or failure.
    pub(super) fn failed(
        &mut self,
        lookup: Lookup,
        failure: &CallFailure,
        rng: &mut Rng,
        (now_ms, patient_until_ms): (u64, u64),
    ) {
        // Another way to ask, or one by one, helps against neither of these.
        if matches!(failure, CallFailure::Throttled { .. } | CallFailure::Credentials(_)) {
            let wait_ms = failure.wait_ms(lookup.attempts, rng.next_u64());
            let not_before_ms = now_ms.saturating_add(wait_ms);
            match not_before_ms < patient_until_ms {
                true => {
                    let attempts = lookup.attempts + 1;
                    self.waiting.push(Lookup { attempts, not_before_ms, ..lookup });
                }
                false => self.give_up(lookup, failure),
            }
            return;
        }
        let denied = matches!(failure, CallFailure::Denied(_));
        match lookup.via {
            Via::Instances => {
                let Lookup { scope, ids, .. } = lookup;
                self.waiting.push(Lookup::new(scope, ids, Via::Tags));
            }
            // One by one, a single bad apple no longer spoils the others. A missing permission
            // would be missing for each.
            Via::Tags if !denied => {
                let Lookup { scope, ids, .. } = lookup;
                let singles = ids.into_iter().map(|id| vec![id]);
                let singles = singles.map(|id| Lookup::new(Arc::clone(&scope), id, Via::Single));
                self.waiting.extend(singles);
            }
            Via::Tags => self.give_up(lookup, failure),
            Via::Single => {
                self.failed_singles += 1;
                self.give_up(lookup, failure);
                if self.failed_singles >= FAILED_SINGLES_MAX {
                    let (singles, others) = self
                        .waiting
                        .drain(..)
                        .partition(|lookup: &Lookup| lookup.via == Via::Single);
                    self.waiting = others;
                    let singles: Vec<Lookup> = singles;
                    singles.into_iter().for_each(|single| self.give_up(single, failure));
                }
            }
        }
    }

    fn give_up(&mut self, lookup: Lookup, failure: &CallFailure) {
        for id in lookup.ids {
            self.answers.insert((Arc::clone(&lookup.scope), id), Err(failure.clone()));
        }
    }
}

impl Lookup {
    fn new(scope: Arc<Scope>, ids: Vec<InstanceId>, via: Via) -> Self {
        Self { scope, ids, via, attempts: 0, not_before_ms: 0 }
    }
}
