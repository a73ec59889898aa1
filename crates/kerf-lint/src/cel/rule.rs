//! One compiled `x-kubernetes-validations` entry.

use kube_cel::cel::{Context, Program, Value as CelValue};
use serde_json::Value;

use crate::field_path::FieldPath;

/// A rule ready to run.
#[derive(Debug)]
pub(crate) struct CelRule {
    pub text: String,
    pub field_path: FieldPath,
    pub optional_old_self: bool,
    pub program: Result<Program, String>,
    uses_old_self: bool,
    pub fixed_message: Option<String>,
    message_program: Option<Program>,
}

impl CelRule {
    /// Compiles the entries of a schema node.
    pub(crate) fn compile_all(entries: Option<&Value>) -> Vec<Self> {
        let entries = entries.and_then(Value::as_array);
        entries.into_iter().flatten().filter_map(Self::compile).collect()
    }

    fn compile(entry: &Value) -> Option<Self> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).filter(|t| !t.is_empty());
        let rule = text("rule").filter(|rule| !rule.trim().is_empty())?;
        let program = Program::compile(rule).map_err(|error| error.to_string());
        let uses_old_self =
            program.as_ref().is_ok_and(|program| program.references().has_variable("oldSelf"));
        Some(Self {
            text: rule.to_owned(),
            field_path: FieldPath::parse(text("fieldPath").unwrap_or_default()),
            optional_old_self: entry.get("optionalOldSelf") == Some(&Value::Bool(true)),
            program,
            uses_old_self,
            fixed_message: text("message").map(|message| message.trim().to_owned()),
            message_program: text("messageExpression").and_then(|e| Program::compile(e).ok()),
        })
    }

    /// A transition rule: it compares with the stored object, and on create there is none.
    pub(crate) fn needs_old_value(&self) -> bool {
        self.uses_old_self && !self.optional_old_self
    }

    /// The message expression if it yields one line of text, else the message, else the rule.
    pub(crate) fn message(&self, scope: &Context<'_>) -> String {
        let computed = self.message_program.as_ref().and_then(|p| p.execute(scope).ok());
        if let Some(CelValue::String(text)) = computed {
            let text = text.trim();
            if !text.is_empty() && !text.contains('\n') {
                return text.to_owned();
            }
        }
        self.fixed_message.clone().unwrap_or_else(|| format!("failed rule: {}", self.text))
    }
}
