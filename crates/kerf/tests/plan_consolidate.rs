//! `kerf plan --consolidate` as a person meets it: a cluster in, what would happen to it out.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/consolidation");
/// Columns of a small terminal.
const COLUMNS: usize = 80;

struct Answer {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn kerf(arguments: &[&str], stdin: &str) -> Answer {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kerf"))
        .args(["plan", "--consolidate", "--detailed-exitcode"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kerf starts");
    // A command that fails on its arguments closes its input unread.
    let _ = child.stdin.take().expect("it was piped").write_all(stdin.as_bytes());
    let output = child.wait_with_output().expect("kerf ends");
    let text = |bytes| String::from_utf8(bytes).expect("kerf prints text");
    Answer { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The example as it is.
fn example(flags: &[&str]) -> Answer {
    kerf(&[&["-f", EXAMPLE], flags].concat(), "")
}

/// The example with a text of it replaced.
fn changed(from: &str, to: &str, flags: &[&str]) -> Answer {
    let text = std::fs::read_to_string(format!("{EXAMPLE}/cluster.yaml")).expect("the example");
    assert!(text.contains(from), "the example has no {from:?}");
    kerf(&[&["-f", "-"], flags].concat(), &text.replace(from, to))
}

fn json(answer: &Answer) -> Value {
    let Answer { stdout, stderr, .. } = answer;
    serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}\n{stdout}\n{stderr}"))
}

/// Of each node that goes its name, with the wave it goes in.
fn going(plan: &Value) -> Vec<(String, Option<u64>)> {
    let moves = plan["moves"].as_array().expect("moves");
    let nodes = moves.iter().flat_map(|each| {
        let removed = each["removed"].as_array().expect("nodes").iter();
        removed
            .map(|node| (node["name"].as_str().expect("a name").to_owned(), each["wave"].as_u64()))
    });
    let mut nodes: Vec<_> = nodes.collect();
    nodes.sort();
    nodes
}

fn cause(plan: &Value, node: &str) -> String {
    let kept = plan["kept"].as_array().expect("kept").iter();
    let mut causes = kept.filter(|kept| kept["name"] == node);
    let cause = causes.next().unwrap_or_else(|| panic!("{node} does not stay: {plan:#}"));
    cause["cause"].as_str().expect("a cause").to_owned()
}

#[test]
fn the_example_says_what_goes_what_it_saves_and_why_the_others_stay() {
    let answer = example(&["-o", "json"]);
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    let plan = json(&answer);
    let fields: Vec<_> = plan.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(
        fields,
        [
            "evictions",
            "kept",
            "moves",
            "paybackSeconds",
            "priceAfterPerHour",
            "priceBeforePerHour",
            "savingBoundPerHour",
            "savingPerHour",
            "version",
            "waves"
        ]
    );
    let names: Vec<String> = going(&plan).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"general-4".to_owned()), "the empty node goes: {plan:#}");
    assert_eq!(cause(&plan, "general-5"), "PodDisruptionBudget");
    assert_eq!(cause(&plan, "general-6"), "DoNotDisruptPod");
    assert_eq!(cause(&plan, "general-8"), "ConsolidateAfter");
    let dollars = |key: &str| plan[key].as_f64().expect("a number");
    assert!(dollars("savingPerHour") > 0.5, "{plan:#}");
    assert!(dollars("savingPerHour") <= dollars("savingBoundPerHour"), "{plan:#}");
    let after = dollars("priceBeforePerHour") - dollars("savingPerHour");
    assert!((after - dollars("priceAfterPerHour")).abs() < 1e-6, "{plan:#}");
}

#[test]
fn waves_keep_to_the_budget_and_a_budget_of_zero_holds_everything_back() {
    let plan = json(&example(&["-o", "json"]));
    for wave in 1..=plan["waves"].as_u64().expect("waves") {
        let count = going(&plan).iter().filter(|(_, of)| *of == Some(wave)).count();
        assert!((1..=2).contains(&count), "wave {wave} takes {count} nodes");
    }
    assert!(going(&plan).iter().all(|(_, wave)| wave.is_some()));
    let none = json(&changed("nodes: \"2\"", "nodes: \"0\"", &["-o", "json"]));
    assert_eq!(none["waves"], 0);
    assert_eq!(going(&none).len(), going(&plan).len());
    assert!(going(&none).iter().all(|(_, wave)| wave.is_none()));
    let screen = changed("nodes: \"2\"", "nodes: \"0\"", &["--plain"]).stdout;
    assert!(screen.contains("held back: the disruption budgets"), "{screen}");
}

#[test]
fn the_screen_fits_a_small_terminal_and_says_how_much_of_the_bound_is_saved() {
    let answer = example(&["--plain"]);
    let wide: Vec<&str> =
        answer.stdout.lines().filter(|line| line.chars().count() > COLUMNS).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    for part in ["nodes go", " of at most ", "$/month", "evictions in", "pays back", "stay"] {
        assert!(answer.stdout.contains(part), "no {part:?} in\n{}", answer.stdout);
    }
}

#[test]
fn long_names_are_cut_before_the_screen_is_too_wide() {
    let long = "ip-10-0-143-207-in-a-very-long-domain.eu-central-1.compute.internal";
    let answer = changed("general-4", long, &["--plain"]);
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    assert!(answer.stdout.lines().all(|line| line.chars().count() <= COLUMNS), "{}", answer.stdout);
}

#[test]
fn one_node_can_be_asked_for_and_all_be_listed() {
    let one = example(&["--node", "general-5", "--plain"]).stdout;
    assert!(one.starts_with("general-5 stays: the PodDisruptionBudget bank/ledger"), "{one}");
    let all = example(&["-o", "wide", "--plain"]).stdout;
    assert!(all.contains("pod batch/render-1 has the annotation"), "{all}");
    let goes = example(&["--node", "general-4", "--plain"]).stdout;
    assert!(goes.starts_with("general-4 goes in wave"), "{goes}");
    assert!(goes.contains("pays back at once"), "{goes}");
}

#[test]
fn mistakes_are_answered_with_the_next_command() {
    let unknown = example(&["--node", "general-55"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("try: --node general-5"), "{}", unknown.stderr);
    let pods = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: []}\n";
    let nothing = kerf(&["-f", "-"], pods);
    assert_eq!(nothing.code, Some(1));
    let advice =
        "kubectl get nodes,pods,nodepools,nodeclaims,pdb,daemonsets -A -o yaml | kerf plan";
    assert!(nothing.stderr.contains(advice), "{}", nothing.stderr);
    let without_claims = changed("kind: NodeClaim", "kind: NodeClaimList", &[]);
    assert_eq!(without_claims.code, Some(1), "{}", without_claims.stdout);
}

#[test]
fn a_pool_that_keeps_nodes_with_pods_loses_only_the_empty_one() {
    let plan = json(&changed("WhenEmptyOrUnderutilized", "WhenEmpty", &["-o", "json"]));
    assert_eq!(going(&plan).len(), 1);
    assert_eq!(going(&plan)[0].0, "general-4");
    assert_eq!(cause(&plan, "general-2"), "OnlyWhenEmpty");
}

#[test]
fn nothing_to_do_is_said_and_is_success() {
    let answer = changed("consolidateAfter: 1m", "consolidateAfter: Never", &["--plain"]);
    assert_eq!(answer.code, Some(0), "{}", answer.stdout);
    assert!(answer.stdout.starts_with("nothing to save: all of 8 nodes stay"), "{}", answer.stdout);
    assert!(answer.stdout.contains("consolidateAfter is Never"), "{}", answer.stdout);
}
