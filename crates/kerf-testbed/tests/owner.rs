//! However the owner of a testbed dies, nothing it started stays.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kerf_testbed::wait_until;

/// A second of grace, one more until the folder is swept, and a busy machine.
const GONE_AT_MOST: Duration = Duration::from_secs(30);

#[test]
fn a_killed_owner_leaves_no_process_and_no_file() {
    assert_nothing_stays_after("KILL");
}

/// Not INT, which a test run that a script put in the background inherits as ignored.
#[test]
fn a_terminated_owner_leaves_no_process_and_no_file() {
    assert_nothing_stays_after("TERM");
}

fn assert_nothing_stays_after(signal: &str) {
    let mut owner = Command::new(env!("CARGO_BIN_EXE_kerf-testbed"))
        .arg("--aws")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let folder = announced_folder(&mut owner);
    let pids = pids_in_logs(&folder);
    assert_eq!(pids.len(), 5, "every part of the control plane: {pids:?}");
    let keepers = children_of(owner.id());
    assert_eq!(keepers.len(), 8, "six parts and two folders have keepers: {keepers:?}");

    let kill = Command::new("kill").arg(format!("-{signal}")).arg(owner.id().to_string()).status();
    assert!(kill.unwrap().success());
    owner.wait().unwrap();

    let all: Vec<u32> = pids.into_iter().chain(keepers).collect();
    let alive = || all.iter().filter(|pid| is_alive(**pid));
    assert!(wait_until(GONE_AT_MOST, || alive().count() == 0), "{:?}", alive().collect::<Vec<_>>());
    assert!(!folder.exists(), "{} is still there", folder.display());
}

/// Reads what a person would: the kubeconfig lies in the testbed's folder. When the last line came,
/// everything runs.
fn announced_folder(owner: &mut Child) -> PathBuf {
    let mut folder = None;
    for line in BufReader::new(owner.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(kubeconfig) = line.strip_prefix("export KUBECONFIG=") {
            folder = Path::new(kubeconfig).parent().map(Path::to_path_buf);
        }
        if line.contains("Ctrl-C") {
            break;
        }
    }
    folder.expect("the owner says where the kubeconfig is")
}

/// The first line of every log names the process that writes it.
fn pids_in_logs(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let logs = entries.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
    logs.map(|log| {
        let text = fs::read_to_string(&log).unwrap();
        let first = text.lines().next().unwrap();
        let pid = first.strip_prefix("keeper: pid ").expect("a keeper wrote the first line");
        pid.split_whitespace().next().unwrap().parse().unwrap()
    })
    .collect()
}

/// The live children of a process, from the system's own table.
fn children_of(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok());
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| stat_field(*pid, 1).is_some_and(|found| found == parent.to_string()))
        .collect()
}

/// An orphan that has ended stays in the table until the first process of the machine, or of the
/// container, cares to look: that is no life.
fn is_alive(pid: u32) -> bool {
    stat_field(pid, 0).is_some_and(|state| state != "Z")
}

/// A field after the name in brackets: 0 is the state, 1 the parent's id.
fn stat_field(pid: u32, index: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(')')?;
    after.split_whitespace().nth(index).map(str::to_owned)
}
