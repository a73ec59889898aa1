//! Cutting a file into documents before any is parsed, so that a broken one hides no other.

use serde::de::IgnoredAny;

/// One document of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk<'a> {
    /// The text between two markers.
    pub text: &'a str,
    /// The line of the file on which the text starts, from one.
    pub first_line: usize,
    /// The column in which the text starts, from one. Only JSON documents may share a line.
    pub first_column: usize,
    /// Text on the marker's own line. YAML allows it, kubectl refuses it.
    pub on_marker_line: Option<&'a str>,
}

/// The documents of a file that hold more than blanks and comments.
pub(crate) fn split(text: &str) -> Vec<Chunk<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let chunks = json_stream(text).unwrap_or_else(|| yaml_documents(text));
    chunks.into_iter().filter(|chunk| !is_empty(chunk)).collect()
}

fn is_empty(chunk: &Chunk<'_>) -> bool {
    let bare = |line: &str| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#') || line == "..."
    };
    chunk.on_marker_line.is_none() && chunk.text.lines().all(bare)
}

/// JSON values one after the other, as kubectl reads a file whose first sign is a brace.
fn json_stream(text: &str) -> Option<Vec<Chunk<'_>>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let (mut chunks, mut start) = (Vec::new(), 0);
    while let Some(value) = values.next() {
        value.ok()?;
        let end = values.byte_offset();
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        chunks.push(Chunk {
            text: &text[start..end],
            first_line: before.matches('\n').count() + 1,
            first_column: before[line_start..].chars().count() + 1,
            on_marker_line: None,
        });
        start = end;
    }
    Some(chunks)
}

/// A line that starts with three dashes ends a document, even inside quotes or a block of text:
/// both YAML and kubectl say so.
fn yaml_documents(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let (mut start, mut first_line, mut on_marker_line) = (0, 1, None);
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if let Some(after) = line.strip_prefix("---") {
            let text = &text[start..offset];
            chunks.push(Chunk { text, first_line, first_column: 1, on_marker_line });
            start = offset + line.len();
            first_line = number + 2;
            let after = after.trim();
            on_marker_line = (!after.is_empty() && !after.starts_with('#')).then_some(after);
        }
        offset += line.len();
    }
    chunks.push(Chunk { text: &text[start..], first_line, first_column: 1, on_marker_line });
    chunks
}
