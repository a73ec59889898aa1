//! `kerf bench-solve` on the sample that the peer's bench writes, beside the peer's answer.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

#[test]
fn the_sample_is_read_and_solved_at_least_as_well_as_by_the_peer() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/peer/sample");
    let output = Command::new(env!("CARGO_BIN_EXE_kerf"))
        .args(["bench-solve", "--budget-seconds", "0"])
        .arg(sample.join("problem.json"))
        .output()
        .expect("kerf starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let ours: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = std::fs::read_to_string(sample.join("result.json")).expect("the peer's answer");
    let theirs: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(ours["pods"], theirs["pods"], "{ours}");
    assert_eq!(ours["placed"], theirs["podsScheduled"], "{ours}");
    assert_eq!(ours["unschedulable"][0]["pod"], theirs["unschedulable"][0]["pod"], "{ours}");
    let price = |value: &Value| value["priceMicrosPerHour"].as_u64().expect("a price");
    assert!(price(&ours) <= price(&theirs), "{ours}");
    assert!(ours["lowerBoundMicrosPerHour"].as_u64().is_some_and(|it| it <= price(&ours)));
    assert!(ours["solveMicros"].as_u64().is_some_and(|micros| micros > 0), "{ours}");
}
