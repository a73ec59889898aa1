//! What is known for NodePool mode, and what is remembered of what was done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_notices::zonal_shift::{
    CopyEdit, EditMemory, Listing, NodeClassKey, NodeView, Note, PoolEdit, PoolKey, Received,
    ShiftState, Step, Subnet, UnixSeconds, ZoneName, ZoneTable, node_class_zones, subnet_zones,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ShiftInput, ShiftKind, ShiftNetwork, StoredShifts};
use crate::action::Subject;
use crate::notice::NoticeId;

/// Everything that is known and remembered.
#[derive(Clone, Debug, Default)]
pub struct NodePoolMode {
    /// When the first thing became known.
    pub(crate) started_at: Option<UnixSeconds>,
    /// The ConfigMap; absent until it was read.
    pub(crate) stored: Option<StoredShifts>,
    pub(crate) is_auto_mode: bool,
    pub(crate) pools: BTreeMap<String, Objects<Value>>,
    pub(crate) node_classes: BTreeMap<(String, String), Objects<Value>>,
    pub(crate) nodes: Objects<NodeView>,
    pub(crate) network: Network,
    pub(crate) arc: Arcs,
    /// Messages whose effect is not stored yet, in the order they came.
    pub(crate) announced: BTreeMap<NoticeId, Arc<str>>,
    /// What was made of messages whose effect is being stored.
    pub(crate) receipts: BTreeMap<NoticeId, Received>,
    /// Edits made and notes given lately.
    pub(crate) edits: EditMemory,
    /// Changes whose last try failed; later ones do not wait for them.
    pub(crate) failed: BTreeSet<StepKey>,
}

/// The objects of a kind, by name.
#[derive(Clone, Debug)]
pub(crate) struct Objects<T> {
    pub(crate) by_name: BTreeMap<String, T>,
    /// Whether all have been seen once, or cannot be.
    pub(crate) is_settled: bool,
}

/// The account and the cluster, as last described.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    pub(crate) zones: ZoneTable,
    pub(crate) cluster_arn: Option<String>,
    vpc_id: Option<String>,
    subnets: Option<Vec<Subnet>>,
    /// When it was last described; absent when it never was.
    pub(crate) asked_at: Option<UnixSeconds>,
    /// Whether zones and subnets were told.
    pub(crate) is_whole: bool,
}

/// ARC's answers and when they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arcs {
    /// The last answer, until its effect is stored.
    pub(crate) unapplied: Option<Listing>,
    /// When it was last read; absent when it is to be asked at once.
    pub(crate) read_at: Option<UnixSeconds>,
    /// Whether a permission is missing, so that shifts have to end by age.
    pub(crate) is_denied: bool,
    /// When shifts were last checked for their age.
    pub(crate) looked_at: Option<UnixSeconds>,
}

/// One reading of ARC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArcReading {
    /// What it lists.
    pub listing: Listing,
    /// Whether it lists the shifts of every origin.
    pub is_complete: bool,
    /// Whether a permission is missing.
    pub is_denied: bool,
}

/// The object that a change is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StepKey {
    Pool(String),
    Node(String),
}

/// What a planner remembers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// These messages were understood, and their effect is about to be stored.
    Understood(Vec<(NoticeId, Received)>),
    /// Their effect could not be stored; they are to be read again.
    NotStored(Vec<NoticeId>),
    /// They are done with.
    Settled(Vec<NoticeId>),
    /// ARC's last answer had its effect.
    ListingApplied,
    /// ARC is to be asked at once: only it knows the new expiry of a shift.
    AskArc,
    /// Shifts were checked for their age.
    LookedForOld(UnixSeconds),
    /// These notes were given; they are not repeated while they hold.
    Noted(Vec<Note>),
    /// A pool was changed.
    Edited(Box<PoolEdit>, UnixSeconds),
    /// A change was made, or failed.
    Tried { step: StepKey, has_failed: bool },
}

impl NodePoolMode {
    /// Takes in what became known. Says which object it is about, and whether anything changed
    /// that a shift looks at.
    pub(crate) fn take_in(&mut self, input: ShiftInput, now: UnixSeconds) -> (Subject, bool) {
        self.started_at.get_or_insert(now);
        match input {
            ShiftInput::Served { kinds, is_auto_mode } => self.serve(kinds, is_auto_mode),
            ShiftInput::Listed { kind, objects } => self.list(&kind, objects),
            ShiftInput::Unlistable(kind) => self.settle(&kind),
            ShiftInput::Seen { kind, object } => return self.see(&kind, object),
            ShiftInput::Gone { kind, name } => {
                self.forget(&kind, &name);
                return (kind.subject(&name), true);
            }
            ShiftInput::Stored(stored) => self.take_stored(stored),
            ShiftInput::Network(network) => self.network.take(network, now),
            ShiftInput::Arc(reading) => {
                if reading.is_complete || reading.is_denied {
                    self.arc.is_denied = !reading.is_complete;
                }
                self.arc.unapplied = Some(reading.listing);
                self.arc.read_at = Some(now);
            }
            ShiftInput::Announced { id, body } => drop(self.announced.insert(id, body)),
        }
        (Subject::ZonalShift, true)
    }

    /// Where there is no ConfigMap, what is known stays: deleting it ends no shift.
    fn take_stored(&mut self, stored: StoredShifts) {
        // An answer of ARC counts once: it was about the state before, and the next one is about
        // this. The watch may show the state before the write that made it is answered.
        if self.stored.as_ref().is_some_and(|known| known.state != stored.state) {
            self.arc.unapplied = None;
        }
        match &mut self.stored {
            Some(known) if stored.version.is_none() => known.version = None,
            known => *known = Some(stored),
        }
    }

    fn serve(&mut self, kinds: Vec<ShiftKind>, is_auto_mode: bool) {
        self.is_auto_mode = is_auto_mode;
        (self.pools, self.node_classes) = (BTreeMap::new(), BTreeMap::new());
        self.nodes = Objects::default();
        for kind in kinds {
            match kind {
                ShiftKind::Pool(kind) => drop(self.pools.insert(kind, Objects::default())),
                ShiftKind::NodeClass(group, kind) => {
                    self.node_classes.insert((group, kind), Objects::default());
                }
                ShiftKind::Node => {}
            }
        }
    }

    fn list(&mut self, kind: &ShiftKind, objects: Vec<Value>) {
        if let ShiftKind::Node = kind {
            let nodes = objects.iter().filter_map(NodeView::read);
            self.nodes.by_name = nodes.map(|node| (node.name.clone(), node)).collect();
            self.nodes.is_settled = true;
        } else if let Some(known) = self.objects_of(kind) {
            let named = objects.into_iter().filter_map(|object| Some((name_of(&object)?, object)));
            known.by_name = named.collect();
            known.is_settled = true;
        }
    }

    fn settle(&mut self, kind: &ShiftKind) {
        match (kind, self.objects_of(kind)) {
            (ShiftKind::Node, _) => self.nodes.is_settled = true,
            (_, Some(known)) => known.is_settled = true,
            (_, None) => {}
        }
    }

    fn see(&mut self, kind: &ShiftKind, object: Value) -> (Subject, bool) {
        let Some(name) = name_of(&object) else { return (Subject::ZonalShift, false) };
        let subject = kind.subject(&name);
        let is_news = match kind {
            ShiftKind::Node => {
                let Some(node) = NodeView::read(&object) else { return (subject, false) };
                let before = self.nodes.by_name.get(&name);
                if before.is_some_and(|before| before.revision() > node.revision()) {
                    return (subject, false);
                }
                let is_waited_for = self.failed.contains(&StepKey::Node(name.clone()));
                let before = self.nodes.by_name.insert(name, node.clone());
                is_waited_for || before.is_none_or(|before| !before.says_the_same_as(&node))
            }
            _ => {
                let Some(known) = self.objects_of(kind) else { return (subject, false) };
                let before = known.by_name.get(&name);
                if before.is_some_and(|before| revision_of(before) > revision_of(&object)) {
                    return (subject, false);
                }
                known.by_name.insert(name, object);
                true
            }
        };
        (subject, is_news)
    }

    fn forget(&mut self, kind: &ShiftKind, name: &str) {
        match (kind, self.objects_of(kind)) {
            (ShiftKind::Node, _) => drop(self.nodes.by_name.remove(name)),
            (_, Some(known)) => drop(known.by_name.remove(name)),
            (_, None) => {}
        }
    }

    fn objects_of(&mut self, kind: &ShiftKind) -> Option<&mut Objects<Value>> {
        match kind {
            ShiftKind::Pool(kind) => self.pools.get_mut(kind),
            ShiftKind::NodeClass(group, kind) => {
                self.node_classes.get_mut(&(group.clone(), kind.clone()))
            }
            ShiftKind::Node => None,
        }
    }

    /// Takes in what a planner remembers.
    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Understood(receipts) => {
                for (id, received) in receipts {
                    self.receipts.entry(id).or_insert(received);
                }
            }
            Change::NotStored(ids) => ids.iter().for_each(|id| drop(self.receipts.remove(id))),
            Change::Settled(ids) => {
                for id in ids {
                    self.receipts.remove(&id);
                    self.announced.remove(&id);
                }
            }
            Change::ListingApplied => self.arc.unapplied = None,
            Change::AskArc => self.arc.read_at = None,
            Change::LookedForOld(at) => self.arc.looked_at = Some(at),
            Change::Noted(notes) => drop(self.edits.unheard(&notes)),
            Change::Edited(edit, at) => self.edits.carried_out(&edit, at),
            Change::Tried { step, has_failed: true } => drop(self.failed.insert(step)),
            Change::Tried { step, has_failed: false } => drop(self.failed.remove(&step)),
        }
    }

    /// Who wants which zone avoided, as it is stored; nothing before it was read.
    #[must_use]
    pub fn state(&self) -> Option<&ShiftState> {
        self.stored.as_ref().map(|stored| &stored.state)
    }

    /// The version of the ConfigMap, as far as is known.
    #[must_use]
    pub fn stored_version(&self) -> Option<&str> {
        self.stored.as_ref()?.version.as_deref()
    }

    /// The identity of a pool.
    #[must_use]
    pub fn uid_of(&self, pool: &PoolKey) -> Option<String> {
        let object = self.pools.get(&pool.kind)?.by_name.get(&pool.name)?;
        object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned)
    }

    /// Whether all objects have been seen once, or cannot be.
    pub(crate) fn is_listed(&self) -> bool {
        let pools = self.pools.values().map(|known| known.is_settled);
        let classes = self.node_classes.values().map(|known| known.is_settled);
        pools.chain(classes).chain([self.nodes.is_settled]).all(|is_settled| is_settled)
    }

    /// Ids and names of zones from every source; the first that knows one is believed. Beside
    /// them, the zones of node classes.
    #[must_use]
    pub fn zones(&self) -> (ZoneTable, BTreeMap<NodeClassKey, BTreeSet<ZoneName>>) {
        let mut zones = self.network.zones.clone();
        let mut by_class = BTreeMap::<_, BTreeSet<_>>::new();
        for ((group, _), classes) in &self.node_classes {
            for (name, class) in &classes.by_name {
                let of_class = by_class.entry(NodeClassKey::new(group, name)).or_default();
                of_class.extend(node_class_zones(class, &mut zones));
            }
        }
        for node in self.nodes.by_name.values() {
            if let (Some(id), Some(name)) = (&node.zone_id, &node.zone) {
                zones.learn(id, name);
            }
        }
        for (id, name) in self.stored.iter().flat_map(|stored| stored.zones.pairs()) {
            zones.learn(id, name);
        }
        (zones, by_class)
    }

    /// The zones of the cluster's subnets; empty when not known.
    pub(crate) fn subnet_zones(&self, cluster_name: &str) -> BTreeSet<ZoneName> {
        match (&self.network.subnets, &self.network.vpc_id) {
            (Some(subnets), Some(vpc)) => {
                subnet_zones(subnets, cluster_name, vpc, self.is_auto_mode)
            }
            _ => BTreeSet::new(),
        }
    }
}

impl Network {
    /// What gave no answer stays as it was.
    fn take(&mut self, network: ShiftNetwork, now: UnixSeconds) {
        let ShiftNetwork { zones, cluster_arn, vpc_id, subnets } = network;
        self.is_whole = zones.is_some() && subnets.is_some();
        self.zones = zones.unwrap_or_else(|| std::mem::take(&mut self.zones));
        if cluster_arn.is_some() {
            (self.cluster_arn, self.vpc_id) = (cluster_arn, vpc_id);
        }
        self.subnets = subnets.or(self.subnets.take());
        self.asked_at = Some(now);
    }
}

impl StepKey {
    pub(crate) fn of(step: &Step) -> Self {
        match step {
            Step::Node(edit) => StepKey::Node(edit.node.clone()),
            Step::Pool(edit) => StepKey::Pool(edit.pool.name.clone()),
            Step::Copy(CopyEdit::Delete { pool }) => StepKey::Pool(pool.name.clone()),
            Step::Copy(CopyEdit::Create { object } | CopyEdit::Replace { object, .. }) => {
                StepKey::Pool(name_of(object).unwrap_or_default())
            }
        }
    }

    pub(crate) fn subject(&self) -> Subject {
        match self {
            StepKey::Pool(name) => Subject::Pool(name.as_str().into()),
            StepKey::Node(name) => Subject::Node(name.as_str().into()),
        }
    }
}

impl ShiftKind {
    fn subject(&self, name: &str) -> Subject {
        match self {
            ShiftKind::Pool(_) => Subject::Pool(name.into()),
            ShiftKind::Node => Subject::Node(name.into()),
            ShiftKind::NodeClass(..) => Subject::ZonalShift,
        }
    }
}

impl<T> Default for Objects<T> {
    fn default() -> Self {
        Self { by_name: BTreeMap::new(), is_settled: false }
    }
}

/// What a write gave back may be known before the watch tells of the state before it.
fn revision_of(object: &Value) -> Option<u64> {
    object.pointer("/metadata/resourceVersion")?.as_str()?.parse().ok()
}

fn name_of(object: &Value) -> Option<String> {
    object.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned)
}
