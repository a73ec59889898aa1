//! Patterns as Go reads them: RE2 syntax, unanchored, with ASCII `\d`, `\w` and `\s`.

use std::iter::Peekable;
use std::str::Chars;
use std::sync::OnceLock;

use regex::Regex;

/// A pattern and, once it was used, its compiled form, or why it does not compile.
///
/// Compiling takes a tenth of a millisecond, and of the patterns of a CRD an object meets few.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub text: String,
    compiled: OnceLock<Result<Regex, String>>,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), compiled: OnceLock::new() }
    }

    /// Whether the pattern is found anywhere in the text. A broken pattern accepts nothing, as in
    /// an API server.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        self.regex().is_ok_and(|regex| regex.is_match(text))
    }

    /// The compiled form.
    pub(crate) fn regex(&self) -> Result<&Regex, &str> {
        let compile = || Regex::new(&from_go(&self.text)).map_err(|error| error.to_string());
        self.compiled.get_or_init(compile).as_ref().map_err(String::as_str)
    }
}

/// Rewrites Go syntax where the same text means something else to the regex crate: the short
/// classes are ASCII in Go and Unicode here, and `[`, `&&`, `--`, `~~` inside a class are plain
/// characters in Go and set operations here.
fn from_go(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, in_class, &mut out),
            '[' if in_class && chars.peek() != Some(&':') => out.push_str("\\["),
            '[' if in_class => posix_class(&mut chars, &mut out),
            '[' => {
                in_class = true;
                open_class(&mut chars, &mut out);
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            // Two dashes: the second is the end of a range.
            '-' if in_class && chars.next_if_eq(&'-').is_some() => out.push_str("-\\-"),
            _ => out.push(c),
        }
    }
    out
}

/// After `[`: a caret negates, and a `]` or a dash right after is a plain character.
fn open_class(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    if let Some(plain) = chars.next_if(|c| matches!(c, ']' | '-')) {
        out.push('\\');
        out.push(plain);
    }
}

/// `[:alpha:]` inside a class, copied whole so that its `]` does not close the class.
fn posix_class(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    for c in chars.by_ref() {
        out.push(c);
        if c == ']' {
            break;
        }
    }
}

fn escape(chars: &mut Peekable<Chars<'_>>, in_class: bool, out: &mut String) {
    let Some(c) = chars.next() else {
        out.push('\\');
        return;
    };
    let ascii = match c {
        'd' | 'D' => "0-9",
        'w' | 'W' => "0-9A-Za-z_",
        's' | 'S' => "\\t\\n\\x0C\\r ",
        'b' | 'B' if !in_class => {
            out.push_str(if c == 'b' { "(?-u:\\b)" } else { "(?-u:\\B)" });
            return;
        }
        _ => {
            out.push('\\');
            out.push(c);
            return;
        }
    };
    let caret = if c.is_ascii_uppercase() { "^" } else { "" };
    if in_class && caret.is_empty() {
        out.push_str(ascii);
    } else {
        out.push_str(&format!("[{caret}{ascii}]"));
    }
}
