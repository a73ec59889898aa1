//! What follows from the state: made into a plan and carried out.

use std::collections::BTreeSet;

use kerf_notices::zonal_shift::{
    Cluster, GRACE_SECONDS, Note, Options, Plan, PoolEvent, Step, UnixSeconds, ZoneName, ZoneTable,
};
use tracing::{debug, info, warn};

use super::Desk;
use crate::api_call::ApiFailure;
use crate::daemon::complaints::Kind;
use crate::daemon::hands::{Done, Hands};
use crate::daemon::mirrors::{Mirrors, View};

/// What failed for another reason than being late is tried again after so long.
const RETRY_SECONDS: i64 = 10;

/// When to plan.
#[derive(Debug, Default)]
pub(super) struct Planning {
    /// Something changed.
    pub(super) is_due: bool,
    /// Time alone will change something, or something failed.
    look_again_at: Option<UnixSeconds>,
}

impl Planning {
    fn look_again(&mut self, at: UnixSeconds) {
        self.look_again_at = Some(self.look_again_at.map_or(at, |known| known.min(at)));
    }
}

impl Desk {
    /// Plans and carries out, if anything changed.
    pub(super) async fn plan(&mut self, now: UnixSeconds) {
        let is_time = self.planning.look_again_at.is_some_and(|at| at <= now);
        let Some(mirrors) = self.mirrors.as_ref().filter(|mirrors| mirrors.are_settled()) else {
            return;
        };
        if !self.planning.is_due && !is_time {
            return;
        }
        self.planning = Planning::default();
        let view = mirrors.view(self.zones.clone());
        let used_zones = self.used_zones(mirrors, &view);
        let cluster = Cluster {
            zones: &view.zones,
            used_zones: &used_zones,
            node_class_zones: &view.node_class_zones,
            pools: &view.pools,
            nodes: &view.nodes,
        };
        let state = self.store.state();
        let plan = Plan::new(state, cluster, &self.options(), &self.memory, now);
        self.tools.metrics.shows(state, &view.zones);
        if let Some(at) = plan.look_again_at {
            self.planning.look_again(at);
        }
        self.tell(&plan.notes).await;
        self.carry_out(&plan.steps, &view.zones, now).await;
    }

    async fn carry_out(&mut self, steps: &[Step], zones: &ZoneTable, now: UnixSeconds) {
        let Some(mirrors) = &self.mirrors else { return };
        if steps.is_empty() {
            return;
        }
        // What was done may allow more: a stand-in that is there lets nodes be emptied.
        self.planning.is_due = true;
        let (client, pace) = (self.tools.client.clone(), self.tools.pace.clone());
        let hands = Hands::new(client, pace, mirrors.kinds.pools.clone());
        for Done { step, result } in hands.carry_out(steps, mirrors).await {
            let what = what(step);
            match result {
                Ok(object) => {
                    object.into_iter().for_each(|object| mirrors.learn(object));
                    self.tools.complaints.settle(what);
                    self.tools.metrics.carried_out(step);
                    log(step);
                    if let Step::Pool(edit) = step {
                        self.memory.carried_out(edit, now);
                        for event in PoolEvent::of_edit(edit, zones) {
                            self.announcer.announce(&event, mirrors.uid_of(&event.pool)).await;
                        }
                    }
                }
                // The watch tells what it is like now, and the next plan sees to it.
                Err(failure @ (ApiFailure::Conflict | ApiFailure::NotFound)) => {
                    debug!(what, %failure, "too late");
                }
                Err(failure) => {
                    let is_denied = matches!(failure, ApiFailure::Denied(_));
                    let kind = if is_denied { Kind::Denied } else { Kind::Failing };
                    self.tools.complaints.complain(what, kind, failure.to_string());
                    self.planning.is_due = false;
                    self.planning.look_again(now.plus(RETRY_SECONDS));
                }
            }
        }
    }

    /// Says what was not said before.
    async fn tell(&mut self, notes: &[Note]) {
        for note in self.memory.unheard(notes) {
            self.tools.metrics.noted(&note);
            match &note {
                Note::Skipped { pool, zones, reason } => {
                    warn!(%pool, ?zones, reason = reason.label(), "a pool is not kept out of a zone");
                }
                Note::ZoneNotUsed(zone) => {
                    info!(%zone, "a zone is avoided that this cluster does not use");
                }
                Note::ZoneUnnamed(zone) => {
                    warn!(%zone, "a zone is avoided whose name is not known; nothing can be done");
                }
                Note::MemoryDamaged(pool) => {
                    warn!(%pool, "its annotations were damaged; zones are given back without them");
                }
            }
            if let Some(event) = note.event() {
                let mirrors = self.mirrors.as_ref();
                let uid = mirrors.and_then(|mirrors| mirrors.uid_of(&event.pool));
                self.announcer.announce(&event, uid).await;
            }
        }
    }

    /// Zones in which the cluster has subnets or nodes; empty when its subnets are not known.
    fn used_zones(&self, mirrors: &Mirrors, view: &View) -> BTreeSet<ZoneName> {
        let name = &self.tools.settings.cluster_name;
        let mut zones = self.surroundings.subnet_zones(name, mirrors.kinds.is_auto_mode());
        zones.extend(view.node_class_zones.values().flatten().cloned());
        if zones.is_empty() {
            return zones;
        }
        zones.extend(view.nodes.iter().filter_map(|node| node.zone.clone()));
        zones
    }

    fn options(&self) -> Options {
        let settings = &self.tools.settings;
        Options {
            do_not_disrupt: settings.do_not_disrupt,
            taint_away_nodes: settings.taint_away_nodes,
            auto_mode_revert: settings.auto_mode_revert,
            grace_until: self.started_at.plus(GRACE_SECONDS),
        }
    }
}

/// What a step is complained of as: a missing permission is one message, not one for each object.
fn what(step: &Step) -> &'static str {
    match step {
        Step::Node(_) => "changing nodes",
        Step::Pool(_) => "changing pools",
        Step::Copy(_) => "changing stand-ins of pools",
    }
}

fn log(step: &Step) {
    match step {
        Step::Pool(edit) => {
            let names = |zones: &BTreeSet<ZoneName>| {
                zones.iter().map(ZoneName::as_str).collect::<Vec<_>>().join(",")
            };
            let (before, now) = (names(&edit.away_before), names(&edit.away));
            info!(pool = %edit.pool, action = edit.action.label(), before, now, "a pool was changed");
        }
        Step::Copy(edit) => info!(action = edit.action().label(), "a stand-in was changed"),
        Step::Node(edit) => {
            info!(node = edit.node, action = edit.action.label(), "a node was changed");
        }
    }
}
