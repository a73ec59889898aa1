//! Why a document cannot be read, in the author's terms: the line, and what likely happened there.

use granit_parser::{ErrorKind, ScanError};

use super::Position;
use super::read::{TreeError, ValueError};
use super::split::Chunk;

/// A document that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    pub position: Position,
    pub message: String,
    pub instead: Option<String>,
}

/// The likely cause, looked for in the text around the place where the parser gave up.
pub(crate) fn of(error: &TreeError, chunk: &Chunk<'_>) -> Cause {
    if let Some(cause) = helm(chunk) {
        return cause;
    }
    match error {
        TreeError::Value { position, what } => value_cause(*position, what),
        TreeError::Scan(error) => scan_cause(error, chunk),
    }
}

/// `{{ … }}` is a template, not YAML; its first line is the place to look.
fn helm(chunk: &Chunk<'_>) -> Option<Cause> {
    let lines = chunk.text.lines().enumerate();
    let mut code = lines.filter(|(_, line)| !line.trim_start().starts_with('#'));
    let (number, column) = code.find_map(|(number, line)| {
        // Braces inside quotes or text are someone else's template, such as one for Prometheus.
        let (start, value) = value_of(line)?;
        let template = value.trim_start().starts_with("{{") && value.contains("}}");
        template.then(|| (number, line[..start].chars().count() + 1))
    })?;
    Some(Cause {
        position: Position { line: chunk.first_line + number, column },
        message: "this looks like a Helm template, which is not yet YAML".to_owned(),
        instead: Some("render it first: helm template CHART | kerf lint -f -".to_owned()),
    })
}

fn value_cause(position: Position, what: &ValueError) -> Cause {
    let (message, instead) = match what {
        ValueError::KeyNotScalar => ("a key must be plain text", Some("quote the key")),
        ValueError::KeyNull => ("a key is missing before the colon", None),
        ValueError::NotFinite => ("this is not a number JSON can carry", Some("quote it")),
        ValueError::TagMismatch(_) => ("the value does not fit its !! tag", Some("remove the tag")),
        ValueError::TooDeep => ("the document is nested too deeply", None),
        ValueError::TooLarge => {
            ("the document grows too large once its aliases are filled in", None)
        }
        ValueError::AliasInsideItself => ("an alias stands inside the very value it names", None),
        ValueError::MergeNotMapping => ("`<<` must be given a mapping or a list of mappings", None),
    };
    Cause { position, message: message.to_owned(), instead: instead.map(str::to_owned) }
}

fn scan_cause(error: &ScanError, chunk: &Chunk<'_>) -> Cause {
    let marker = error.marker();
    let lines: Vec<&str> = chunk.text.lines().collect();
    let row = marker.line().max(1).min(lines.len().max(1)) - 1;
    let found = tab(&lines, row)
        .or_else(|| unclosed(error.kind(), &lines, row))
        .or_else(|| around(&lines, row, special_start))
        .or_else(|| around(&lines, row, colon_in_value))
        .or_else(|| around(&lines, row, no_space_after_colon))
        .or_else(|| indentation(&lines, row));
    match found {
        Some(Guess { row, column, message, instead }) => {
            let before = lines[row].get(..column).unwrap_or_default();
            let column = before.chars().count() + 1;
            Cause { position: Position { line: chunk.first_line + row, column }, message, instead }
        }
        None => Cause {
            position: Position { line: chunk.first_line + row, column: marker.col() + 1 },
            message: format!("this is not YAML: {}", error.info()),
            instead: None,
        },
    }
}

struct Guess {
    row: usize,
    column: usize,
    message: String,
    instead: Option<String>,
}

/// Something wrong in a line: the byte where it starts, what it is, and what to write.
type Seen = (usize, String, Option<String>);

/// Looks at the line of the error and then at the lines with text just before it.
fn around(lines: &[&str], row: usize, look: fn(&str) -> Option<Seen>) -> Option<Guess> {
    let rows = (0..=row).rev().filter(|row| lines.get(*row).is_some_and(|l| !is_bare(l))).take(2);
    rows.into_iter().find_map(|row| {
        let (column, message, instead) = look(lines[row])?;
        Some(Guess { row, column, message, instead })
    })
}

fn is_bare(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn tab(lines: &[&str], row: usize) -> Option<Guess> {
    let indented_by_tab = |line: &&str| line.trim_start_matches(' ').starts_with('\t');
    let rows = (0..=row.min(lines.len().saturating_sub(1))).rev();
    let row = rows
        .into_iter()
        .take(3)
        .find(|row| lines.get(*row).is_some_and(|line| indented_by_tab(line) && !is_bare(line)))?;
    Some(Guess {
        row,
        column: indent_of(lines[row]),
        message: "this line is indented with a tab; YAML indents with spaces".to_owned(),
        instead: Some("replace the tab with spaces".to_owned()),
    })
}

fn unclosed(kind: &ErrorKind, lines: &[&str], row: usize) -> Option<Guess> {
    let (open, what) = match kind {
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent => {
            let row = (0..=row).rev().find(|row| odd_quotes(lines.get(*row).copied()))?;
            let column = lines[row].find(['"', '\''])?;
            return Some(Guess {
                row,
                column,
                message: "a quote is opened here and not closed".to_owned(),
                instead: Some("close the quote on the same line".to_owned()),
            });
        }
        ErrorKind::UnclosedFlowCollection { open } => (*open, true),
        ErrorKind::UnexpectedEofFlowSequence | ErrorKind::ExpectedFlowSequenceSeparator => {
            ('[', true)
        }
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::ExpectedFlowMappingSeparator => {
            ('{', true)
        }
        _ => (' ', false),
    };
    if !what {
        return None;
    }
    let close = if open == '[' { ']' } else { '}' };
    let unbalanced = |line: &str| line.matches(open).count() > line.matches(close).count();
    let row = (0..=row).rev().find(|row| lines.get(*row).is_some_and(|l| unbalanced(l)))?;
    Some(Guess {
        row,
        column: lines[row].find(open)?,
        message: format!("a `{open}` is opened here and not closed"),
        instead: Some(format!("close it with `{close}`, or quote the text if it is no list")),
    })
}

fn odd_quotes(line: Option<&str>) -> bool {
    let Some(line) = line else { return false };
    let double = line.replace("\\\"", "").matches('"').count();
    double % 2 == 1 || line.matches('\'').count() % 2 == 1
}

/// The value of `key: value` or `- value`, and the byte where it starts.
fn value_of(line: &str) -> Option<(usize, &str)> {
    let mut start = indent_of(line);
    while line[start..].starts_with("- ") {
        start += 2;
    }
    let rest = &line[start..];
    let quoted = rest.starts_with(['"', '\'']);
    match rest.find(": ") {
        Some(colon) if !quoted => Some((start + colon + 2, &rest[colon + 2..])),
        _ => Some((start, rest)),
    }
}

/// `%`, `@` and `` ` `` may not start a value, and `*`, `&`, `!` mean something else.
fn special_start(line: &str) -> Option<Seen> {
    let (start, value) = value_of(line)?;
    let first = value.trim_start().chars().next()?;
    if !['*', '&', '%', '@', '`', '!'].contains(&first) {
        return None;
    }
    let message = format!("a value may not start with `{first}` unless it is quoted");
    Some((start, message, Some(format!("{:?}", value.trim()))))
}

/// `key: some text: more`.
fn colon_in_value(line: &str) -> Option<Seen> {
    let (start, value) = value_of(line)?;
    let value = value.split(" #").next().unwrap_or(value).trim();
    let plain = !value.starts_with(['"', '\'', '[', '{', '|', '>']);
    if start == indent_of(line) || !plain || !(value.contains(": ") || value.ends_with(':')) {
        return None;
    }
    let message = "the value contains a colon followed by a blank, so it must be quoted".to_owned();
    Some((start, message, Some(format!("{value:?}"))))
}

/// `key:value`.
fn no_space_after_colon(line: &str) -> Option<Seen> {
    let text = line.trim().trim_start_matches("- ");
    let (key, value) = text.split_once(':')?;
    let word = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let address = value.starts_with("//") || value.starts_with(':');
    if key.is_empty()
        || !key.chars().all(word)
        || value.starts_with(' ')
        || value.is_empty()
        || address
    {
        return None;
    }
    let column = line.find(':').unwrap_or(0);
    let message = "a blank is missing after the colon".to_owned();
    Some((column, message, Some(format!("{key}: {}", value.trim()))))
}

/// A line that lines up with nothing above it.
fn indentation(lines: &[&str], row: usize) -> Option<Guess> {
    let line = lines.get(row).copied().filter(|line| !is_bare(line))?;
    let indent = indent_of(line);
    let above: Vec<&str> = lines[..row].iter().rev().copied().filter(|l| !is_bare(l)).collect();
    let previous = above.first()?;
    let wanted = above.iter().map(|l| indent_of(l)).find(|above| *above <= indent)?;
    let item = line.trim_start().starts_with("- ");
    // Of two equally near, the one just above is more likely meant.
    let nearest = above.iter().map(|line| indent_of(line)).min_by_key(|i| i.abs_diff(indent));
    let item_above = above.iter().find(|line| line.trim_start().starts_with("- "));
    let beside = item_above.filter(|_| item).map(|line| indent_of(line));
    let suggested = beside.or(nearest).unwrap_or(wanted);
    if suggested == indent && indent_of(previous) == indent && !item {
        return None;
    }
    let what = if item { "list item" } else { "line" };
    Some(Guess {
        row,
        column: indent,
        message: format!("this {what} is indented by {indent}, which fits nothing above it"),
        instead: Some(format!("indent it by {suggested}")),
    })
}
