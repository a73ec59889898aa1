//! Where in an object a value sits: `spec.template.spec.requirements[0].key`.

use std::fmt;

/// One step from a value to a value inside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A field the schema names.
    Field(String),
    /// A key the author chose, in a map such as labels.
    Key(String),
    /// A place in a list, from zero.
    Index(usize),
}

/// The way from the root of an object to a value in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FieldPath(Vec<Step>);

impl FieldPath {
    /// The object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The steps from the root, outermost first.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// This path and then a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        self.and(Step::Field(name.to_owned()))
    }

    /// This path and then a map key.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.and(Step::Key(key.to_owned()))
    }

    /// This path and then a list item.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.and(Step::Index(index))
    }

    /// This path continued by another.
    #[must_use]
    pub fn join(&self, rest: &FieldPath) -> Self {
        let mut steps = self.0.clone();
        steps.extend(rest.0.iter().cloned());
        Self(steps)
    }

    /// The way from the value at `prefix` to this one, if it is inside it.
    pub fn below(&self, prefix: &FieldPath) -> Option<Self> {
        self.0.strip_prefix(prefix.steps()).map(|steps| Self(steps.to_vec()))
    }

    /// The last field name or key, if the path does not end in a list place.
    pub fn last_name(&self) -> Option<&str> {
        match self.0.last()? {
            Step::Field(name) | Step::Key(name) => Some(name),
            Step::Index(_) => None,
        }
    }

    /// Reads the printed form back: `a.b[0]['c.d']` and `a.b[c.d]` both name keys in brackets.
    ///
    /// Total: text that is no path becomes one field of that name, so a caller never loses a place.
    pub fn parse(text: &str) -> Self {
        let mut steps = Vec::new();
        let mut rest = text.trim_start_matches('.');
        while !rest.is_empty() {
            let (step, after) = next_step(rest);
            steps.extend(step);
            rest = after.strip_prefix('.').unwrap_or(after);
        }
        Self(steps)
    }

    fn and(&self, step: Step) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend(self.0.iter().cloned());
        steps.push(step);
        Self(steps)
    }
}

fn next_step(text: &str) -> (Option<Step>, &str) {
    if let Some(inside) = text.strip_prefix('[') {
        let (key, after) = inside.split_once(']').unwrap_or((inside, ""));
        let step = match key.parse() {
            Ok(index) => Step::Index(index),
            Err(_) => Step::Key(key.trim_matches(['\'', '"']).to_owned()),
        };
        return (Some(step), after);
    }
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    ((!name.is_empty()).then(|| Step::Field(name.to_owned())), after)
}

/// A key that reads well after a dot, as an API server writes it in `spec.limits.cpu`.
fn is_word(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

impl fmt::Display for FieldPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if place == 0 => write!(out, "{name}")?,
                Step::Field(name) => write!(out, ".{name}")?,
                Step::Key(key) if is_word(key) => write!(out, ".{key}")?,
                Step::Key(key) => write!(out, "[{key}]")?,
                Step::Index(index) => write!(out, "[{index}]")?,
            }
        }
        Ok(())
    }
}
