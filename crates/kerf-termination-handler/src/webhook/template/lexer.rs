//! A template, cut into text and the words inside `{{` and `}}`.

use super::TemplateError;

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// As it is.
    Text(String),
    /// What stands between `{{` and `}}`, and the line it stands in.
    Action(Vec<Token>, usize),
}

/// A word of an action.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// `.` alone.
    Dot,
    /// `.A.B`.
    Fields(Vec<String>),
    /// `$x`, and the fields after it.
    Variable(String, Vec<String>),
    /// A keyword or a function.
    Word(String),
    Text(String),
    Int(i64),
    Pipe,
    Open,
    /// A closing parenthesis, and the fields after it.
    Close(Vec<String>),
    Comma,
    /// `:=`
    Declare,
    /// `=`
    Assign,
}

const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

/// Cuts a template.
pub(super) fn tokens(text: &str) -> Result<Vec<Piece>, TemplateError> {
    let (mut pieces, mut rest, mut trims) = (Vec::new(), text, false);
    let line = |rest: &str| 1 + text[..text.len() - rest.len()].matches('\n').count();
    loop {
        let (plain, action) = match rest.split_once("{{") {
            Some((plain, action)) => (plain, Some(action)),
            None => (rest, None),
        };
        let mut plain = if trims { plain.trim_start_matches(SPACES) } else { plain };
        let trims_left =
            action.is_some_and(|it| it.starts_with("- ") || it.starts_with("-\n") || it == "-");
        if trims_left {
            plain = plain.trim_end_matches(SPACES);
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain.to_owned()));
        }
        let Some(action) = action else { return Ok(pieces) };
        let at = line(action);
        let fails = |why: &str| TemplateError::Unreadable { line: at, why: why.to_owned() };
        let action = if trims_left { &action[1..] } else { action };
        let (inside, after) = split_action(action).ok_or_else(|| fails("{{ without }}"))?;
        rest = after;
        let inside = match inside.strip_suffix('-') {
            Some(inside) if inside.ends_with(SPACES) || inside.is_empty() => {
                trims = true;
                inside
            }
            _ => {
                trims = false;
                inside
            }
        };
        let inside = inside.trim_matches(SPACES);
        if inside.starts_with("/*") {
            match inside.ends_with("*/") {
                true => continue,
                false => return Err(fails("a comment stands alone in its {{ }}")),
            }
        }
        pieces.push(Piece::Action(words(inside, &fails)?, at));
    }
}

/// What stands before `}}`, which inside quotes is no end, and what stands after.
fn split_action(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut characters = text.char_indices();
    if text.trim_start_matches(SPACES).starts_with("/*") {
        let end = text.find("*/")? + 2;
        let close = text[end..].find("}}")? + end;
        return Some((&text[..close], &text[close + 2..]));
    }
    while let Some((place, character)) = characters.next() {
        match (quote, character) {
            (None, '"' | '`' | '\'') => quote = Some(character),
            (Some('"' | '\''), '\\') => drop(characters.next()),
            (Some(open), _) if open == character => quote = None,
            (None, '}') if text[place..].starts_with("}}") => {
                return Some((&text[..place], &text[place + 2..]));
            }
            _ => {}
        }
    }
    None
}

fn words(text: &str, fails: &impl Fn(&str) -> TemplateError) -> Result<Vec<Token>, TemplateError> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    loop {
        rest = rest.trim_start_matches(SPACES);
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        let after = &rest[first.len_utf8()..];
        let (token, left) = match first {
            '|' => (Token::Pipe, after),
            '(' => (Token::Open, after),
            ')' => {
                let (fields, left) = fields(after);
                (Token::Close(fields), left)
            }
            ',' => (Token::Comma, after),
            ':' if after.starts_with('=') => (Token::Declare, &after[1..]),
            '=' => (Token::Assign, after),
            '`' => {
                let (raw, left) = after.split_once('`').ok_or_else(|| fails("` without an end"))?;
                (Token::Text(raw.to_owned()), left)
            }
            '"' => {
                let (quoted, left) = quoted(after).ok_or_else(|| {
                    fails("a quote that is not closed, or an unknown escape in it")
                })?;
                (Token::Text(quoted), left)
            }
            '.' => match fields(rest) {
                (names, left) if names.is_empty() => (Token::Dot, &left[1..]),
                (names, left) => (Token::Fields(names), left),
            },
            '$' => {
                let (name, left) = name(after);
                let (fields, left) = fields(left);
                (Token::Variable(name.to_owned(), fields), left)
            }
            '0'..='9' | '-' | '+' => {
                let end =
                    after.find(|it: char| !it.is_ascii_alphanumeric() && it != '_' && it != '.');
                let (digits, left) = rest.split_at(1 + end.unwrap_or(after.len()));
                let number = digits.replace('_', "").parse();
                let number = number.map_err(|_| fails(&format!("{digits} is no whole number")))?;
                (Token::Int(number), left)
            }
            _ => {
                let (name, left) = name(rest);
                if name.is_empty() {
                    return Err(fails(&format!("{first:?} is not understood")));
                }
                (Token::Word(name.to_owned()), left)
            }
        };
        tokens.push(token);
        rest = left;
    }
}

/// The fields a text begins with, as in `.A.B`.
fn fields(text: &str) -> (Vec<String>, &str) {
    let (mut names, mut rest) = (Vec::new(), text);
    while let Some(after) = rest.strip_prefix('.') {
        let (name, left) = name(after);
        if name.is_empty() {
            break;
        }
        names.push(name.to_owned());
        rest = left;
    }
    (names, rest)
}

fn name(text: &str) -> (&str, &str) {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_');
    text.split_at(end.unwrap_or(text.len()))
}

/// A text up to its closing quote, with its escapes undone.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut out, mut characters) = (String::new(), text.char_indices());
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return Some((out, &text[place + 1..])),
            '\n' => return None,
            '\\' => out.push(match characters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'u' => {
                    let digits: String = characters.by_ref().take(4).map(|(_, it)| it).collect();
                    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
                }
                same @ ('"' | '\\' | '\'') => same,
                _ => return None,
            }),
            other => out.push(other),
        }
    }
    None
}
