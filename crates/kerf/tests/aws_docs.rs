//! The pages name every flag that there is, and no other.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
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
    let there = flags(&help);
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
