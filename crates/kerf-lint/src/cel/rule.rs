//! One `x-kubernetes-validations` entry.

use std::sync::OnceLock;

use kube_cel::cel::{Context, Program, Value as CelValue};
use serde_json::Value;

use crate::field_path::FieldPath;

/// The variable that holds the stored object.
const OLD_SELF: &str = "oldSelf";

/// A rule, compiled when it is first run: of the rules of a CRD an object meets few.
#[derive(Debug)]
pub(crate) struct CelRule {
    pub text: String,
    pub field_path: FieldPath,
    pub optional_old_self: bool,
    program: OnceLock<Result<Program, String>>,
    pub fixed_message: Option<String>,
    message_expression: Option<String>,
}

impl CelRule {
    /// Reads the entries of a schema node.
    pub(crate) fn read_all(entries: Option<&Value>) -> Vec<Self> {
        let entries = entries.and_then(Value::as_array);
        entries.into_iter().flatten().filter_map(Self::read).collect()
    }

    fn read(entry: &Value) -> Option<Self> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).filter(|t| !t.is_empty());
        let rule = text("rule").filter(|rule| !rule.trim().is_empty())?;
        Some(Self {
            text: rule.to_owned(),
            field_path: FieldPath::parse(text("fieldPath").unwrap_or_default()),
            optional_old_self: entry.get("optionalOldSelf") == Some(&Value::Bool(true)),
            program: OnceLock::new(),
            fixed_message: text("message").map(|message| message.trim().to_owned()),
            message_expression: text("messageExpression").map(str::to_owned),
        })
    }

    /// The compiled rule, or why it does not compile.
    pub(crate) fn program(&self) -> Result<&Program, &str> {
        let compile = || Program::compile(&self.text).map_err(|error| error.to_string());
        self.program.get_or_init(compile).as_ref().map_err(String::as_str)
    }

    /// A transition rule: it compares with the stored object, and on create there is none.
    pub(crate) fn needs_old_value(&self) -> bool {
        !self.optional_old_self && self.uses_old_self()
    }

    /// Compiling tells; a rule that does not even hold the word need not be compiled for it.
    fn uses_old_self(&self) -> bool {
        self.text.contains(OLD_SELF)
            && self.program().is_ok_and(|program| program.references().has_variable(OLD_SELF))
    }

    /// The message expression if it yields one line of text, else the message, else the rule.
    pub(crate) fn message(&self, scope: &Context<'_>) -> String {
        let expression = self.message_expression.as_ref();
        let program = expression.and_then(|expression| Program::compile(expression).ok());
        let computed = program.and_then(|program| program.execute(scope).ok());
        if let Some(CelValue::String(text)) = computed {
            let text = text.trim();
            if !text.is_empty() && !text.contains('\n') {
                return text.to_owned();
            }
        }
        self.fixed_message.clone().unwrap_or_else(|| format!("failed rule: {}", self.text))
    }
}
