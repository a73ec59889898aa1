//! Terraform's language, as far as a module's structure goes: blocks, attributes, here documents.
//! What is not of the language fails with its line, also where no Terraform is installed.

use std::iter::Peekable;
use std::str::CharIndices;

/// A block with its labels.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) kind: String,
    pub(crate) labels: Vec<String>,
    pub(crate) blocks: Vec<Block>,
    /// Expressions as they are written; of here documents the text.
    pub(crate) attributes: Vec<(String, String)>,
}

impl Block {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// The blocks and attributes of a file, as one block without a name.
pub(crate) fn parse(text: &str) -> Block {
    let mut parser = Parser { text, chars: text.char_indices().peekable() };
    let mut file = Block::default();
    while parser.item(&mut file) {}
    assert!(parser.peek().is_none(), "line {}: nothing is open here", parser.line());
    file
}

struct Parser<'t> {
    text: &'t str,
    chars: Peekable<CharIndices<'t>>,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    fn line(&mut self) -> usize {
        let at = self.chars.peek().map_or(self.text.len(), |(at, _)| *at);
        self.text[..at].matches('\n').count() + 1
    }

    fn next(&mut self) -> char {
        let line = self.line();
        self.chars.next().unwrap_or_else(|| panic!("line {line}: the file ends too early")).1
    }

    /// Skips blanks, ends of lines and comments.
    fn skip(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                '#' => while self.chars.next_if(|(_, c)| *c != '\n').is_some() {},
                c if c.is_whitespace() => drop(self.next()),
                _ => break,
            }
        }
    }

    /// Reads one block or attribute; whether there was one.
    fn item(&mut self, into: &mut Block) -> bool {
        self.skip();
        let kind = self.name();
        if kind.is_empty() {
            return false;
        }
        let mut block = Block { kind, ..Block::default() };
        loop {
            self.skip();
            let line = self.line();
            match self.next() {
                '=' if block.labels.is_empty() => {
                    let value = self.expression();
                    into.attributes.push((block.kind, value));
                    return true;
                }
                '"' => block.labels.push(self.string()),
                '{' => break,
                c => panic!("line {line}: {c:?} after {}", block.kind),
            }
        }
        while self.item(&mut block) {}
        let line = self.line();
        assert_eq!(self.next(), '}', "line {line}: the end of {}", block.kind);
        into.blocks.push(block);
        true
    }

    fn name(&mut self) -> String {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let mut name = String::new();
        while let Some((_, c)) = self.chars.next_if(|(_, c)| is_of_name(*c)) {
            name.push(c);
        }
        name
    }

    /// A string whose quote is open.
    fn string(&mut self) -> String {
        let mut string = String::new();
        loop {
            let line = self.line();
            match self.next() {
                '"' => return string,
                '\n' => panic!("line {line}: a string ends with its line"),
                '\\' => string.extend(['\\', self.next()]),
                c => string.push(c),
            }
        }
    }

    /// Everything to the end of the line that no bracket holds open.
    fn expression(&mut self) -> String {
        let (mut value, mut open) = (String::new(), Vec::new());
        loop {
            let line = self.line();
            match self.peek() {
                None | Some('\n') if open.is_empty() => break,
                Some('<') => return self.here_document(),
                _ => {}
            }
            match self.next() {
                '"' => value.push_str(&format!("\"{}\"", self.string())),
                c @ ('(' | '[' | '{') => {
                    open.push(c);
                    value.push(c);
                }
                c @ (')' | ']' | '}') => {
                    let pair = (open.pop(), c);
                    let is_pair =
                        matches!(pair, (Some('('), ')') | (Some('['), ']') | (Some('{'), '}'));
                    assert!(is_pair, "line {line}: {pair:?}");
                    value.push(c);
                }
                c => value.push(c),
            }
        }
        let value = value.trim().to_owned();
        assert!(!value.is_empty(), "line {}: no value", self.line());
        value
    }

    /// `<<-EOT`, the text, and `EOT` on a line of its own.
    fn here_document(&mut self) -> String {
        let line = self.line();
        let mut rest = || -> String {
            let mut rest = String::new();
            while let Some((_, c)) = self.chars.next_if(|(_, c)| *c != '\n') {
                rest.push(c);
            }
            rest
        };
        let begin = rest();
        let word = begin.strip_prefix("<<-").unwrap_or_else(|| panic!("line {line}: {begin}"));
        let mut text = String::new();
        loop {
            self.next();
            let mut one = String::new();
            while let Some((_, c)) = self.chars.next_if(|(_, c)| *c != '\n') {
                one.push(c);
            }
            if one.trim() == word.trim() {
                return text;
            }
            text.push_str(&one);
            text.push('\n');
        }
    }
}
