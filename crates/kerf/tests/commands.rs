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

#[test]
fn the_version_names_commit_date_and_what_it_is_compatible_with() {
    let said = text(&kerf(&["version"]).stdout);
    for part in ["kerf 0.1.0\n", "commit ", "Karpenter 1.15", "Kubernetes 1.36"] {
        assert!(said.contains(part), "{part} in\n{said}");
    }
    let json = text(&kerf(&["version", "-o", "json"]).stdout);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["compatibleWith"][0]["name"], "Karpenter");
}

#[test]
fn every_command_has_a_man_page_and_folders_are_made() {
    let folder = std::env::temp_dir().join(format!("kerf-commands-{}/deep", std::process::id()));
    let name = folder.to_str().expect("a plain name");
    assert_eq!(kerf(&["man", "--directory", name]).status.code(), Some(0));
    assert_eq!(kerf(&["crds", "--directory", name]).status.code(), Some(0));
    let files: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder was made")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    std::fs::remove_dir_all(folder.parent().expect("its parent")).expect("removed");
    for (words, _) in helps() {
        let page =
            ["kerf".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join("-") + ".1";
        assert!(files.contains(&page), "{page} in {files:?}");
    }
    assert!(files.iter().any(|file| file.ends_with("nodepools.yaml")), "{files:?}");
    let page = text(&kerf(&["man", "plan"]).stdout);
    assert!(page.contains(".TH kerf-plan 1") && page.contains("detailed\\-exitcode"), "{page}");
    let wrong = kerf(&["man", "nothing"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_reader_that_goes_away_ends_a_command_quietly() {
    let inflate = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/inflate.yaml");
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop.yaml");
    for arguments in [
        &["crds"][..],
        &["completion", "bash"],
        &["man"],
        &["version"],
        &["demo"],
        &["plan", "-f", shop],
        &["lint", "-f", shop],
        &["simulate", inflate],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kerf"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("kerf starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("kerf ends");
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn a_cause_is_told_once() {
    for arguments in [&["simulate", "no/such/file"][..], &["replay", "no/such/file"]] {
        let said = text(&kerf(arguments).stderr);
        assert_eq!(said.matches("No such file").count(), 1, "{said}");
    }
}

#[test]
fn lint_warns_of_values_that_aws_does_not_have() {
    let pool = |requirements: &str| {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec: {{template: \
             {{spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}, \
             requirements: [{requirements}]}}}}}}\n"
        )
    };
    let class = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec: {role: \
                 a, amiSelectorTerms: [{alias: al2023@latest}], subnetSelectorTerms: [{tags: {a: b}}], \
                 securityGroupSelectorTerms: [{tags: {a: b}}], blockDeviceMappings: [{deviceName: \
                 /dev/xvda, ebs: {volumeSize: SIZE, volumeType: TYPE}}]}\n";
    let wants =
        |key: &str, value: &str| pool(&format!("{{key: {key}, operator: In, values: [{value}]}}"));
    for (manifest, code, instead) in [
        (wants("karpenter.sh/capacity-type", "ondemand"), 1, "write: on-demand"),
        (wants("karpenter.sh/capacity-type", "spot, ondemand"), 0, "write: on-demand"),
        (wants("karpenter.k8s.aws/instance-family", "m99"), 0, "no instance family \"m99\""),
        (wants("topology.kubernetes.io/zone", "us-east-1z"), 0, "us-east-1 has no zone"),
        (class.replace("SIZE", "100GB").replace("TYPE", "gp3"), 1, "write: 100Gi"),
        (class.replace("SIZE", "100Gi").replace("TYPE", "gp4"), 1, "write: gp"),
    ] {
        let path = std::env::temp_dir().join(format!("kerf-lint-{}.yaml", std::process::id()));
        std::fs::write(&path, &manifest).expect("the file can be written");
        let name = path.to_str().expect("a plain name");
        let (plain, strict) =
            (kerf(&["lint", "-f", name]), kerf(&["lint", "--strict", "-f", name]));
        std::fs::remove_file(&path).expect("the file is there");
        let said = text(&plain.stdout);
        assert!(said.contains(instead), "{instead} in\n{said}{manifest}");
        assert_eq!(plain.status.code(), Some(code), "{said}");
        assert_eq!(strict.status.code(), Some(1), "{said}");
    }
}
