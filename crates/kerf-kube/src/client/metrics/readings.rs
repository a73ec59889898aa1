//! Gauges: what the world is like right now.

use std::collections::BTreeMap;

use kerf_engine::World;
use kerf_engine::observed::{Claim, Node, Pod, PodOwner, PodPhase};
use kerf_engine::reading;
use kerf_engine::time::Time;
use kerf_model::budget::Allowed;
use kerf_model::labels::suffix;
use kerf_model::labels::well_known::{ARCH, CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE};
use kerf_model::quantity::Quantity;
use kerf_model::resources::{PODS, ResourceList};
use kerf_runtime::metrics::{Page, process};

use super::{Shows, conditions, offers, seconds, zones};

/// How Karpenter shows that no budget applies: the largest 32-bit number.
const UNLIMITED: u32 = 2_147_483_647;

/// Writes every gauge.
pub(super) fn write(page: &mut Page, world: &World, shows: Shows, now: Time) {
    build(page);
    cluster(page, world, now);
    silence(page, world, now);
    waiting(page, world, now);
    costs(page, world);
    disruptions(page, world, now);
    offers::write(page, world);
    let is_open = f64::from(u8::from(world.memory.notice_breaker.is_open(now)));
    page.gauge("kerf_interruption_breaker_open", &[], is_open);
    if shows == Shows::Totals {
        return;
    }
    for pool in world.pools.values() {
        pool_amounts(page, pool);
    }
    let known = well_known(world);
    for node in world.nodes.values() {
        node_amounts(page, world, node, &known, now);
    }
    for pod in world.pods.values() {
        pod_state(page, world, pod);
        pod_waits(page, world, pod, now);
    }
    conditions::write(page, world, now);
}

fn build(page: &mut Page) {
    let labels = [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("goversion", String::new()),
        ("goarch", std::env::consts::ARCH.to_owned()),
        ("commit", String::new()),
    ];
    page.gauge("karpenter_build_info", &labels, 1.0);
}

fn cluster(page: &mut Page, world: &World, now: Time) {
    page.gauge("karpenter_cluster_state_node_count", &[], count(world.nodes.len()));
    let synced = f64::from(u8::from(world.is_complete()));
    page.gauge("karpenter_cluster_state_synced", &[], synced);
    let unsynced = match process::started_at() {
        Some(start) if !world.is_complete() => seconds(now.millis().unsigned_abs()) - start,
        _ => 0.0,
    };
    page.gauge("karpenter_cluster_state_unsynced_time_seconds", &[], unsynced.max(0.0));
    let mut used = ResourceList::new();
    let mut there = ResourceList::new();
    for node in world.nodes.values() {
        there.add(&node.allocatable);
        world.pods_on(&node.meta.name).for_each(|pod| used.add(&pod.shape.requests));
    }
    for (resource, total) in there.iter().filter(|(_, total)| !total.is_zero()) {
        let percent = 100.0 * amount(used.quantity(resource)) / amount(total);
        let labels = [("resource_type", resource.to_owned())];
        page.gauge("karpenter_cluster_utilization_percent", &labels, percent);
    }
}

/// For how long kinds have not been heard of; a watch that lives is heard from every 40 s.
fn silence(page: &mut Page, world: &World, now: Time) {
    for kind in world.settings.required_kinds() {
        if let Some(silence) = world.silence(kind, now) {
            let labels = [("resource", kind.resource().plural.to_owned())];
            page.gauge("kerf_watch_silent_seconds", &labels, seconds(silence.millis()));
        }
    }
}

/// Pods without a place.
fn waiting(page: &mut Page, world: &World, now: Time) {
    let provisioner = || ("controller", "provisioner".to_owned());
    let unplaced = count(world.memory.unplaced.len());
    page.gauge("karpenter_scheduler_unschedulable_pods_count", &[provisioner()], unplaced);
    let ignored = world.unschedulable_pods().filter(|pod| pod.unusable.is_some()).count();
    page.gauge("karpenter_scheduler_ignored_pods_count", &[], count(ignored));
    let nominations = &world.memory.nominations;
    let without_place =
        || world.unschedulable_pods().filter(|pod| !nominations.contains_key(&pod.key));
    // A pass is known by the moment it began.
    if let Some(began) = world.memory.batch.last_pass_at {
        let labels = [provisioner(), ("scheduling_id", began.millis().to_string())];
        page.gauge("karpenter_scheduler_queue_depth", &labels, count(without_place().count()));
        let is_solving = world.memory.batch.is_solving;
        let unfinished = if is_solving { seconds(now.since(began).millis()) } else { 0.0 };
        page.gauge("karpenter_scheduler_unfinished_work_seconds", &labels, unfinished);
    }
    for (zone, pods) in zones::counted(world, without_place()) {
        let labels = [provisioner(), ("zone", zone)];
        let metric = "karpenter_scheduler_pending_pods_by_effective_zone_count";
        page.gauge(metric, &labels, count(pods));
    }
}

/// What budgets allow, and what could go because it is empty.
fn disruptions(page: &mut Page, world: &World, now: Time) {
    for allowance in reading::allowances(world, now) {
        let labels = [
            ("nodepool", allowance.pool.to_string()),
            ("reason", allowance.reason.as_str().to_lowercase()),
        ];
        let allowed = match allowance.allowed {
            Allowed::AtMost(count) => count,
            Allowed::Unlimited => UNLIMITED,
        };
        let allowed = f64::from(allowed);
        page.gauge("karpenter_nodepools_allowed_disruptions", &labels, allowed);
        let away = f64::from(allowance.disrupted);
        page.gauge("karpenter_nodepools_nodes_consuming_budgets", &labels, away);
        if let Some(at) = allowance.changes_at {
            let at = at.seconds() as f64;
            page.gauge("kerf_nodepools_budgets_change_time_seconds", &labels, at);
        }
    }
    for (reason, nodes) in reading::eligible_nodes(world, now) {
        let labels = [("reason", reason.as_str().to_lowercase())];
        page.gauge("karpenter_voluntary_disruption_eligible_nodes", &labels, count(nodes));
    }
}

fn pool_amounts(page: &mut Page, pool: &kerf_engine::observed::Pool) {
    let mut each = |metric: &str, list: &ResourceList| {
        for (resource, quantity) in list.iter() {
            let labels = [
                ("resource_type", resource.replace('-', "_")),
                ("nodepool", pool.meta.name.to_string()),
            ];
            page.gauge(metric, &labels, amount(quantity));
        }
    };
    each("karpenter_nodepools_limit", &pool.spec.limits);
    each("karpenter_nodepools_usage", &pool.status.resources);
}

/// What the claims of each pool cost, by the offering each was launched as.
fn costs(page: &mut Page, world: &World) {
    let mut costs: BTreeMap<&str, f64> = BTreeMap::new();
    for claim in world.claims.values() {
        if let Some(pool) = claim.pool() {
            *costs.entry(pool).or_default() += price(world, pool, claim).unwrap_or_default();
        }
    }
    for (pool, cost) in costs {
        page.gauge("karpenter_nodepools_cost_total", &[("nodepool", pool.to_owned())], cost);
    }
}

fn price(world: &World, pool: &str, claim: &Claim) -> Option<f64> {
    const MICROS: f64 = 1e6;
    let wanted = claim.label(INSTANCE_TYPE)?;
    let types = world.instance_types.get(pool)?;
    let found = types.iter().find(|instance_type| instance_type.name == wanted)?;
    let names = |offering: &kerf_model::instance_type::Offering, key: &str| {
        let value = claim.label(key);
        offering
            .requirements
            .iter()
            .any(|entry| entry.key == key && entry.values.first().map(String::as_str) == value)
    };
    let mut offerings = found.offerings.iter();
    let offering =
        offerings.find(|offering| names(offering, ZONE) && names(offering, CAPACITY_TYPE))?;
    Some(offering.price.micros_per_hour() as f64 / MICROS)
}

/// The labels nodes are shown with: every well-known one, by the part after its domain.
fn well_known(world: &World) -> Vec<(String, &str)> {
    let keys = world.settings.scheduler.label_rules.well_known();
    keys.map(|key| (suffix(key).to_lowercase().replace('-', "_"), key)).collect()
}

fn node_amounts(page: &mut Page, world: &World, node: &Node, known: &[(String, &str)], now: Time) {
    let claim = world.claim_of(node);
    let label = |key: &str| node.labels.get(key).cloned().unwrap_or_default();
    let phase = match () {
        () if node.meta.is_deleting() => "Terminating",
        () if node.is_ready => "Running",
        () => "Pending",
    };
    let mut labels: Vec<(&str, String)> = vec![
        ("node_name", node.meta.name.to_string()),
        ("phase", phase.to_owned()),
        ("managed", claim.is_some().to_string()),
    ];
    labels.extend(known.iter().map(|(name, key)| (name.as_str(), label(key))));
    let age = seconds(now.since(node.meta.created_at).millis());
    page.gauge("karpenter_nodes_current_lifetime_seconds", &labels, age);
    let [mut pods, mut daemons, mut limits, mut daemon_limits] = [const { ResourceList::new() }; 4];
    for pod in world.pods_on(&node.meta.name) {
        // The place it takes counts as its limit too.
        let mut most = pod.profile.limits.clone();
        most.insert(PODS, Quantity::from_int(1));
        pods.add(&pod.shape.requests);
        limits.add(&most);
        if pod.owner == PodOwner::DaemonSet {
            daemons.add(&pod.shape.requests);
            daemon_limits.add(&most);
        }
    }
    let mut overhead = node.capacity.clone();
    overhead.subtract(&node.allocatable);
    let mut each = |metric: &str, list: &ResourceList| {
        for (resource, quantity) in list.iter() {
            let mut labels = labels.clone();
            labels.insert(0, ("resource_type", resource.to_owned()));
            page.gauge(metric, &labels, amount(quantity));
        }
    };
    each("karpenter_nodes_allocatable", &node.allocatable);
    each("karpenter_nodes_total_pod_requests", &pods);
    each("karpenter_nodes_total_daemon_requests", &daemons);
    each("karpenter_nodes_total_pod_limits", &limits);
    each("karpenter_nodes_total_daemon_limits", &daemon_limits);
    each("karpenter_nodes_system_overhead", &overhead);
}

fn pod_state(page: &mut Page, world: &World, pod: &Pod) {
    let name = match &pod.phase {
        PodPhase::Bound { node } | PodPhase::Ended { node: Some(node), .. } => Some(node),
        _ => None,
    };
    let node = name.and_then(|name| world.nodes.get(name));
    let label = |key: &str| node.and_then(|node| node.labels.get(key)).cloned().unwrap_or_default();
    let phase = match &pod.phase {
        PodPhase::Unjudged | PodPhase::Waiting | PodPhase::Unschedulable { .. } => "Pending",
        PodPhase::Bound { .. } if pod.started_at.is_none() => "Pending",
        PodPhase::Bound { .. } => "Running",
        PodPhase::Ended { has_failed: true, .. } => "Failed",
        PodPhase::Ended { has_failed: false, .. } => "Succeeded",
    };
    let labels = [
        ("name", pod.key.name.to_string()),
        ("namespace", pod.key.namespace.to_string()),
        ("owner", pod.profile.owner.clone()),
        ("node", name.map(ToString::to_string).unwrap_or_default()),
        ("scheduled", name.is_some().to_string()),
        ("nodepool", label(NODE_POOL)),
        ("zone", label(ZONE)),
        ("arch", label(ARCH)),
        ("capacity_type", label(CAPACITY_TYPE)),
        ("instance_type", label(INSTANCE_TYPE)),
        ("phase", phase.to_owned()),
        ("ready", pod.is_ready.to_string()),
        ("managed", node.is_some_and(|node| world.claim_of(node).is_some()).to_string()),
    ];
    page.gauge("karpenter_pods_state", &labels, 1.0);
}

fn pod_waits(page: &mut Page, world: &World, pod: &Pod, now: Time) {
    let labels = [("name", pod.key.name.to_string()), ("namespace", pod.key.namespace.to_string())];
    let mut since = |metric: &str, start: Time| {
        page.gauge(metric, &labels, seconds(now.since(start).millis()));
    };
    let waits = pod.node().is_none() && !pod.has_ended();
    if waits {
        since("karpenter_pods_unbound_time_seconds", pod.meta.created_at);
    }
    if !pod.is_ready && !pod.has_ended() {
        since("karpenter_pods_unstarted_time_seconds", pod.meta.created_at);
    }
    if let Some(wait) = world.memory.waits.get(&pod.key) {
        if wait.decided_at.is_none() {
            since("karpenter_pods_provisioning_scheduling_undecided_time_seconds", wait.seen_at);
        }
        if let Some(placed) = wait.placed_at.filter(|_| waits) {
            since("karpenter_pods_provisioning_unbound_time_seconds", placed);
        }
        if let Some(placed) = wait.placed_at.filter(|_| !pod.is_ready) {
            since("karpenter_pods_provisioning_unstarted_time_seconds", placed);
        }
    }
}

fn count(number: usize) -> f64 {
    number as f64
}

fn amount(quantity: Quantity) -> f64 {
    const NANOS: f64 = 1e9;
    quantity.nanos() as f64 / NANOS
}
