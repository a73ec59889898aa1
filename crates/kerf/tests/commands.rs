//! What all commands share, as a person meets it: exit codes, help, errors.

use std::process::{Command, Output, Stdio};

const COMMANDS_PAGE: &str = include_str!("../../../docs/commands.md");

fn kerf(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
    command.args(arguments).stdin(Stdio::null()).env("KUBECONFIG", "/nowhere/kubeconfig");
    for variable in ["CLUSTER_NAME", "QUEUE_URL", "SQS_QUEUE_URL", "AWS_REGION", "NODE_NAME"] {
        command.env_remove(variable);
    }
    command.output().expect("kerf starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("kerf prints text")
}

/// The help of every command and of the commands below it, with the words that ask for it.
fn helps() -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    let mut waiting: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(words) = waiting.pop() {
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        arguments.push("--help");
        let output = kerf(&arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let help = text(&output.stdout);
        let inner = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
        let names = inner.lines().take_while(|line| !line.is_empty());
        let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        for name in names.filter_map(|line| line.split_whitespace().next()) {
            if name != "help" {
                waiting.push([words.as_slice(), &[name.to_owned()]].concat());
            }
        }
        found.push((words, help));
    }
    found
}

#[test]
fn every_help_ends_with_the_table_of_exit_codes_that_the_docs_show() {
    let (_, table) = COMMANDS_PAGE.split_once("```text\n").expect("the table of exit codes");
    let (table, _) = table.split_once("```").expect("its end");
    let helps = helps();
    assert!(helps.len() > 20, "commands were not found in the help: {}", helps.len());
    for (words, help) in helps {
        assert!(help.ends_with(table), "kerf {} --help\n{help}", words.join(" "));
    }
}

#[test]
fn the_docs_have_a_row_for_every_command() {
    let (_, help) = helps().into_iter().find(|(words, _)| words.is_empty()).expect("kerf --help");
    let (_, commands) = help.split_once("\nCommands:\n").expect("commands");
    for line in commands.lines().take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().expect("a name");
        if line.starts_with("  ") && !line.starts_with("   ") && name != "help" {
            let row = format!("`kerf {name}");
            assert!(COMMANDS_PAGE.contains(&row), "docs/commands.md has no row for {name}");
        }
    }
}

#[test]
fn an_unknown_flag_is_wrong_usage_for_every_command() {
    for (words, _) in helps() {
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        arguments.push("--no-such-flag");
        let output = kerf(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
    }
}

#[test]
fn wrong_usage_that_only_the_command_can_see_ends_with_2_and_names_the_flag() {
    for (arguments, flag) in [
        (&["controller", "--cloud", "aws"][..], "--cluster-name"),
        (&["zonal-autoshift"], "--cluster-name"),
        (&["termination-handler"], "--node-name"),
        (&["simulate", "x", "--seed", "18446744073709551615"], "--seed"),
    ] {
        let scenario =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/inflate.yaml");
        let arguments: Vec<&str> =
            arguments.iter().map(|word| if *word == "x" { scenario } else { word }).collect();
        let output = kerf(&arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {said}");
        assert!(said.contains(flag), "{arguments:?} {said}");
    }
}

#[test]
fn what_cannot_be_read_or_reached_is_a_failure_and_is_named() {
    for (arguments, named) in [
        (&["lint", "-f", "no/such/file"][..], "no/such/file"),
        (&["plan", "-f", "no/such/file"], "no/such/file"),
        (&["convert", "-f", "no/such/file"], "no/such/file"),
        (&["simulate", "no/such/file"], "no/such/file"),
        (&["demo", "--scenario", "no/such/file"], "no/such/file"),
        (&["replay", "no/such/file"], "no/such/file"),
        (&["zonal-shift", "status"], "/nowhere/kubeconfig"),
        (&["doctor", "--skip-aws"], "/nowhere/kubeconfig"),
    ] {
        let output = kerf(arguments);
        let said = text(&output.stderr) + &text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{arguments:?} {said}");
        assert!(said.contains(named), "{arguments:?} {said}");
    }
}
