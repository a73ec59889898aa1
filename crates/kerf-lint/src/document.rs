//! One document of a file: read, unpacked if it is a list, judged, each problem given its place.

use std::borrow::Cow;

use serde_json::Value;

use crate::catalogue::Catalogue;
use crate::field_path::FieldPath;
use crate::identity::{Identity, identify};
use crate::references::References;
use crate::report::{FINDINGS_PER_DOCUMENT_MAX, Finding, Report, Severity};
use crate::violation::{Rule, RuleViolation, Spot};
use crate::yaml::split::Chunk;
use crate::yaml::tree::Node;
use crate::yaml::{Position, cause, read};

/// Lists inside lists that are unpacked.
const LIST_DEPTH_MAX: usize = 8;

/// Lints one document and adds what it finds to the report.
pub(crate) fn lint(
    file: &str,
    number: usize,
    chunk: &Chunk<'_>,
    catalogue: &Catalogue,
    references: &mut References,
    report: &mut Report,
) {
    let mut document = Document::new(file, number);
    match document.read(chunk) {
        Err(NotYaml) => report.documents += 1,
        Ok(None) => {}
        Ok(Some(node)) => {
            let value = node.to_json();
            for (prefix, object) in unpacked(&value) {
                document.object(&node, &object, &prefix, catalogue, report);
                references
                    .note(&object, |problem| document.finding(&node, &object, &prefix, problem));
            }
            document.check_repeats(&node, &value, catalogue);
        }
    }
    document.hand_over(report);
}

/// A document without a value that kubectl could read; a finding says why.
pub(crate) struct NotYaml;

/// One document of a file and what was found in it so far.
pub(crate) struct Document<'a> {
    file: &'a str,
    number: usize,
    pub(crate) findings: Vec<Finding>,
}

impl<'a> Document<'a> {
    /// Nothing found yet in the document with that number, from one.
    pub(crate) fn new(file: &'a str, number: usize) -> Self {
        Self { file, number, findings: Vec::new() }
    }

    /// Reads the text. What is not YAML as kubectl reads it becomes findings.
    pub(crate) fn read(&mut self, chunk: &Chunk<'_>) -> Result<Option<Node>, NotYaml> {
        self.check_marker(chunk);
        match read::read(chunk) {
            Err(error) => {
                self.add_cause(&cause::of(&error, chunk), chunk);
                Err(NotYaml)
            }
            Ok(contents) => {
                self.check_unread(contents.unread);
                Ok(contents.document)
            }
        }
    }

    /// An object that stands at `prefix` in the document.
    fn object(
        &mut self,
        node: &Node,
        value: &Value,
        prefix: &FieldPath,
        catalogue: &Catalogue,
        report: &mut Report,
    ) {
        report.documents += 1;
        let problems = match identify(value, catalogue) {
            Identity::Foreign(kind) => {
                *report.skipped.entry(kind).or_default() += 1;
                return;
            }
            Identity::Mistaken(problem) => vec![problem],
            Identity::Ours(kind, version) => {
                let verdict = catalogue.judge(value, kind, version);
                for rule in &verdict.rules_unevaluated {
                    report.note(format!("not checked, because it uses CEL unknown here: {rule}"));
                }
                if verdict.rules_unchecked {
                    report.note(UNCHECKED.to_owned());
                }
                verdict.problems
            }
        };
        for problem in problems {
            self.add(node, value, prefix, problem);
        }
    }

    fn add(&mut self, node: &Node, object: &Value, prefix: &FieldPath, problem: RuleViolation) {
        let finding = self.finding(node, object, prefix, problem);
        self.findings.push(finding);
    }

    /// A problem of the object at `prefix`, with its place in the file.
    fn finding(
        &self,
        node: &Node,
        object: &Value,
        prefix: &FieldPath,
        mut problem: RuleViolation,
    ) -> Finding {
        let path = prefix.join(&problem.path);
        let position = node.place_of(&path, problem.spot);
        if let Some(written) = node.written_at(&path, problem.spot) {
            name_yaml_word(&mut problem, written);
        }
        Finding {
            position: Some(position),
            field: path.to_string(),
            rule: problem.rule.to_string(),
            keyword: problem.rule.keyword,
            severity: problem.severity,
            message: problem.message,
            instead: problem.instead,
            ..self.blank(object)
        }
    }

    fn blank(&self, object: &Value) -> Finding {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        Finding {
            severity: Severity::Error,
            file: self.file.to_owned(),
            document: self.number,
            position: None,
            kind: text("/kind").map(str::to_owned),
            name: text("/metadata/name").or_else(|| text("/name")).map(str::to_owned),
            field: String::new(),
            rule: String::new(),
            keyword: "yaml",
            message: String::new(),
            instead: None,
        }
    }

    fn add_cause(&mut self, cause: &cause::Cause, chunk: &Chunk<'_>) {
        self.findings.push(Finding {
            position: Some(cause.position),
            kind: guessed_kind(chunk.text),
            rule: "yaml".to_owned(),
            message: cause.message.clone(),
            instead: cause.instead.clone(),
            ..self.blank(&Value::Null)
        });
    }

    /// kubectl refuses anything but a comment after the three dashes.
    fn check_marker(&mut self, chunk: &Chunk<'_>) {
        let Some(text) = chunk.on_marker_line else { return };
        self.findings.push(Finding {
            position: Some(Position { line: chunk.first_line - 1, column: 4 }),
            rule: "yaml".to_owned(),
            message: format!("only a comment may follow `---` on its line, not {text:?}"),
            instead: Some("put it on the next line".to_owned()),
            ..self.blank(&Value::Null)
        });
    }

    fn check_unread(&mut self, unread: Option<Position>) {
        self.findings.extend(unread.map(|position| Finding {
            position: Some(position),
            rule: "yaml".to_owned(),
            message: "what follows the end marker `...` is not read".to_owned(),
            instead: Some("start the next document with `---`".to_owned()),
            ..self.blank(&Value::Null)
        }));
    }

    /// Repeated keys matter in our kinds alone; a document of another kind is not ours to judge.
    fn check_repeats(&mut self, node: &Node, value: &Value, catalogue: &Catalogue) {
        if items_of(value).is_none() && matches!(identify(value, catalogue), Identity::Foreign(_)) {
            return;
        }
        for (path, second, first) in node.repeated_keys() {
            let rule = Rule::named("duplicate key");
            let message = format!("the key is already given on line {}", first.line);
            let problem = RuleViolation::new(&path, rule, message);
            let finding = Finding {
                position: Some(second),
                field: problem.path.to_string(),
                rule: problem.rule.to_string(),
                keyword: problem.rule.keyword,
                message: problem.message,
                instead: Some("remove one of the two".to_owned()),
                ..self.blank(value)
            };
            self.findings.push(finding);
        }
    }

    fn hand_over(mut self, report: &mut Report) {
        self.findings.sort_by(|left, right| {
            let key = |finding: &Finding| (finding.position, finding.field.clone());
            key(left).cmp(&key(right))
        });
        let extra = self.findings.len().saturating_sub(FINDINGS_PER_DOCUMENT_MAX);
        self.findings.truncate(FINDINGS_PER_DOCUMENT_MAX);
        report.findings_not_listed += extra;
        report.findings.append(&mut self.findings);
    }
}

const UNCHECKED: &str = "CEL rules are only checked once the other findings of an object are gone";

/// An author who wrote `no` does not know of a boolean; the finding says how YAML reads it.
fn name_yaml_word(problem: &mut RuleViolation, written: &str) {
    let read = problem.path.last_name().unwrap_or_default();
    if problem.spot == Spot::Key && written != read {
        problem.message = format!("{written} unquoted is read as {read}; {}", problem.message);
        problem.instead = Some(format!("\"{written}\""));
    }
    if problem.spot == Spot::Key || problem.rule.keyword != "type" {
        return;
    }
    let value = problem.message.split(' ').next().unwrap_or_default();
    if !written.is_empty() && value != written && problem.message.contains(" is a") {
        let reading = problem.message.replacen(" is a", ", a", 1);
        problem.message = format!("{written} unquoted is read as {reading}");
    }
    if problem.instead.as_deref().is_some_and(|instead| instead.starts_with('"')) {
        problem.instead = Some(format!("\"{written}\""));
    }
}

/// The object, or those of a list of objects, each with the path at which it stands.
pub(crate) fn unpacked(value: &Value) -> Vec<(FieldPath, Cow<'_, Value>)> {
    let mut objects = Vec::new();
    unpack(Cow::Borrowed(value), &FieldPath::root(), 0, &mut objects);
    objects
}

fn unpack<'v>(
    value: Cow<'v, Value>,
    path: &FieldPath,
    depth: usize,
    objects: &mut Vec<(FieldPath, Cow<'v, Value>)>,
) {
    let Some(items) = items_of(&value).filter(|_| depth < LIST_DEPTH_MAX) else {
        objects.push((path.clone(), value));
        return;
    };
    let path = path.field("items");
    for (place, item) in items.iter().enumerate() {
        let item = Cow::Owned(with_kind_of_list(item, &value));
        unpack(item, &path.index(place), depth + 1, objects);
    }
}

/// The items of a `List` or of a kind that ends in `List`.
fn items_of(value: &Value) -> Option<&Vec<Value>> {
    let kind = value.get("kind")?.as_str()?;
    value.get("items").and_then(Value::as_array).filter(|_| kind.ends_with("List"))
}

/// An item of a `NodePoolList` may leave out what the list already says.
fn with_kind_of_list(item: &Value, list: &Value) -> Value {
    let mut item = item.clone();
    let list_kind = list.get("kind").and_then(Value::as_str).unwrap_or_default();
    let kind = list_kind.strip_suffix("List").filter(|kind| !kind.is_empty());
    let named = item.get("kind").is_some() || item.get("apiVersion").is_some();
    if let (Some(fields), Some(kind), false) = (item.as_object_mut(), kind, named) {
        fields.insert("kind".to_owned(), Value::String(kind.to_owned()));
        let version = list.get("apiVersion").cloned();
        fields.extend(version.map(|version| ("apiVersion".to_owned(), version)));
    }
    item
}

/// The kind a document that cannot be read seems to have.
fn guessed_kind(text: &str) -> Option<String> {
    let kind = text.lines().find_map(|line| line.strip_prefix("kind:"))?.trim();
    let word = !kind.is_empty() && kind.chars().all(char::is_alphanumeric);
    word.then(|| kind.to_owned())
}
