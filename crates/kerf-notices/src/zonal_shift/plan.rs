//! Everything that must change so that the cluster avoids the zones to be avoided, and those only.
//!
//! A plan follows from the state and from what is there now, not from events: made again after a
//! crash it holds what is still to be done, and made again after it was carried out it is empty.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::auto_mode::{
    AutoModeRevert, CopyPlan, Retirement, copy_name, copy_weight, is_ours, plan_copy, remove,
};
use super::edit_memory::EditMemory;
use super::instant::UnixSeconds;
use super::keep_out::Zones;
use super::node::{NodeAction, NodeEdit, NodeView};
use super::note::Note;
use super::outlook::Outlook;
use super::pool::{AWAY_ZONES, NodeClassKey, Pool, PoolKey};
use super::pool_edit::{CopyEdit, PoolAction, PoolEdit};
use super::pool_plan::{PoolPlan, SkipReason, plan_pool};
use super::pool_record::{Record, read_zones};
use super::state::ShiftState;
use super::zone::{ZoneName, ZoneTable};

/// What there is to plan for.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<'a> {
    /// Ids and names of zones.
    pub zones: &'a ZoneTable,
    /// Zones in which the cluster has subnets or nodes; empty when not known.
    pub used_zones: &'a BTreeSet<ZoneName>,
    /// Zones of node classes, from their status.
    pub node_class_zones: &'a BTreeMap<NodeClassKey, BTreeSet<ZoneName>>,
    /// Every NodePool, as the API server has it.
    pub pools: &'a [&'a Value],
    /// Every node.
    pub nodes: &'a [&'a NodeView],
}

/// What the operator chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `--enable-do-not-disrupt`.
    pub do_not_disrupt: bool,
    /// `--taint-away-nodes`.
    pub taint_away_nodes: bool,
    /// `--auto-mode-revert`.
    pub auto_mode_revert: AutoModeRevert,
    /// Until then, pools that are annotated without a known shift stay as they are: the shift may
    /// only not be known yet.
    pub grace_until: UnixSeconds,
}

/// What to do, in this order. A step that fails does not stop the others: the next plan has it
/// again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The changes.
    pub steps: Vec<Step>,
    /// What people should hear; [`EditMemory::unheard`] leaves out what was said before.
    pub notes: Vec<Note>,
    /// When to plan again even if nothing happens.
    pub look_again_at: Option<UnixSeconds>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// To a node.
    Node(NodeEdit),
    /// To a pool.
    Pool(PoolEdit),
    /// To a stand-in for a built-in pool.
    Copy(CopyEdit),
}

impl Plan {
    /// Makes the plan for this moment.
    pub fn new(
        state: &ShiftState,
        cluster: Cluster<'_>,
        options: &Options,
        memory: &EditMemory,
        now: UnixSeconds,
    ) -> Plan {
        let outlook = Outlook::new(state, cluster, options.grace_until, now);
        let mut planner =
            Planner { cluster, options, memory, now, plan: Plan::default(), outlook: &outlook };
        planner.plan.notes = outlook.notes();
        let pools = planner.read_pools();
        planner.plan_pools(&pools);
        planner.plan_copies(&pools);
        planner.plan_nodes(&pools);
        let mut plan = planner.plan;
        plan.steps.sort_by_key(Step::phase);
        if now < options.grace_until {
            plan.look_again(options.grace_until);
        }
        plan
    }

    fn look_again(&mut self, at: UnixSeconds) {
        self.look_again_at = Some(self.look_again_at.map_or(at, |known| known.min(at)));
    }
}

struct Planner<'a> {
    cluster: Cluster<'a>,
    options: &'a Options,
    memory: &'a EditMemory,
    outlook: &'a Outlook<'a>,
    now: UnixSeconds,
    plan: Plan,
}

impl<'a> Planner<'a> {
    fn read_pools(&mut self) -> Vec<Pool<'a>> {
        let mut pools = Vec::new();
        for &object in self.cluster.pools {
            match Pool::read(object) {
                Ok(pool) => pools.push(pool),
                Err(_) => {
                    let text = |p: &str| object.pointer(p).and_then(Value::as_str);
                    let key = PoolKey {
                        api_version: text("/apiVersion").unwrap_or_default().to_owned(),
                        kind: text("/kind").unwrap_or_default().to_owned(),
                        name: text("/metadata/name").unwrap_or_default().to_owned(),
                    };
                    self.skip(&key, self.outlook.away.clone(), SkipReason::Unreadable);
                }
            }
        }
        pools
    }

    fn plan_pools(&mut self, pools: &[Pool<'_>]) {
        for pool in pools.iter().filter(|pool| !pool.is_built_in() && !is_copy(pool, pools)) {
            let record = Record::read(&pool.annotations, self.cluster.zones);
            if matches!(record, Record::ZonesOnly { is_damaged: true, .. }) {
                self.plan.notes.push(Note::MemoryDamaged(pool.key.clone()));
            }
            let away = self.away_for(pool, &record.away());
            match plan_pool(pool, &record, self.zones(pool, &away)) {
                PoolPlan::AsItShouldBe => {}
                PoolPlan::Skip(reason) => self.skip(&pool.key, away, reason),
                PoolPlan::Edit(edit) => self.take_edit(edit, &away),
            }
        }
    }

    fn take_edit(&mut self, edit: PoolEdit, away: &BTreeSet<ZoneName>) {
        if edit.action == PoolAction::Restrict && self.outlook.is_nowhere_else {
            return self.skip(&edit.pool, away.clone(), SkipReason::NowhereElse);
        }
        match self.memory.must_wait_until(&edit, self.now) {
            Some(at) => self.plan.look_again(at),
            None => self.plan.steps.push(Step::Pool(edit)),
        }
    }

    fn plan_copies(&mut self, pools: &[Pool<'_>]) {
        let weight = copy_weight(pools.iter().filter(|pool| !is_copy(pool, pools)));
        let by_name = |name: &str| pools.iter().find(|pool| pool.key.name == name);
        for built_in in pools.iter().filter(|pool| pool.is_built_in()) {
            let copy = by_name(&copy_name(&built_in.key.name));
            let known = copy.filter(|copy| is_ours(copy)).map(|copy| self.annotated(copy));
            let away = self.away_for(built_in, &known.unwrap_or_default());
            let zones = self.zones(built_in, &away);
            let retirement = self.retirement(copy_name(&built_in.key.name).as_str());
            match plan_copy(built_in, copy, weight, zones, retirement) {
                CopyPlan::AsItShouldBe => {}
                CopyPlan::Skip(reason) => self.skip(&built_in.key, away, reason),
                CopyPlan::Edit(CopyEdit::Create { .. }) if self.outlook.is_nowhere_else => {
                    self.skip(&built_in.key, away, SkipReason::NowhereElse);
                }
                CopyPlan::Edit(edit) => self.plan.steps.push(Step::Copy(edit)),
            }
        }
        // Somebody switched the built-in pool off: what stands in for it goes, too.
        let is_orphan = |copy: &&Pool<'_>| copy.copy_of().is_some_and(|n| by_name(n).is_none());
        for copy in pools.iter().filter(is_orphan) {
            if let CopyPlan::Edit(edit) = remove(copy, self.retirement(&copy.key.name)) {
                self.plan.steps.push(Step::Copy(edit));
            }
        }
    }

    fn plan_nodes(&mut self, pools: &[Pool<'_>]) {
        let options = self.options;
        let emptied = self.emptied_by_taint(pools);
        let outlook = self.outlook;
        for node in self.cluster.nodes {
            let zone = node.zone_in(self.cluster.zones);
            let is_away =
                zone.is_some_and(|zone| outlook.away.contains(zone)) && !outlook.is_nowhere_else;
            let is_over = zone.is_none_or(|zone| outlook.is_over(zone));
            let emptied_zone = || {
                let zones = node.pool.as_ref().and_then(|pool| emptied.get(pool))?;
                zone.filter(|zone| zones.contains(*zone))
            };
            let may_taint = options.taint_away_nodes && !options.do_not_disrupt;
            let edits = [
                (options.do_not_disrupt && is_away).then(|| node.protect()).flatten(),
                (!options.do_not_disrupt || is_over).then(|| node.unprotect()).flatten(),
                (may_taint && is_away)
                    .then(emptied_zone)
                    .flatten()
                    .and_then(|zone| node.taint(zone)),
                (!may_taint || is_over).then(|| node.untaint()).flatten(),
            ];
            self.plan.steps.extend(edits.into_iter().flatten().map(Step::Node));
        }
    }

    /// Built-in pools whose stand-in exists, and the zones it avoids: only there may a taint drive
    /// pods away, since only then they have somewhere to go.
    fn emptied_by_taint(&self, pools: &[Pool<'_>]) -> BTreeMap<String, BTreeSet<ZoneName>> {
        let copies = pools.iter().filter(|pool| is_ours(pool));
        let emptied = copies.filter_map(|copy| Some((copy.copy_of()?, self.annotated(copy))));
        emptied.map(|(built_in, zones)| (built_in.to_owned(), zones)).collect()
    }

    fn annotated(&self, pool: &Pool<'_>) -> BTreeSet<ZoneName> {
        let zones = pool.annotations.get(AWAY_ZONES);
        zones.map(|text| read_zones(text, self.cluster.zones)).unwrap_or_default()
    }

    fn away_for(&self, pool: &Pool<'_>, annotated: &BTreeSet<ZoneName>) -> BTreeSet<ZoneName> {
        if pool.is_ignored() {
            return BTreeSet::new();
        }
        let kept = annotated.iter().filter(|zone| !self.outlook.is_over(zone));
        self.outlook.away.iter().chain(kept).cloned().collect()
    }

    fn zones<'b>(&'b self, pool: &Pool<'_>, away: &'b BTreeSet<ZoneName>) -> Zones<'b> {
        Zones { away, reach: reach(self.cluster, pool), table: self.cluster.zones }
    }

    fn retirement(&self, copy: &str) -> Retirement {
        let has_nodes = self.cluster.nodes.iter().any(|node| node.pool.as_deref() == Some(copy));
        Retirement { revert: self.options.auto_mode_revert, has_nodes }
    }

    fn skip(&mut self, pool: &PoolKey, zones: BTreeSet<ZoneName>, reason: SkipReason) {
        if !zones.is_empty() {
            self.plan.notes.push(Note::Skipped { pool: pool.clone(), zones, reason });
        }
    }
}

/// The zones a pool's node class has subnets in, or else those the cluster uses.
fn reach<'a>(cluster: Cluster<'a>, pool: &Pool<'_>) -> &'a BTreeSet<ZoneName> {
    let of_class = pool.node_class.as_ref().and_then(|c| cluster.node_class_zones.get(c));
    of_class.filter(|zones| !zones.is_empty()).unwrap_or(cluster.used_zones)
}

/// Whether the pool stands in for a built-in one, by label or, from before Kerf, by name.
fn is_copy(pool: &Pool<'_>, pools: &[Pool<'_>]) -> bool {
    let has_name =
        || pools.iter().any(|p| p.is_built_in() && copy_name(&p.key.name) == pool.key.name);
    pool.copy_of().is_some() || (is_ours(pool) && has_name())
}

impl Step {
    /// Nodes are protected before pools change and released after: in between they would drift.
    /// Stand-ins come before anything is driven away.
    pub fn phase(&self) -> u8 {
        match self {
            Step::Node(edit) if edit.action == NodeAction::Protect => 0,
            Step::Copy(CopyEdit::Create { .. }) => 1,
            Step::Pool(_) | Step::Copy(CopyEdit::Replace { .. }) => 2,
            Step::Node(edit) if edit.action == NodeAction::Taint => 3,
            Step::Node(_) => 4,
            Step::Copy(CopyEdit::Delete { .. }) => 5,
        }
    }
}
