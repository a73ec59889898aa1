//! Events of the YAML parser made into a tree, with aliases filled in and merge keys merged.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};

use super::Position;
use super::scalar::{self, Scalar, ScalarError};
use super::split::Chunk;
use super::tree::{Content, Entry, Node};

/// Deepest nesting read. The deepest field of a Kubernetes object is under 30 levels down.
const DEPTH_MAX: usize = 100;
/// Most values in a document once its aliases are written out. An API server takes 3 MiB at most,
/// which is fewer than this even if every value is one letter; more is a decompression bomb.
const NODES_MAX: usize = 1_000_000;

/// Why a document has no tree.
#[derive(Debug)]
pub(crate) enum TreeError {
    /// The text is not YAML.
    Scan(ScanError),
    /// The text is YAML that kubectl cannot turn into JSON.
    Value { position: Position, what: ValueError },
}

/// YAML that has no JSON form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ValueError {
    KeyNotScalar,
    KeyNull,
    NotFinite,
    TagMismatch(String),
    TooDeep,
    TooLarge,
    AliasInsideItself,
    MergeNotMapping,
}

/// What a chunk of text holds.
#[derive(Debug)]
pub(crate) struct Contents {
    /// The document; nothing if the text holds no value.
    pub document: Option<Node>,
    /// Where more follows after an end marker `...`. kubectl does not read on there.
    pub unread: Option<Position>,
}

/// Reads one document.
pub(crate) fn read(chunk: &Chunk<'_>) -> Result<Contents, TreeError> {
    let mut builder = Builder::new(chunk);
    loop {
        match builder.next()? {
            (Event::StreamEnd, _) => return Ok(Contents { document: None, unread: None }),
            (Event::DocumentStart(..), _) => break,
            _ => {}
        }
    }
    let node = builder.node(0)?;
    let mut unread = None;
    loop {
        match builder.next()? {
            (Event::StreamEnd, _) => return Ok(Contents { document: Some(node), unread }),
            (Event::DocumentStart(..), span) => {
                unread.get_or_insert(builder.position(&span));
            }
            _ => {}
        }
    }
}

/// A finished value that aliases may name, with what it costs to write it out again.
struct Anchored {
    node: Node,
    nodes: usize,
    depth: usize,
}

struct Builder<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Anchored>,
    nodes: usize,
    first_line: usize,
    first_column: usize,
}

impl<'a> Builder<'a> {
    fn new(chunk: &Chunk<'a>) -> Self {
        let options = granit_parser::options! {
            emit_comments: false,
            flow_nesting_limit: DEPTH_MAX,
            block_nesting_limit: DEPTH_MAX,
        };
        Self {
            parser: Parser::new_from_str_with_options(chunk.text, options),
            anchors: HashMap::new(),
            nodes: 0,
            first_line: chunk.first_line,
            first_column: chunk.first_column,
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), TreeError> {
        match self.parser.next_event() {
            Some(event) => event.map_err(TreeError::Scan),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn position(&self, span: &Span) -> Position {
        let (line, column) = (span.start.line().max(1), span.start.col() + 1);
        let shift = if line == 1 { self.first_column - 1 } else { 0 };
        Position { line: line + self.first_line - 1, column: column + shift }
    }

    fn node(&mut self, depth: usize) -> Result<Node, TreeError> {
        let (event, span) = self.next()?;
        self.node_from(event, span, depth)
    }

    fn node_from(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, TreeError> {
        let position = self.position(&span);
        let fail = |what| TreeError::Value { position, what };
        self.nodes += 1;
        if depth > DEPTH_MAX {
            return Err(fail(ValueError::TooDeep));
        }
        if self.nodes > NODES_MAX {
            return Err(fail(ValueError::TooLarge));
        }
        let before = self.nodes;
        let mut written = None;
        let (content, anchor) = match event {
            Event::Alias(id) => return self.alias(id, position, depth),
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = scalar_of(&text, style, tag.as_deref()).map_err(|e| fail(e.into()))?;
                let as_text = matches!(scalar, Scalar::Text(_));
                written = (!as_text).then(|| text.into_owned().into_boxed_str());
                (scalar.into(), anchor)
            }
            Event::SequenceStart(_, anchor, _) => (Content::List(self.items(depth)?), anchor),
            Event::MappingStart(_, anchor, _) => (Content::Map(self.entries(depth)?), anchor),
            _ => (Content::Null, 0),
        };
        let node = Node { position, content, written };
        if anchor != 0 {
            let (nodes, depth) = (self.nodes - before + 1, depth_of(&node));
            // The copy kept for aliases counts too, or anchors inside anchors would be free.
            self.nodes = self.nodes.saturating_add(nodes);
            self.anchors.insert(anchor, Anchored { node: node.clone(), nodes, depth });
        }
        Ok(node)
    }

    fn alias(&mut self, id: usize, position: Position, depth: usize) -> Result<Node, TreeError> {
        let fail = |what| TreeError::Value { position, what };
        let anchored = self.anchors.get(&id).ok_or(fail(ValueError::AliasInsideItself))?;
        self.nodes = self.nodes.saturating_add(anchored.nodes);
        if self.nodes > NODES_MAX {
            return Err(fail(ValueError::TooLarge));
        }
        if depth + anchored.depth > DEPTH_MAX {
            return Err(fail(ValueError::TooDeep));
        }
        Ok(anchored.node.clone())
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, TreeError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd | Event::StreamEnd, _) => return Ok(items),
                (event, span) => items.push(self.node_from(event, span, depth + 1)?),
            }
        }
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<Entry>, TreeError> {
        let mut entries = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd | Event::StreamEnd) {
                return Ok(entries);
            }
            let key_position = self.position(&span);
            if is_merge(&event) {
                let source = self.node(depth + 1)?;
                merge(source, &mut entries)?;
                continue;
            }
            let (key, key_written) = self.key(event, span, depth)?;
            let value = self.node(depth + 1)?;
            entries.push(Entry { key, key_position, key_written, value, merged: false });
        }
    }

    /// The key as JSON holds it, and as it was written if that is not the same.
    fn key(
        &mut self,
        event: Event<'a>,
        span: Span,
        depth: usize,
    ) -> Result<(String, Option<Box<str>>), TreeError> {
        let node = self.node_from(event, span, depth + 1)?;
        let fail = |what| Err(TreeError::Value { position: node.position, what });
        let scalar = match node.content {
            Content::Null => Scalar::Null,
            Content::Bool(flag) => Scalar::Bool(flag),
            Content::Number(number) => Scalar::Number(number),
            Content::Text(text) => Scalar::Text(text),
            Content::List(_) | Content::Map(_) => return fail(ValueError::KeyNotScalar),
        };
        match scalar::key_text(scalar) {
            Some(key) => Ok((key, node.written)),
            None => fail(ValueError::KeyNull),
        }
    }
}

/// `<<`, unquoted.
fn is_merge(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<")
}

/// Merged keys override what stands before them and are overridden by what follows, and of several
/// sources the first wins: that is what kubectl's reader does.
fn merge(source: Node, entries: &mut Vec<Entry>) -> Result<(), TreeError> {
    let position = source.position;
    match source.content {
        Content::Map(merged) => {
            entries.extend(merged.into_iter().map(|entry| Entry { merged: true, ..entry }));
            Ok(())
        }
        Content::List(sources) if sources.iter().all(|s| matches!(s.content, Content::Map(_))) => {
            sources.into_iter().rev().try_for_each(|source| merge(source, entries))
        }
        _ => Err(TreeError::Value { position, what: ValueError::MergeNotMapping }),
    }
}

fn scalar_of(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Scalar, ScalarError> {
    let core_tag = tag.and_then(Tag::core_suffix);
    match (style, tag) {
        (ScalarStyle::Plain, None) => scalar::resolve(text, None),
        (_, Some(_)) if core_tag.is_some() => scalar::resolve(text, core_tag),
        _ => Ok(Scalar::Text(text.to_owned())),
    }
}

fn depth_of(node: &Node) -> usize {
    let inner = match &node.content {
        Content::List(items) => items.iter().map(depth_of).max(),
        Content::Map(entries) => entries.iter().map(|entry| depth_of(&entry.value)).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

impl From<Scalar> for Content {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(flag) => Self::Bool(flag),
            Scalar::Number(number) => Self::Number(number),
            Scalar::Text(text) => Self::Text(text),
        }
    }
}

impl From<ScalarError> for ValueError {
    fn from(error: ScalarError) -> Self {
        match error {
            ScalarError::NotFinite => Self::NotFinite,
            ScalarError::TagMismatch(tag) => Self::TagMismatch(tag),
        }
    }
}
