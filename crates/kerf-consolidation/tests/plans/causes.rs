//! Why nodes stay, in words and as data.

use std::collections::BTreeSet;

use kerf_consolidation::{Ineligible, Kept, Plan, Settings, plan};
use kerf_model::price::Price;
use kerf_scheduler::Displaced;

use crate::cluster::{add, cluster};

/// One of each, about the first pod of the first node.
fn causes() -> Vec<Kept> {
    let web = || "shop/web".to_owned();
    let ineligible = [
        Ineligible::NotManaged,
        Ineligible::NotInitialized,
        Ineligible::BeingDeleted,
        Ineligible::Rebooting,
        Ineligible::InCommand,
        Ineligible::Nominated,
        Ineligible::DoNotDisruptNode,
        Ineligible::DoNotDisruptPod { pod: web() },
        Ineligible::PodDisruptionBudget { pod: web(), pdb: "shop/keep".to_owned() },
        Ineligible::SeveralPodDisruptionBudgets { pod: web() },
        Ineligible::Budget { until: Some(60) },
        Ineligible::ConsolidateAfter { until: 60 },
        Ineligible::ConsolidationNever,
        Ineligible::StaticPool,
        Ineligible::Unknown,
        Ineligible::ZoneShifted,
    ];
    let pod = Displaced { node: 0, pod: 0 };
    let (price, best) = (Price::from_micros_per_hour(1), Price::from_micros_per_hour(2));
    let mut causes: Vec<Kept> = ineligible.map(Kept::Ineligible).into();
    causes.extend([
        Kept::OnlyWhenEmpty,
        Kept::Receives,
        Kept::NoRoom { pod },
        Kept::NotInEveryOrder { pod },
        Kept::NoPlace { pod, reason: "none".to_owned() },
        Kept::NotCheaper { price, best },
        Kept::SpotToSpotOff,
        Kept::TooFewTypes { found: 3, needed: 15 },
        Kept::PaybackTooLong { payback_seconds: 9000, most_seconds: 7200 },
        Kept::NotWorthIt { score_millis: 94 },
        Kept::NotReached,
    ]);
    causes
}

#[test]
fn every_cause_has_a_name_a_summary_and_a_text_of_its_own() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c8", &[1]);
    let text = |kept: &Kept| kept.text(&snapshot.problem, |seconds| format!("T+{seconds}"));
    let causes = causes();
    let names: BTreeSet<&str> = causes.iter().map(Kept::name).collect();
    let summaries: BTreeSet<&str> = causes.iter().map(Kept::summary).collect();
    let texts: BTreeSet<String> = causes.iter().map(text).collect();
    assert_eq!(names.len(), causes.len());
    assert_eq!(summaries.len(), causes.len());
    assert_eq!(texts.len(), causes.len());
    assert!(summaries.iter().all(|summary| summary.len() <= 56), "they fit beside a count");
}

#[test]
fn texts_name_the_pod_the_time_and_the_score() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c8", &[1]);
    let text = |kept: Kept| kept.text(&snapshot.problem, |seconds| format!("T+{seconds}"));
    let pod = Displaced { node: 0, pod: 0 };
    let table = [
        (
            Kept::NoPlace { pod, reason: "no zone".to_owned() },
            "pod shop/node-000-pod-0 would have no place to go: no zone",
        ),
        (
            Kept::Ineligible(Ineligible::ConsolidateAfter { until: 60 }),
            "its pods changed lately; consolidateAfter ends at T+60",
        ),
        (
            Kept::NotWorthIt { score_millis: 94 },
            "its score is 0.094, and the policy Balanced needs 0.500",
        ),
        (
            Kept::PaybackTooLong { payback_seconds: 9000, most_seconds: 7200 },
            "pays back in 3 h, and 120 min is the limit",
        ),
    ];
    for (kept, expected) in table {
        assert_eq!(text(kept), expected);
    }
}

#[test]
fn a_plan_reads_back_as_it_was_written() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c8", &[1]);
    add(&mut snapshot, "c32", &[2]);
    let mut plan = plan(&snapshot, &Settings::default());
    assert!(!plan.moves.is_empty());
    plan.kept = causes().into_iter().map(Some).collect();
    let json = serde_json::to_string(&plan).expect("a plan is plain data");
    let again: Plan = serde_json::from_str(&json).expect("what was written");
    assert_eq!(again, plan);
}
