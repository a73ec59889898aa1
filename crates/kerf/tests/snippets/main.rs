//! Every shell snippet of README, CONTRIBUTING and docs: run as it stands where that needs nothing
//! but a checkout; otherwise read by a shell, its `kerf` flags held against `--help`, and the reason
//! it is not run known.
//!
//! `sh` blocks must succeed. `console` blocks begin with `$ `; what they show is what the commands
//! print, and `KERF_BLESS=1` writes it anew. Whatever else is in a block has another language.
//! A block that cannot be run for a reason the tables here do not know says it in a comment above:
//! `<!-- not run: why -->`.

mod page;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use page::{Page, Snippet, pages};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Programs that need more than a checkout.
const PROGRAMS: [(&str, &str); 7] = [
    ("aws", "needs an AWS account"),
    ("cargo", "builds: CI runs the tasks themselves"),
    ("eksctl", "needs an AWS account"),
    ("helm", "needs a cluster; the charts are installed by the test charts"),
    ("kubectl", "needs a cluster"),
    ("skopeo", "needs a registry"),
    ("terraform", "needs an AWS account"),
];

/// Commands of Kerf that need more than a checkout.
const COMMANDS: [(&str, &str); 8] = [
    ("adopt", "needs a cluster"),
    ("controller", "needs a cluster"),
    ("doctor", "needs a cluster"),
    ("install", "needs a cluster and an AWS account"),
    ("termination-handler", "needs a cluster and a queue"),
    ("uninstall", "needs a cluster and an AWS account"),
    ("zonal-autoshift", "needs a cluster and a queue"),
    ("zonal-shift", "needs a cluster"),
];

/// What a command needs that a test does not have.
fn excuse_of(words: &[String]) -> Option<&'static str> {
    let of = |table: &[(&str, &'static str)], word: &str| {
        table.iter().find(|(known, _)| *known == word).map(|(_, why)| *why)
    };
    match (words[0].as_str(), words.get(1)) {
        ("kerf" | "target/debug/kerf", Some(command)) => of(&COMMANDS, command),
        (program, _) => of(&PROGRAMS, program),
    }
}

/// What keeps a snippet from being run.
fn excuse(snippet: &Snippet) -> Option<String> {
    let by_command = snippet.commands().iter().find_map(|words| excuse_of(words));
    snippet.excuse.clone().or_else(|| by_command.map(str::to_owned))
}

fn shell_snippets() -> Vec<(Page, Vec<Snippet>)> {
    let is_shell = |snippet: &Snippet| matches!(snippet.language.as_str(), "sh" | "console");
    let of_page = |page: Page| {
        let snippets = page.snippets().into_iter().filter(is_shell).collect();
        (page, snippets)
    };
    pages(Path::new(ROOT)).into_iter().map(of_page).collect()
}

#[test]
fn every_block_of_the_pages_says_what_it_is() {
    for page in pages(Path::new(ROOT)) {
        for snippet in page.snippets() {
            let Snippet { place, language, body, .. } = &snippet;
            assert!(!language.is_empty(), "{place}: sh, console, text or what else?\n{body}");
            assert!(language != "bash" && language != "shell", "{place}: write sh\n{body}");
        }
    }
}

#[test]
fn every_shell_snippet_runs_or_is_excused() {
    let place = Place::new();
    let mut complaints = Vec::new();
    let mut excused: BTreeMap<String, usize> = BTreeMap::new();
    let mut run = 0;
    for (page, snippets) in shell_snippets() {
        let mut blessed = page.text.clone();
        for snippet in snippets {
            if let Some(why) = excuse(&snippet) {
                *excused.entry(why).or_default() += 1;
                continue;
            }
            run += 1;
            match snippet.language.as_str() {
                "console" => complaints.extend(place.converse(&snippet, &mut blessed).err()),
                _ => complaints.extend(place.succeed(&snippet).err()),
            }
        }
        if std::env::var_os("KERF_BLESS").is_some() && blessed != page.text {
            std::fs::write(&page.path, blessed).expect("the page can be written");
        }
    }
    println!("{run} snippets were run");
    excused.iter().for_each(|(why, count)| println!("{count} were not: {why}"));
    assert!(run >= 12, "only {run} snippets were run: are they found?");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_shell_snippet_can_be_read_by_a_shell() {
    for (_, snippets) in shell_snippets() {
        for snippet in snippets {
            let script = match snippet.language.as_str() {
                "console" => {
                    snippet.exchanges().iter().map(|it| it.command.clone() + "\n").collect()
                }
                _ => snippet.body.clone(),
            };
            let output = Command::new("bash").args(["-n", "-c", &script]).output();
            let output = output.expect("bash starts");
            assert!(output.status.success(), "{}: {}", snippet.place, said(&output));
        }
    }
}

#[test]
fn every_flag_of_kerf_in_a_snippet_exists() {
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    let mut looked_at = 0;
    for (_, snippets) in shell_snippets() {
        for snippet in snippets {
            for words in snippet.commands() {
                let Some(words) = kerf_words(&words) else { continue };
                let help = help(words, &mut helps);
                for flag in words.iter().filter(|word| word.starts_with("--")) {
                    let flag = flag.split('=').next().unwrap_or_default();
                    let listed = help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
                    let is_listed = listed.into_iter().any(|word| word == flag);
                    assert!(is_listed, "{}: kerf {} has no {flag}", snippet.place, words.join(" "));
                    looked_at += 1;
                }
            }
        }
    }
    assert!(looked_at >= 10, "only {looked_at} flags were found");
}

/// The words behind `kerf`, also where it is `cargo run --release -- …`.
fn kerf_words(words: &[String]) -> Option<&[String]> {
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["kerf" | "target/debug/kerf", ..] => Some(&words[1..]),
        ["cargo", "run", "--release", "--", ..] => Some(&words[4..]),
        _ => None,
    }
}

/// The help of the command that the words ask for.
fn help(words: &[String], helps: &mut BTreeMap<String, String>) -> String {
    let mut found = String::new();
    for count in 0..=words.iter().take_while(|word| !word.starts_with('-')).count() {
        let command = words[..count].join(" ");
        let help = helps.entry(command.clone()).or_insert_with(|| {
            let arguments = command.split_whitespace().chain(["--help"]);
            let output = Command::new(env!("CARGO_BIN_EXE_kerf")).args(arguments).output();
            output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default()
        });
        // Words that are no commands are arguments, and change nothing.
        if !help.is_empty() && (count == 0 || *help != found) {
            found = help.clone();
        }
    }
    found
}

/// A folder with what the snippets speak of, and `kerf` on the path.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("kerf-snippets-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("bin")).expect("a folder can be made");
        let link = |from: PathBuf, to: PathBuf| {
            std::os::unix::fs::symlink(from, to).expect("a link can be made");
        };
        let root = std::fs::canonicalize(ROOT).expect("the repository");
        for name in ["examples", "deploy"] {
            link(root.join(name), folder.join(name));
        }
        for entry in std::fs::read_dir(root.join("docs/snippets")).expect("files of snippets") {
            let entry = entry.expect("an entry of a folder");
            link(entry.path(), folder.join(entry.file_name()));
        }
        link(PathBuf::from(env!("CARGO_BIN_EXE_kerf")), folder.join("bin/kerf"));
        Self { folder }
    }

    fn shell(&self, script: &str) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.folder.join("bin").display());
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", script]).current_dir(&self.folder);
        command.env("PATH", path).env("KUBECONFIG", "/nowhere/kubeconfig").env_remove("COLUMNS");
        command.output().expect("bash starts")
    }

    /// An `sh` block must succeed.
    fn succeed(&self, snippet: &Snippet) -> Result<(), String> {
        let output = self.shell(&snippet.body);
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{} ends with {}\n{}", snippet.place, output.status, said(&output)))
    }

    /// A `console` block must show what its commands print.
    fn converse(&self, snippet: &Snippet, page: &mut String) -> Result<(), String> {
        let mut found = String::new();
        for exchange in snippet.exchanges() {
            let output = self.shell(&format!("exec 2>&1; {}", exchange.command));
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let printed: String =
                printed.lines().map(|line| format!("{}\n", line.trim_end())).collect();
            let _ = write!(found, "$ {}\n{printed}", exchange.command);
        }
        if found == snippet.body {
            return Ok(());
        }
        if std::env::var_os("KERF_BLESS").is_some() {
            *page = page.replacen(&snippet.body, &found, 1);
            return Ok(());
        }
        let (place, stored) = (&snippet.place, &snippet.body);
        Err(format!("{place} shows what is not printed\n--- shown\n{stored}--- printed\n{found}"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
