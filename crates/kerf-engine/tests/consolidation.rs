//! Nodes that are in use go where the same pods fit on fewer or cheaper ones.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeSet;
use std::sync::Arc;

use cluster::{Cluster, budget, pod, pod_key, shape};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::claim::{DISRUPTION_REASON, INITIALIZED};
use kerf_engine::event::{Failure, Key, Object, Outcome};
use kerf_engine::observed::{Claim, DoNotDisrupt, Name, Pod};
use kerf_engine::sample::Sample;
use kerf_engine::time::{Span, Time};
use kerf_model::duration::NillableDuration;
use kerf_model::labels::annotation::DO_NOT_DISRUPT;
use kerf_model::labels::well_known::INSTANCE_TYPE;
use kerf_model::pool::{ConsolidationPolicy, NodePool};
use kerf_model::quantity::Quantity;
use kerf_scheduler::CancelFlag;

/// A node is quiet after 30 s and searched for every ten; a wave is looked at again after 15 s; boot
/// takes 20 s, a pod 30 s to end.
const ENOUGH: u64 = 180;

/// Until a wave was proposed and its second look is still to come.
const PROPOSED: u64 = 42;

fn underutilized(pool: &mut NodePool) {
    pool.disruption.policy = ConsolidationPolicy::WhenEmptyOrUnderutilized;
    pool.disruption.consolidate_after = NillableDuration::parse("30s").unwrap();
}

/// A pod in the place of another.
fn swap(cluster: &mut Cluster, former: &str, name: &str, cpu: &str) {
    let mut pod = pod(name, &cluster.node_under(former));
    pod.shape = Arc::new(shape(cpu));
    cluster.remove(&Key::Pod(pod_key(former)));
    cluster.store(Object::Pod(pod));
    cluster.settle();
}

/// One node of eight CPUs that is nearly full, and one with a pod that asks for this much.
fn half_empty(cpu: &str, change: impl FnOnce(&mut NodePool)) -> Cluster {
    let mut cluster = Cluster::with_nodes(2, |pool| {
        underutilized(pool);
        change(pool);
    });
    swap(&mut cluster, "pod-0", "small", cpu);
    cluster
}

fn names(cluster: &Cluster) -> BTreeSet<Name> {
    cluster.claims().iter().map(|claim| claim.meta.name.clone()).collect()
}

fn evictions(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::EvictPod { .. }))
}

fn is_up(claim: &Claim) -> bool {
    claim.status.conditions.is_true(INITIALIZED)
}

fn edit_pod(cluster: &mut Cluster, name: &str, change: impl FnOnce(&mut Pod)) {
    cluster.edit(&Key::Pod(pod_key(name)), |object| {
        let Object::Pod(pod) = object else { unreachable!("a pod's key") };
        change(pod);
    });
}

#[test]
fn a_node_whose_pods_fit_elsewhere_is_deleted_and_nothing_is_bought() {
    let mut cluster = half_empty("1", |_| {});
    let (goes, stays) = (cluster.claim_under("small"), cluster.claim_under("pod-1"));
    cluster.live(ENOUGH, |_| {});
    assert_eq!(names(&cluster), [stays.clone()].into(), "{goes}: {:?}", cluster.log());
    assert_eq!(cluster.claim_under("small-again"), stays);
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
    let decisions = "karpenter_voluntary_disruption_decisions_total";
    assert_eq!(cluster.counted(decisions, "delete"), 1);
    assert_eq!(cluster.counted(decisions, "underutilized"), 1);
    assert_eq!(cluster.counted("karpenter_nodeclaims_disrupted_total", "underutilized"), 1);
    let policy = "when_empty_or_underutilized";
    assert_eq!(cluster.counted("karpenter_nodeclaims_disrupted_total", policy), 1);
    let told = cluster.messages("ConsolidationCandidate");
    let begin = format!("Consolidation candidate: Underutilized/{goes}-");
    let end = "(savings: $0.40); pays back in 36 s";
    let is_known = |it: &&str| {
        it.starts_with(&begin) && it.contains(": delete: nodepools=[pool]: [") && it.ends_with(end)
    };
    assert!(told.len() == 2 && told.iter().all(is_known), "{told:?}");
}

#[test]
fn a_node_that_is_too_large_is_replaced_by_a_cheaper_one_before_its_pods_are_evicted() {
    let mut cluster = Cluster::with_nodes(1, underutilized);
    swap(&mut cluster, "pod-0", "small", "1");
    let former = names(&cluster);
    cluster.live(ENOUGH, |cluster| {
        let has_new =
            cluster.claims().iter().any(|it| is_up(it) && !former.contains(&it.meta.name));
        assert!(has_new || evictions(cluster) == 0, "{:?}", cluster.log());
    });
    assert!(names(&cluster).is_disjoint(&former), "{:?}", cluster.log());
    let claims = cluster.claims();
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].label(INSTANCE_TYPE), Some("m-2x"), "the cheapest that holds it");
    assert_eq!(cluster.ordered_claims().len(), 2, "{:?}", cluster.log());
    assert_eq!(cluster.counted("karpenter_nodeclaims_created_total", "underutilized"), 1);
    let told = cluster.messages("ConsolidationCandidate");
    assert!(told.iter().all(|it| it.contains("] -> [1 replacement] (savings: $")), "{told:?}");
    assert_eq!(cluster.messages("DisruptionLaunching"), ["Launching NodeClaim: Underutilized"]);
    let waiting = "Waiting on readiness to continue disruption";
    assert_eq!(cluster.messages("DisruptionWaitingReadiness"), [waiting]);
    let gone = ["Disrupting Node: Underutilized", "Disrupting NodeClaim: Underutilized"];
    assert_eq!(cluster.messages("DisruptionTerminating"), gone);
}

#[test]
fn a_pool_at_its_limit_replaces_its_nodes_too() {
    let mut cluster = half_empty("3", |pool| {
        pool.limits.insert("cpu", Quantity::from_int(16));
    });
    let goes = cluster.claim_under("small");
    cluster.live(ENOUGH, |_| {});
    assert!(cluster.find_claim(&goes).is_none(), "{:?}", cluster.log());
    assert_eq!(cluster.ordered_claims().len(), 3, "{:?}", cluster.log());
}

#[test]
fn several_nodes_are_replaced_by_one() {
    let mut cluster = Cluster::with_nodes(3, underutilized);
    for number in 0..3 {
        swap(&mut cluster, &format!("pod-{number}"), &format!("small-{number}"), "2500m");
    }
    cluster.live(ENOUGH, |_| {});
    let prices: Vec<_> = cluster.claims().iter().map(|it| it.label(INSTANCE_TYPE)).collect();
    // Three nodes of 0.4 $/h: 7.5 CPUs fit on one.
    assert_eq!(prices, [Some("m-8x")], "{:?}", cluster.log());
}

#[test]
fn nothing_happens_before_the_second_look_and_a_pod_that_came_meanwhile_stops_it() {
    let mut cluster = half_empty("1", |_| {});
    cluster.live(PROPOSED, |_| {});
    assert!(cluster.has_said("ConsolidationCandidate"), "{:?}", cluster.log());
    assert!(cluster.closed_nodes().is_empty(), "{:?}", cluster.log());
    let mut late = pod("late", &cluster.node_under("pod-1"));
    late.shape = Arc::new(shape("1"));
    cluster.store(Object::Pod(late));
    cluster.live(20, |_| {});
    let why =
        "reason: the pods of the nodes, or of those they go to, have changed (savings: $0.40)";
    let told = cluster.messages("ConsolidationRejected");
    assert!(!told.is_empty() && told.iter().all(|it| it.ends_with(why)), "{told:?}");
    assert_eq!(evictions(&cluster), 0);
    assert!(cluster.closed_nodes().is_empty());
}

#[test]
fn who_must_not_be_disturbed_keeps_the_node() {
    type Change = fn(&mut Cluster);
    let table: [(&str, Change); 4] = [
        ("a pod says so", |cluster| {
            edit_pod(cluster, "small", |pod| pod.do_not_disrupt = DoNotDisrupt::Always);
        }),
        ("the node says so", |cluster| {
            let node = cluster.node_under("small");
            cluster.edit_node_named(&node, |node| {
                node.annotations.insert(DO_NOT_DISRUPT.to_owned(), "true".to_owned());
            });
        }),
        ("the pool's policy is WhenEmpty", |cluster| {
            edit_pool(cluster, |pool| pool.disruption.policy = ConsolidationPolicy::WhenEmpty);
        }),
        ("the pool is never consolidated", |cluster| {
            edit_pool(cluster, |pool| {
                pool.disruption.consolidate_after = NillableDuration::NEVER;
            });
        }),
    ];
    for (cause, change) in table {
        // Neither pod fits on the other's node, but a cheaper node holds the small one.
        let mut cluster = half_empty("2", |_| {});
        let former = names(&cluster);
        change(&mut cluster);
        cluster.live(ENOUGH, |_| {});
        assert_eq!(evictions(&cluster), 0, "{cause}: {:?}", cluster.log());
        assert_eq!(names(&cluster), former, "{cause}: {:?}", cluster.log());
    }
}

fn edit_pool(cluster: &mut Cluster, change: impl FnOnce(&mut NodePool)) {
    cluster.edit(&Key::Pool("pool".into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        change(Arc::make_mut(&mut pool.spec));
        pool.meta.generation += 1;
    });
}

#[test]
fn a_closed_budget_keeps_nodes_until_it_opens_and_the_pool_is_told() {
    let mut cluster = half_empty("1", |pool| budget(pool, "0"));
    cluster.live(ENOUGH, |_| {});
    assert_eq!((evictions(&cluster), cluster.closed_nodes().len()), (0, 0));
    assert!(cluster.has_said("DisruptionBlocked"));
    assert!(cluster.solves().len() < 5, "nothing is searched for that may not go");
    edit_pool(&mut cluster, |pool| budget(pool, "1"));
    cluster.live(ENOUGH, |_| {});
    assert_eq!(names(&cluster).len(), 1, "{:?}", cluster.log());
}

#[test]
fn a_wave_stays_within_the_budget() {
    let mut cluster = Cluster::with_nodes(4, |pool| {
        underutilized(pool);
        budget(pool, "1");
    });
    for number in 0..4 {
        swap(&mut cluster, &format!("pod-{number}"), &format!("small-{number}"), "1");
    }
    cluster.live(3 * ENOUGH, |cluster| {
        assert!(cluster.closed_nodes().len() <= 1, "{:?}", cluster.log());
    });
    let types: Vec<_> = cluster.claims().iter().map(|it| it.label(INSTANCE_TYPE)).collect();
    assert_eq!(types.len(), 1, "{types:?}, {:?}", cluster.log());
}

#[test]
fn a_replacement_that_cannot_be_launched_leaves_everything_as_it_was() {
    let mut cluster = Cluster::with_nodes(1, underutilized);
    swap(&mut cluster, "pod-0", "small", "1");
    let former = names(&cluster);
    let message = "none left".to_owned();
    cluster.launch_fails = Some(Failure::InsufficientCapacity { message });
    cluster.live(ENOUGH, |_| {});
    assert!(former.is_subset(&names(&cluster)), "{:?}", cluster.log());
    assert_eq!(evictions(&cluster), 0);
    assert!(cluster.ordered_claims().len() < 6, "it is not tried again and again");
    cluster.launch_fails = None;
    cluster.live(4 * ENOUGH, |_| {});
    assert_eq!(names(&cluster).len(), 1, "{:?}", cluster.log());
    assert!(names(&cluster).is_disjoint(&former), "{:?}", cluster.log());
    assert!(cluster.closed_nodes().is_empty());
}

#[test]
fn a_new_process_goes_on_where_the_last_one_stopped_and_buys_nothing_twice() {
    for seconds in (40..90).step_by(3) {
        let mut cluster = Cluster::with_nodes(1, underutilized);
        swap(&mut cluster, "pod-0", "small", "1");
        let former = names(&cluster);
        cluster.live(seconds, |_| {});
        cluster.crash();
        cluster.live(2 * ENOUGH, |_| {});
        assert!(names(&cluster).is_disjoint(&former), "{seconds}: {:?}", cluster.log());
        assert_eq!(cluster.claims().len(), 1, "{seconds}");
        assert_eq!(cluster.ordered_claims().len(), 2, "{seconds}: {:?}", cluster.log());
        let is_marked = |claim: &&&Claim| claim.status.conditions.get(DISRUPTION_REASON).is_some();
        assert_eq!(cluster.claims().iter().filter(is_marked).count(), 0, "{seconds}");
        assert!(cluster.closed_nodes().is_empty(), "{seconds}");
    }
}

#[test]
fn what_cannot_be_bettered_is_searched_once_and_told_why() {
    let mut cluster = Cluster::with_nodes(2, underutilized);
    cluster.live(60, |_| {});
    let searches = cluster.solves().len();
    assert!(cluster.has_said("Unconsolidatable"), "{:?}", cluster.log());
    cluster.live(200, |_| {});
    assert_eq!(cluster.solves().len(), searches, "nothing has changed");
    assert_eq!(evictions(&cluster), 0);
}

#[test]
fn a_node_for_pods_whose_move_has_not_paid_back_is_reported_and_held_against_the_next() {
    let mut cluster = half_empty("1", |_| {});
    cluster.live(PROPOSED + 18, |_| {});
    assert_eq!(cluster.closed_nodes().len(), 1, "the move has begun: {:?}", cluster.log());
    // More of the same come before that has paid back, after 36 s, and need a node.
    cluster.pend("more-0", "1");
    cluster.pend("more-1", "1");
    cluster.pend("other", "500m");
    cluster.live(10, |_| {});
    assert!(cluster.has_said("ConsolidationUndone"), "{:?}", cluster.log());
    assert_eq!(cluster.counted("kerf_consolidation_undone_total", ""), 1);
    let undone = &cluster.engine.world().memory.consolidation.undone;
    assert_eq!(undone.len(), 1, "only the kind that was moved");
}

#[test]
fn pods_do_not_move_to_a_node_that_is_not_quiet_itself() {
    let mut cluster = half_empty("1", |_| {});
    let node = cluster.node_under("pod-1");
    for _ in 0..9 {
        let mut short = pod("short", &node);
        short.shape = Arc::new(shape("0"));
        cluster.store(Object::Pod(short));
        cluster.settle();
        cluster.remove(&Key::Pod(pod_key("short")));
        cluster.live(20, |_| {});
    }
    // A cheaper node takes the place of the other, although there is room on this one.
    assert_eq!(cluster.ordered_claims().len(), 3, "{:?}", cluster.log());
}

#[test]
fn a_node_that_pods_were_just_meant_for_is_looked_at_again_when_that_is_over() {
    let at_once = NillableDuration::parse("0s").unwrap();
    let mut cluster = half_empty("1", |pool| pool.disruption.consolidate_after = at_once);
    cluster.live(100, |_| {});
    assert_eq!(names(&cluster).len(), 1, "{:?}", cluster.log());
}

#[test]
fn a_balanced_pool_moves_only_what_is_worth_the_disruption() {
    let balanced = |pool: &mut NodePool| {
        underutilized(pool);
        pool.disruption.policy = ConsolidationPolicy::Balanced;
    };
    // One of two equal nodes is half of the price and, with one of 31 pods, little of the
    // disruption; with thirty of them it is nearly all of it, for a quarter of the price.
    for (beside, goes) in [(1, true), (30, false)] {
        let mut cluster = Cluster::with_nodes(2, balanced);
        swap(&mut cluster, "pod-0", "many-0", "100m");
        let node = cluster.node_under("many-0");
        for number in 1..beside {
            let mut pod = pod(&format!("many-{number}"), &node);
            pod.shape = Arc::new(shape("100m"));
            cluster.store(Object::Pod(pod));
        }
        let former = names(&cluster);
        cluster.live(ENOUGH, |_| {});
        assert_eq!(names(&cluster) != former, goes, "{beside}: {:?}", cluster.log());
    }
}

/// A search whose answer is held back; what happens meanwhile is told, then the answer comes.
fn late_answer(budget_text: &str, meanwhile: impl FnOnce(&mut Cluster)) -> Cluster {
    let mut cluster = half_empty("1", |pool| budget(pool, budget_text));
    cluster.ignores = |kind| matches!(kind, ActionKind::Solve(it) if it.consolidation.is_some());
    cluster.live(PROPOSED, |_| {});
    let is_search =
        |kind: &ActionKind| matches!(kind, ActionKind::Solve(it) if it.consolidation.is_some());
    assert_eq!(cluster.count(is_search), 1, "{:?}", cluster.log());
    meanwhile(&mut cluster);
    cluster.settle();
    cluster.answer_last_solve();
    cluster.settle();
    cluster
}

fn proposed(cluster: &Cluster) -> usize {
    cluster.engine.world().memory.commands.proposed().count()
}

#[test]
fn an_answer_that_comes_late_is_held_against_budgets_policy_and_pods_of_then() {
    type Change = fn(&mut Cluster);
    let table: [(&str, Change, usize); 5] = [
        ("nothing", |_| {}, 1),
        ("the budget is closed", |cluster| edit_pool(cluster, |pool| budget(pool, "0")), 0),
        (
            "only empty nodes are to go",
            |cluster| {
                edit_pool(cluster, |pool| pool.disruption.policy = ConsolidationPolicy::WhenEmpty);
            },
            0,
        ),
        (
            "a pod has come to the node that goes",
            |cluster| {
                let mut late = pod("late", &cluster.node_under("small"));
                late.shape = Arc::new(shape("500m"));
                cluster.store(Object::Pod(late));
            },
            0,
        ),
        (
            "a pod has come to the node that takes pods",
            |cluster| {
                let mut late = pod("late", &cluster.node_under("pod-1"));
                late.shape = Arc::new(shape("1"));
                cluster.store(Object::Pod(late));
            },
            0,
        ),
    ];
    for (what, meanwhile, expected) in table {
        let cluster = late_answer("1", meanwhile);
        assert_eq!(proposed(&cluster), expected, "{what}: {:?}", cluster.log());
    }
}

#[test]
fn a_policy_that_changes_before_the_second_look_stops_it() {
    let mut cluster = half_empty("1", |_| {});
    cluster.live(PROPOSED, |_| {});
    assert_eq!(proposed(&cluster), 1, "{:?}", cluster.log());
    edit_pool(&mut cluster, |pool| pool.disruption.policy = ConsolidationPolicy::WhenEmpty);
    cluster.live(30, |_| {});
    assert_eq!(proposed(&cluster), 0, "{:?}", cluster.log());
    assert_eq!((evictions(&cluster), cluster.closed_nodes().len()), (0, 0));
}

#[test]
fn a_search_answers_with_no_more_than_budgets_allow_at_once() {
    for (allowed, expected) in [("1", 1), ("2", 2)] {
        let mut cluster = Cluster::with_nodes(4, |pool| {
            underutilized(pool);
            budget(pool, allowed);
        });
        for number in 0..4 {
            swap(&mut cluster, &format!("pod-{number}"), &format!("small-{number}"), "1");
        }
        cluster.live(PROPOSED, |_| {});
        let searches = cluster.actions.iter().filter_map(|(_, action)| match &action.kind {
            ActionKind::Solve(request) if request.consolidation.is_some() => Some(request),
            _ => None,
        });
        let answers: Vec<Outcome> =
            searches.map(|request| request.solve(&CancelFlag::default())).collect();
        let [Outcome::Consolidated(plan)] = &answers[..] else { panic!("{answers:?}") };
        let removed: usize = plan.wave.iter().map(|each| each.removed.len()).sum();
        assert_eq!(removed, expected, "{plan:?}");
        assert!(!plan.later.is_empty(), "the rest comes later");
    }
}

#[test]
fn groups_that_the_budget_never_allows_do_not_keep_their_nodes() {
    // Together 7.5 CPUs would fit on one node of 0.4 $/h; one at a time each gets one of 0.2.
    let mut cluster = Cluster::with_nodes(3, |pool| {
        underutilized(pool);
        budget(pool, "1");
    });
    for number in 0..3 {
        swap(&mut cluster, &format!("pod-{number}"), &format!("small-{number}"), "2500m");
    }
    cluster.live(3 * ENOUGH, |cluster| {
        assert!(cluster.closed_nodes().len() <= 1, "{:?}", cluster.log());
    });
    let kinds: Vec<_> = cluster.claims().iter().map(|it| it.label(INSTANCE_TYPE)).collect();
    assert!(!kinds.contains(&Some("m-8x")) || kinds.len() == 1, "{kinds:?}: {:?}", cluster.log());
}

#[test]
fn the_next_wave_goes_on_with_the_plan_and_nobody_moves_twice_for_it() {
    let mut cluster = Cluster::with_nodes(4, |pool| {
        underutilized(pool);
        budget(pool, "1");
    });
    for number in 0..4 {
        swap(&mut cluster, &format!("pod-{number}"), &format!("small-{number}"), "1500m");
    }
    cluster.live(PROPOSED, |_| {});
    let plan = cluster.engine.world().memory.consolidation.plan.clone();
    let plan = plan.unwrap_or_else(|| panic!("{:?}", cluster.log()));
    assert!(!plan.moves.is_empty() && !plan.received.is_empty(), "{plan:?}");
    cluster.live(2 * ENOUGH, |_| {});
    let searches = cluster.actions.iter().filter_map(|(_, action)| match &action.kind {
        ActionKind::Solve(request) => request.consolidation.as_ref(),
        _ => None,
    });
    let planned: Vec<&Vec<Vec<String>>> = searches.map(|asked| &asked.planned).collect();
    let moves: Vec<_> = plan.moves.into_iter().map(|each| each.nodes).collect();
    assert!(planned.len() > 1 && *planned[1] == moves, "{planned:?}");
}

#[test]
fn the_second_wave_does_not_wait_again_for_what_was_planned_with_the_first() {
    let mut cluster = Cluster::with_nodes(4, |pool| {
        underutilized(pool);
        budget(pool, "1");
    });
    for number in 0..4 {
        swap(&mut cluster, &format!("pod-{number}"), &format!("small-{number}"), "1500m");
    }
    cluster.live(2 * ENOUGH, |_| {});
    let deleted = cluster.actions.iter().filter_map(|(at, action)| match &action.kind {
        ActionKind::DeleteClaim { .. } => Some(*at),
        _ => None,
    });
    let deleted: Vec<Time> = deleted.collect();
    assert!(deleted.len() > 1, "{:?}", cluster.log());
    // The pods of the first take 30 s to end.
    let apart = deleted[1].since(deleted[0]);
    assert!(apart < Span::from_seconds(40), "{apart:?}: {:?}", cluster.log());
}

#[test]
fn a_wave_that_no_longer_holds_is_given_up_before_its_second_look() {
    let mut cluster = half_empty("1", |_| {});
    cluster.live(PROPOSED, |_| {});
    let mut late = pod("late", &cluster.node_under("pod-1"));
    late.shape = Arc::new(shape("1"));
    cluster.store(Object::Pod(late));
    // The next search is due, the second look is not.
    cluster.live(10, |_| {});
    assert!(cluster.has_said("ConsolidationRejected"), "{:?}", cluster.log());
    assert!(cluster.closed_nodes().is_empty(), "{:?}", cluster.log());
}

#[test]
fn moves_and_scores_are_counted_by_pool_and_policy() {
    let mut cluster = half_empty("1", |pool| {
        pool.disruption.policy = ConsolidationPolicy::Balanced;
    });
    cluster.live(PROPOSED, |_| {});
    let moves = "karpenter_consolidation_moves_total";
    assert_eq!(cluster.counted(moves, "approved"), 1, "{:?}", cluster.log());
    assert_eq!(cluster.counted(moves, "Balanced"), 1);
    let scores = cluster.samples.iter().filter_map(|sample| match sample {
        Sample::Scored { metric: "karpenter_consolidation_score", millis, .. } => Some(*millis),
        _ => None,
    });
    // Half of the price for half of the disruption.
    assert_eq!(scores.collect::<Vec<_>>(), [1000]);
    let score = "score 1.00 >= threshold 0.50 (k: 2, savings 50.0%, disruption 50.0%)";
    assert_eq!(cluster.messages("ConsolidationApproved"), [score; 2]);
}
