//! Pieces of a template, put together to what is rendered.

use super::TemplateError;
use super::functions::is_function;
use super::lexer::{Piece, Token};
use super::value::Value;

/// How deep blocks and parentheses may be nested.
const DEPTH_MAX: usize = 50;

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Text(String),
    /// The value is written, unless a variable gets it.
    Write(Pipeline),
    If {
        when: Pipeline,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    With {
        value: Pipeline,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    Range {
        items: Pipeline,
        names: Vec<String>,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
}

/// Commands, each of which gets the value of the one before.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    /// The variable that gets the value, if one does.
    pub(super) set: Option<Setting>,
    pub(super) commands: Vec<Vec<Operand>>,
}

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) name: String,
    /// Whether the variable begins here.
    pub(super) is_new: bool,
}

/// A function, or something that has a value.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Function(String),
    Literal(Value),
    Dot,
    Fields(Vec<String>),
    Variable(String, Vec<String>),
    Inner(Box<Pipeline>, Vec<String>),
}

/// Puts pieces together.
pub(super) fn parse(pieces: &[Piece]) -> Result<Vec<Node>, TemplateError> {
    let mut parser = Parser { pieces: pieces.iter(), line: 1, variables: vec![String::new()] };
    let (nodes, end) = parser.block(0)?;
    match end {
        None => Ok(nodes),
        Some(_) => Err(parser.fails("{{end}} or {{else}} without a beginning")),
    }
}

struct Parser<'a> {
    pieces: std::slice::Iter<'a, Piece>,
    line: usize,
    /// Variables that are known here. The one without a name is the data.
    variables: Vec<String>,
}

/// How a block ends: with `end`, or with `else` and what follows it.
type End<'a> = Option<(&'static str, &'a [Token])>;

impl<'a> Parser<'a> {
    fn fails(&self, why: &str) -> TemplateError {
        TemplateError::Unreadable { line: self.line, why: why.to_owned() }
    }

    /// Everything up to the end of the block, or of the template.
    fn block(&mut self, depth: usize) -> Result<(Vec<Node>, End<'a>), TemplateError> {
        if depth > DEPTH_MAX {
            return Err(self.fails("blocks are nested too deep"));
        }
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.next() {
            let (tokens, line) = match piece {
                Piece::Text(text) => {
                    nodes.push(Node::Text(text.clone()));
                    continue;
                }
                Piece::Action(tokens, line) => (tokens.as_slice(), *line),
            };
            self.line = line;
            let (word, rest) = match tokens {
                [Token::Word(word), rest @ ..] => (word.as_str(), rest),
                _ => ("", tokens),
            };
            match word {
                "end" if rest.is_empty() => return Ok((nodes, Some(("end", rest)))),
                "else" => return Ok((nodes, Some(("else", rest)))),
                "if" | "with" | "range" => nodes.push(self.compound(word, rest, depth)?),
                "define" | "template" | "block" | "break" | "continue" => {
                    return Err(self.fails(&format!("{word} is not supported")));
                }
                _ => nodes.push(Node::Write(self.pipeline(tokens, depth)?)),
            }
        }
        Ok((nodes, None))
    }

    fn compound(
        &mut self,
        word: &str,
        tokens: &'a [Token],
        depth: usize,
    ) -> Result<Node, TemplateError> {
        let known = self.variables.len();
        let (names, tokens) = match word {
            "range" => self.range_names(tokens)?,
            _ => (Vec::new(), tokens),
        };
        let value = self.pipeline(tokens, depth)?;
        self.variables.extend(names.iter().cloned());
        let (then, end) = self.block(depth + 1)?;
        let otherwise = match end {
            None => return Err(self.fails(&format!("{word} without {{{{end}}}}"))),
            Some(("end", _)) => Vec::new(),
            // `else if` is a block of its own that ends with this one.
            Some((_, [Token::Word(next), rest @ ..])) if next == "if" || next == "with" => {
                vec![self.compound(next, rest, depth + 1)?]
            }
            Some((_, [])) => match self.block(depth + 1)? {
                (nodes, Some(("end", _))) => nodes,
                _ => return Err(self.fails("else without {{end}}")),
            },
            Some(_) => return Err(self.fails("else with something after it")),
        };
        self.variables.truncate(known);
        Ok(match word {
            "if" => Node::If { when: value, then, otherwise },
            "with" => Node::With { value, then, otherwise },
            _ => Node::Range { items: value, names, then, otherwise },
        })
    }

    /// The variables of `range $i, $x := …`.
    fn range_names(
        &self,
        tokens: &'a [Token],
    ) -> Result<(Vec<String>, &'a [Token]), TemplateError> {
        use Token::{Comma, Declare, Variable};
        Ok(match tokens {
            [Variable(key, a), Comma, Variable(value, b), Declare, rest @ ..]
                if a.is_empty() && b.is_empty() =>
            {
                (vec![key.clone(), value.clone()], rest)
            }
            [Variable(value, fields), Declare, rest @ ..] if fields.is_empty() => {
                (vec![value.clone()], rest)
            }
            _ => (Vec::new(), tokens),
        })
    }

    fn pipeline(&mut self, tokens: &[Token], depth: usize) -> Result<Pipeline, TemplateError> {
        let (set, tokens) = match tokens {
            [Token::Variable(name, fields), Token::Declare, rest @ ..] if fields.is_empty() => {
                (Some(Setting { name: name.clone(), is_new: true }), rest)
            }
            [Token::Variable(name, fields), Token::Assign, rest @ ..] if fields.is_empty() => {
                self.check_variable(name)?;
                (Some(Setting { name: name.clone(), is_new: false }), rest)
            }
            _ => (None, tokens),
        };
        let mut left = tokens;
        let commands = self.commands(&mut left, depth)?;
        if !left.is_empty() {
            return Err(self.fails("a closing parenthesis without an opening one"));
        }
        if let Some(set) = set.as_ref().filter(|set| set.is_new) {
            self.variables.push(set.name.clone());
        }
        Ok(Pipeline { set, commands })
    }

    /// Commands up to a closing parenthesis, or the end.
    fn commands(
        &self,
        left: &mut &[Token],
        depth: usize,
    ) -> Result<Vec<Vec<Operand>>, TemplateError> {
        if depth > DEPTH_MAX {
            return Err(self.fails("parentheses are nested too deep"));
        }
        let (mut commands, mut command) = (Vec::new(), Vec::new());
        loop {
            match left {
                [] | [Token::Close(_), ..] => break,
                [Token::Pipe, rest @ ..] => {
                    *left = rest;
                    if command.is_empty() {
                        return Err(self.fails("nothing stands before |"));
                    }
                    commands.push(std::mem::take(&mut command));
                }
                [Token::Open, rest @ ..] => {
                    *left = rest;
                    let commands = self.commands(left, depth + 1)?;
                    let [Token::Close(fields), rest @ ..] = left else {
                        return Err(self.fails("a parenthesis that is not closed"));
                    };
                    *left = rest;
                    let inner = Box::new(Pipeline { set: None, commands });
                    command.push(Operand::Inner(inner, fields.clone()));
                }
                [token, rest @ ..] => {
                    *left = rest;
                    command.push(self.operand(token)?);
                }
            }
        }
        if command.is_empty() {
            return Err(self.fails("a value is missing"));
        }
        commands.push(command);
        Ok(commands)
    }

    fn operand(&self, token: &Token) -> Result<Operand, TemplateError> {
        Ok(match token {
            Token::Dot => Operand::Dot,
            Token::Fields(names) => Operand::Fields(names.clone()),
            Token::Variable(name, fields) => {
                self.check_variable(name)?;
                Operand::Variable(name.clone(), fields.clone())
            }
            Token::Text(text) => Operand::Literal(Value::from(text.as_str())),
            Token::Int(number) => Operand::Literal(Value::Int(*number)),
            Token::Word(word) => match word.as_str() {
                "true" => Operand::Literal(Value::Bool(true)),
                "false" => Operand::Literal(Value::Bool(false)),
                "nil" => Operand::Literal(Value::Nil),
                name if is_function(name) => Operand::Function(word.clone()),
                name => return Err(self.fails(&format!("there is no function {name}"))),
            },
            other => return Err(self.fails(&format!("{other:?} stands in a wrong place"))),
        })
    }

    fn check_variable(&self, name: &str) -> Result<(), TemplateError> {
        match self.variables.iter().any(|known| known == name) {
            true => Ok(()),
            false => Err(self.fails(&format!("the variable ${name} is not known here"))),
        }
    }
}
