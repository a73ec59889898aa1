//! The pages name every flag, metric, condition and Event that there is on AWS, and no other.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const AWS: &str = include_str!("../../../docs/aws.md");
const CONTROLLER: &str = include_str!("../../../docs/controller.md");
const ZONAL_SHIFT: &str = include_str!("../../../docs/zonal-shift.md");

/// Every `--flag` in a text.
fn flags(text: &str) -> BTreeSet<&str> {
    let of_flag = |c: char| !(c.is_ascii_lowercase() || c == '-');
    let begins = text.match_indices("--").map(|(at, _)| &text[at..]);
    let flags = begins.map(|rest| rest.split(of_flag).next().unwrap_or_default());
    flags.filter(|flag| flag.len() > 3 && !flag.starts_with("---")).collect()
}

/// The flags in the first column of a page's tables.
fn tabled(page: &str) -> BTreeSet<&str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| `--")?.split_once('`'))
        .map(|it| it.0)
        .collect()
}

#[test]
fn every_flag_of_the_controller_is_on_a_page_and_the_pages_name_no_other() {
    let help = Command::new(env!("CARGO_BIN_EXE_kerf")).args(["controller", "--help"]).output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    // Below stands what all commands share.
    let there = flags(help.split("Exit codes:").next().unwrap_or_default());
    let told: BTreeSet<&str> =
        [AWS, CONTROLLER, ZONAL_SHIFT].iter().flat_map(|page| flags(page)).collect();
    let untold: Vec<&str> = there.difference(&told).copied().filter(|it| *it != "--help").collect();
    assert_eq!(untold, [""; 0], "flags that no page names");
    let names: BTreeSet<&str> = there.iter().map(|flag| flag.trim_start_matches('-')).collect();
    for page in [AWS, CONTROLLER] {
        let unknown: Vec<&str> = tabled(page).difference(&names).copied().collect();
        assert_eq!(unknown, [""; 0], "flags that there are not");
    }
}

/// Literals that look like reasons of conditions and are none: codes of AWS.
const CODES: [&str; 3] = ["ParameterNotFound", "ParameterVersionNotFound", "LimitExceeded"];

/// The code below a folder of `crates`, without its tests.
fn code(folder: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let (mut folders, mut code) = (vec![root], String::new());
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.into_iter().filter(|it| !it.ends_with("tests")) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                code.push_str(text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default());
            }
        }
    }
    code
}

/// The string literals of code that are made of such characters.
fn literals(code: &str, is_of: impl Fn(char) -> bool) -> BTreeSet<&str> {
    let strings = code.split('"').skip(1);
    strings.filter(|it| !it.is_empty() && it.chars().all(&is_of)).collect()
}

/// What stands in backticks in the tables of a part of the page, without labels in braces.
fn in_tables<'p>(page: &'p str, from: &str, to: &str) -> BTreeSet<&'p str> {
    let (_, part) = page.split_once(from).unwrap();
    let part = part.split_once(to).map_or(part, |(part, _)| part);
    let rows = part.lines().filter(|line| line.starts_with("| "));
    let quoted = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    quoted.map(|it| it.split('{').next().unwrap_or_default()).collect()
}

fn is_metric(name: &str) -> bool {
    ["karpenter_cloudprovider_", "karpenter_interruption_", "aws_sdk_go_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

#[test]
fn every_metric_of_the_cloud_is_on_a_page_and_the_page_names_no_other() {
    let code = ["kerf-aws/src", "kerf-interruption/src", "kerf-kube/src"].map(code).concat();
    let of_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let there: BTreeSet<&str> =
        literals(&code, of_name).into_iter().filter(|it| is_metric(it)).collect();
    assert!(there.len() > 10, "{there:?}");
    let pages = [AWS, CONTROLLER, ZONAL_SHIFT];
    let untold: Vec<&&str> =
        there.iter().filter(|it| !pages.iter().any(|page| page.contains(**it))).collect();
    assert_eq!(untold, [&""; 0], "metrics that no page names");
    let told = in_tables(AWS, "## Events and metrics", "## What calls cost");
    let unknown: Vec<&&str> =
        told.iter().filter(|it| is_metric(it) && !there.contains(**it)).collect();
    assert_eq!(unknown, [&""; 0], "metrics that there are not");
}

#[test]
fn every_condition_and_reason_of_a_node_class_is_on_the_page_and_the_page_names_no_other() {
    let code = [
        "kerf-aws/src/provider/node_class",
        "kerf-aws/src/provider/launch_template",
        "kerf-api/src/ec2_node_class",
    ];
    let code = code.map(self::code).concat();
    let endings = [
        "Ready",
        "NotFound",
        "Failed",
        "Succeeded",
        "Exceeded",
        "Disabled",
        "Invalid",
        "Configuration",
        "UserData",
        "InstanceType",
        "Alias",
        "Unauthorized",
    ];
    let is_reason = |it: &&str| {
        it.starts_with(char::is_uppercase) && endings.iter().any(|ending| it.ends_with(ending))
    };
    let all = literals(&code, |c| c.is_ascii_alphabetic());
    let there: BTreeSet<&str> =
        all.iter().copied().filter(is_reason).filter(|it| !CODES.contains(it)).collect();
    assert!(there.len() > 20, "{there:?}");
    let told = in_tables(AWS, "## Conditions of an EC2NodeClass", "## When AWS refuses a launch");
    let untold: Vec<&&str> = there.difference(&told).collect();
    assert_eq!(untold, [&""; 0], "conditions and reasons that the page does not name");
    // The engine itself says whether a class is ready.
    let code = code + &self::code("kerf-engine/src");
    let all = literals(&code, |c| c.is_ascii_alphabetic());
    let unknown: Vec<&&str> =
        told.iter().filter(|it| is_reason(it) && !all.contains(**it)).collect();
    assert_eq!(unknown, [&""; 0], "conditions and reasons that there are not");
}

#[test]
fn every_event_of_a_notice_is_on_the_page_and_the_page_names_no_other() {
    let of_notices = code("kerf-engine/src/planners/notices");
    let all = literals(&of_notices, |c| c.is_ascii_alphabetic());
    let told = in_tables(AWS, "## Events and metrics", "| Metric |");
    let events: BTreeSet<&str> =
        told.into_iter().filter(|it| it.starts_with(char::is_uppercase)).collect();
    assert!(events.len() > 6, "{events:?}");
    let unknown: Vec<&&str> = events.iter().filter(|it| !all.contains(**it)).collect();
    assert_eq!(unknown, [&""; 0], "Events that there are not");
    let is_event = |it: &&str| it.starts_with(char::is_uppercase) && it.len() > 10;
    let untold: Vec<&str> =
        all.into_iter().filter(is_event).filter(|it| !events.contains(it)).collect();
    assert_eq!(untold, [""; 0], "Events that the page does not name");
}
