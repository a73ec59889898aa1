//! What a person at a terminal is told.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;
use std::{env, fs, process};

use kerf_testbed::{Program, wait_until};

/// Seconds; the machine may be busy.
const SOON: Duration = Duration::from_secs(180);

#[test]
fn help_names_every_argument() {
    let output = testbed().arg("--help").output().unwrap();
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).unwrap();
    for word in ["build", "--aws", "--crds", "Ctrl-C"] {
        assert!(help.contains(word), "{word} is missing in:\n{help}");
    }
}

#[test]
fn an_argument_that_makes_no_sense_is_named_and_nothing_starts() {
    for arguments in [&["--awz"][..], &["build", "--aws"], &["--aws", "build"], &[""]] {
        let output = testbed().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(errors(&output).starts_with("unknown argument"), "{}", errors(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn without_go_the_message_says_what_to_install() {
    let cache = env::temp_dir().join(format!("kerf-empty-cache-{}", process::id()));
    let output = testbed().arg("build").env("PATH", "").env("XDG_CACHE_HOME", &cache).output();
    let output = output.unwrap();
    fs::remove_dir_all(&cache).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = errors(&output);
    assert!(message.contains("`go` was not found on PATH: install Go 1.26 or newer"), "{message}");
}

#[test]
fn outside_a_checkout_the_message_says_where_it_looked() {
    let output = testbed().arg("build").env_remove("CARGO_MANIFEST_DIR").current_dir("/").output();
    let message = errors(&output.unwrap());
    assert!(message.contains("no folder above / holds testbed/go.mod"), "{message}");
}

#[test]
fn build_is_done_at_once_when_everything_is_there() {
    let all = || testbed().arg("build").output().unwrap();
    assert!(all().status.success(), "{}", errors(&all()));
    assert_eq!(errors(&all()), "", "the second time there is nothing to say");
}

#[test]
fn a_person_is_told_where_the_cluster_and_its_account_are_and_can_ask_both() {
    let mut command = testbed();
    command.args(["--crds", "--aws"]);
    let said = Program::start(command, &[]).unwrap();
    assert!(wait_until(SOON, || said.written().contains("Ctrl-C")), "{}", said.written());
    let exported = |name: &str| {
        let start = format!("export {name}=");
        let text = said.written();
        let line = text.lines().find_map(|line| line.strip_prefix(&start).map(str::to_owned));
        line.unwrap_or_else(|| panic!("{name} is missing in {text}"))
    };
    assert_eq!(exported("AWS_REGION"), "us-east-1");
    assert_eq!(exported("AWS_DEFAULT_REGION"), "us-east-1", "for boto");
    assert_eq!(exported("CLUSTER_NAME"), "demo");
    assert_eq!(exported("INTERRUPTION_QUEUE"), "demo");
    assert!(exported("AWS_ENDPOINT_URL").starts_with("http://127.0.0.1:"));
    let kubeconfig = fs::read_to_string(exported("KUBECONFIG")).unwrap();
    assert!(kubeconfig.contains(&exported("CLUSTER_ENDPOINT")), "{kubeconfig}");
}

fn testbed() -> Command {
    Command::new(Path::new(env!("CARGO_BIN_EXE_kerf-testbed")))
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
