//! What is wrong with one value, before it is known where in which file the value stands.

use std::fmt;

use crate::field_path::FieldPath;
use crate::report::Severity;

/// The rule a value broke: a schema keyword, a CEL expression, or a rule of the format itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// `enum`, `pattern`, `cel`, `unknown field`, `yaml` and so on.
    pub keyword: &'static str,
    /// The bound or the expression; empty when the keyword says everything.
    pub bound: String,
}

impl Rule {
    /// A rule with a bound, such as `maxLength 63`.
    pub fn new(keyword: &'static str, bound: impl fmt::Display) -> Self {
        Self { keyword, bound: bound.to_string() }
    }

    /// A rule whose name says everything, such as `required`.
    pub fn named(keyword: &'static str) -> Self {
        Self { keyword, bound: String::new() }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bound.is_empty() {
            return out.write_str(self.keyword);
        }
        write!(out, "{} {}", self.keyword, self.bound)
    }
}

/// Which half of `key: value` a problem points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    /// The key is wrong: unknown, repeated, badly formed.
    Key,
    /// The value is wrong, or something is missing inside it.
    Value,
}

/// One reason an API server would refuse an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleViolation {
    /// The field.
    pub path: FieldPath,
    /// Which half of the field.
    pub spot: Spot,
    /// The rule it broke.
    pub rule: Rule,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to write instead, where that can be known.
    pub instead: Option<String>,
    /// How much it weighs.
    pub severity: Severity,
    /// Whether an API server leaves CEL rules unevaluated because of this problem.
    pub blocks_rules: bool,
}

impl RuleViolation {
    /// A problem with a value, after which CEL rules still run.
    pub fn new(path: &FieldPath, rule: Rule, message: impl Into<String>) -> Self {
        Self {
            path: path.clone(),
            spot: Spot::Value,
            rule,
            message: message.into(),
            instead: None,
            severity: Severity::Error,
            blocks_rules: false,
        }
    }

    /// The same problem, pointing at the key.
    #[must_use]
    pub fn at_key(mut self) -> Self {
        self.spot = Spot::Key;
        self
    }

    /// The same problem, with what to write instead.
    #[must_use]
    pub fn instead(mut self, instead: impl Into<Option<String>>) -> Self {
        self.instead = instead.into();
        self
    }

    /// The same problem as a warning: it is taken, and most likely not what was meant.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same problem, after which CEL rules do not run.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        self.blocks_rules = true;
        self
    }
}
