//! Nodes that are alike but for their host name, so that what pods ask is asked once of all of them.

use std::sync::Arc;

use kerf_model::requirement::Requirement;
use kerf_model::requirements::Requirements;
use kerf_model::taint::{Taint, TaintSet};
use kerf_model::vocabulary::{KeyId, KeySet, ValueId, ValueSet, Vocabulary};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Labels as they are listed on a node, without its host name.
pub(crate) type LabelIds = SmallVec<[(KeyId, ValueId); 16]>;

/// What nodes of one kind have in common.
#[derive(Debug)]
pub(crate) struct NodeKind {
    /// Its place in the table.
    pub(crate) number: u32,
    /// Without the host name.
    pub(crate) labels: Requirements,
    pub(crate) taints: TaintSet,
    pub(crate) taint_list: Vec<Taint>,
    identity: Arc<Identity>,
}

/// What tells kinds apart.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity {
    /// In the order they are read, which is the order they are numbered in.
    labels: LabelIds,
    taints: TaintSet,
    /// The resources that nodes and their pods name, in the order they are read.
    resources: SmallVec<[u32; 8]>,
}

/// Every kind that was met so far.
#[derive(Default)]
pub(crate) struct NodeKinds {
    kinds: Vec<Arc<NodeKind>>,
    numbers: FxHashMap<Arc<Identity>, u32>,
}

/// How much was numbered before the first node was read: that stays as it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberedBefore {
    pub(crate) keys: usize,
    pub(crate) resources: usize,
    /// By key: how many values.
    pub(crate) values: Vec<usize>,
}

impl NumberedBefore {
    pub(crate) fn of(vocabulary: &Vocabulary, resources: usize) -> Self {
        let values = vocabulary.keys().map(|(key, _)| vocabulary.value_count(key)).collect();
        Self { keys: vocabulary.key_count(), resources, values }
    }
}

impl NodeKinds {
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The kind of a node.
    pub(crate) fn of(
        &mut self,
        labels: LabelIds,
        (taints, taint_list): (TaintSet, &[Taint]),
        resources: SmallVec<[u32; 8]>,
        vocabulary: &Vocabulary,
    ) -> Arc<NodeKind> {
        let identity = Identity { labels, taints, resources };
        if let Some(number) = self.numbers.get(&identity) {
            return self.kinds[*number as usize].clone();
        }
        let number = u32::try_from(self.kinds.len()).expect("fewer than 2³² kinds");
        let mut labels = Requirements::with_capacity(identity.labels.len());
        for (key, value) in identity.labels.iter().copied() {
            labels.add(Requirement::equal(key, value), vocabulary);
        }
        let identity = Arc::new(identity);
        let kind = Arc::new(NodeKind {
            number,
            labels,
            taints: identity.taints.clone(),
            taint_list: taint_list.to_vec(),
            identity: identity.clone(),
        });
        self.kinds.push(kind.clone());
        self.numbers.insert(identity, number);
        kind
    }
}

impl NodeKind {
    /// What a label is, other than the host name.
    pub(crate) fn label(&self, key: KeyId) -> Option<ValueId> {
        self.labels.find(key).and_then(Requirement::single_value)
    }
}

/// Whether a reader that knows nothing yet would number the names of these kinds, met in this order,
/// in the order in which they are numbered, and would know every key and resource there is. Values
/// that no node has any more do no harm: nothing is decided by them.
pub(crate) fn are_numbered_in_order<'a>(
    kinds: impl Iterator<Item = &'a NodeKind>,
    before: &NumberedBefore,
    known: (usize, usize),
) -> bool {
    let (mut keys, mut resources) = (before.keys, before.resources);
    let mut values: FxHashMap<KeyId, Values> = FxHashMap::default();
    for kind in kinds {
        for (key, value) in kind.identity.labels.iter().copied() {
            let place = key.0 as usize;
            if place > keys {
                return false;
            }
            keys = keys.max(place + 1);
            let first = before.values.get(place).copied().unwrap_or(0);
            let values = values.entry(key).or_insert_with(|| Values::from(first));
            if !values.meets(value) {
                return false;
            }
        }
        for resource in kind.identity.resources.iter().map(|resource| *resource as usize) {
            if resource > resources {
                return false;
            }
            resources = resources.max(resource + 1);
        }
    }
    (keys, resources) == known
}

/// The values of one key that were met.
struct Values {
    next: usize,
    met: ValueSet,
    /// Those below are older than any node.
    first: usize,
}

impl Values {
    fn from(first: usize) -> Self {
        Self { next: first, met: ValueSet::new(), first }
    }

    /// Whether a value comes in its turn: it was met before, or has a higher number than all that
    /// were.
    fn meets(&mut self, value: ValueId) -> bool {
        let place = value.0 as usize;
        if place < self.first {
            return true;
        }
        let is_new = self.met.insert(value);
        if is_new && place < self.next {
            return false;
        }
        self.next = self.next.max(place + 1);
        true
    }
}

/// What pods ask of a node, with what they ask of its host name apart.
pub(crate) struct Asked<'a> {
    whole: &'a Requirements,
    apart: Option<(Requirements, Requirement)>,
}

impl<'a> Asked<'a> {
    pub(crate) fn of(whole: &'a Requirements) -> Self {
        let apart = whole.contains(KeyId::HOSTNAME).then(|| {
            let mut rest = whole.clone();
            let host = rest.remove(KeyId::HOSTNAME).expect("it was just found there");
            (rest, host)
        });
        Self { whole, apart }
    }

    /// Whether nodes of a kind may do, whatever their host name.
    pub(crate) fn is_met_by_kind(&self, kind: &NodeKind, vocabulary: &Vocabulary) -> bool {
        let rest = self.apart.as_ref().map_or(self.whole, |(rest, _)| rest);
        kind.labels.compatible(rest, &KeySet::new(), vocabulary)
    }

    /// Whether something is asked of the host name.
    pub(crate) fn names_hosts(&self) -> bool {
        self.apart.is_some()
    }

    /// Whether a host name does.
    pub(crate) fn is_met_by_host(&self, host: Option<ValueId>, vocabulary: &Vocabulary) -> bool {
        self.apart.as_ref().is_none_or(|(_, asked)| match host {
            Some(host) => Requirement::equal(KeyId::HOSTNAME, host).admits(asked, vocabulary),
            None => asked.is_negative(),
        })
    }
}
