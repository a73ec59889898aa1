//! Pages of the documentation, as the snippets on them.

use std::path::{Path, PathBuf};

/// A page and its text.
pub(crate) struct Page {
    /// Below the root of the repository.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A fenced block.
pub(crate) struct Snippet {
    /// `docs/plan.md:12`
    pub(crate) place: String,
    /// What the fence says it is: `sh`, `console`, `yaml`.
    pub(crate) language: String,
    /// The lines between the fences.
    pub(crate) body: String,
    /// Why it is not run, from a comment `<!-- not run: why -->` above it.
    pub(crate) excuse: Option<String>,
}

/// A command of a `console` block and what it prints.
pub(crate) struct Exchange {
    pub(crate) command: String,
    pub(crate) output: String,
}

/// The pages people read.
pub(crate) fn pages(root: &Path) -> Vec<Page> {
    let mut paths = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    let docs = std::fs::read_dir(root.join("docs")).expect("the docs");
    let docs = docs.map(|entry| entry.expect("an entry of a folder").path());
    paths.extend(docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    paths.sort();
    let page = |path: PathBuf| {
        let name = path.strip_prefix(root).expect("below the root").display().to_string();
        Page { name, text: std::fs::read_to_string(&path).expect("a page"), path }
    };
    paths.into_iter().map(page).collect()
}

impl Page {
    pub(crate) fn snippets(&self) -> Vec<Snippet> {
        let mut snippets = Vec::new();
        let mut open: Option<Snippet> = None;
        let mut before = "";
        for (number, line) in self.text.lines().enumerate() {
            match (line.trim_start().strip_prefix("```"), open.take()) {
                (Some(_), Some(snippet)) => snippets.push(snippet),
                (None, Some(mut snippet)) => {
                    snippet.body.push_str(line);
                    snippet.body.push('\n');
                    open = Some(snippet);
                }
                (Some(language), None) => {
                    let excuse = before.trim().strip_prefix("<!-- not run: ");
                    let excuse = excuse.and_then(|text| text.strip_suffix(" -->"));
                    open = Some(Snippet {
                        place: format!("{}:{}", self.name, number + 1),
                        language: language.trim().to_owned(),
                        body: String::new(),
                        excuse: excuse.map(str::to_owned),
                    });
                }
                (None, None) => {}
            }
            before = line;
        }
        assert!(open.is_none(), "{}: a block is not closed", self.name);
        snippets
    }
}

impl Snippet {
    /// The commands of a `console` block, each behind `$ `, with the lines below it.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        for line in self.body.lines() {
            match (line.strip_prefix("$ "), exchanges.last_mut()) {
                (Some(command), _) => {
                    let command = command.to_owned();
                    exchanges.push(Exchange { command, output: String::new() });
                }
                (None, Some(last)) => {
                    last.output.push_str(line);
                    last.output.push('\n');
                }
                (None, None) => panic!("{}: a console block begins with `$ `", self.place),
            }
        }
        exchanges
    }

    /// The commands of an `sh` or `console` block: the words of each, up to a pipe or the line's end.
    pub(crate) fn commands(&self) -> Vec<Vec<String>> {
        let mut commands = Vec::new();
        let mut here_document: Option<String> = None;
        let text = self.body.replace("\\\n", " ");
        for line in text.lines() {
            if let Some(end) = &here_document {
                if line == end {
                    here_document = None;
                }
                continue;
            }
            let line = match self.language.as_str() {
                "console" => match line.strip_prefix("$ ") {
                    Some(command) => command,
                    None => continue,
                },
                _ => line,
            };
            let marker = line.split_once("<<").map(|(_, rest)| rest.trim_matches(['\'', '"', ' ']));
            here_document = marker.map(str::to_owned);
            let line = line.split(" #").next().unwrap_or_default();
            for part in line.replace("&&", "|").replace("$(", "|").split(['|', ';']) {
                let is_setting = |word: &&str| {
                    word.split_once('=').is_some_and(|(name, _)| {
                        !name.is_empty()
                            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    })
                };
                let words = part.split_whitespace().skip_while(is_setting);
                let words: Vec<String> =
                    words.map(|word| word.trim_matches(['"', '\'', ')']).to_owned()).collect();
                if !words.is_empty() && !words[0].starts_with('#') {
                    commands.push(words);
                }
            }
        }
        commands
    }
}
