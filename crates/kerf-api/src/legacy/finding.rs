//! What is wrong with a legacy object, or what its owner should know about its conversion.

use std::fmt;

/// Which legacy kind an object is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `karpenter.sh/v1alpha5`
    Provisioner,
    /// `karpenter.k8s.aws/v1alpha1`
    AWSNodeTemplate,
    /// `karpenter.sh/v1beta1`
    NodePool,
    /// `karpenter.sh/v1beta1`
    NodeClaim,
    /// `karpenter.k8s.aws/v1beta1`
    EC2NodeClass,
}

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The object converts, but something will be different from before.
    Warning,
    /// The object is not converted.
    Error,
}

/// One finding, with the field it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LegacyFinding {
    /// The kind of the object.
    pub kind: Kind,
    /// The name of the object.
    pub name: String,
    /// The path of the field, for example `spec.taints[1].effect`.
    pub field: String,
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl LegacyFinding {
    /// Whether this keeps the object from being converted.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Provisioner => "Provisioner",
            Self::AWSNodeTemplate => "AWSNodeTemplate",
            Self::NodePool => "NodePool",
            Self::NodeClaim => "NodeClaim",
            Self::EC2NodeClass => "EC2NodeClass",
        })
    }
}

impl fmt::Display for LegacyFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}: {}: {}", self.kind, self.name, self.field, self.message)
    }
}

/// Collects the problems of one object.
pub(crate) struct Findings {
    kind: Kind,
    name: String,
    problems: Vec<LegacyFinding>,
}

impl Findings {
    /// No findings yet about the object.
    pub(crate) fn about(kind: Kind, name: &str) -> Self {
        Self { kind, name: name.to_owned(), problems: Vec::new() }
    }

    /// Something that keeps the object from being converted.
    pub(crate) fn error(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.add(Severity::Error, field.into(), message.into());
    }

    /// Something that will be different from before.
    pub(crate) fn warning(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.add(Severity::Warning, field.into(), message.into());
    }

    /// Whether nothing so far keeps the object from being converted.
    pub(crate) fn allow_conversion(&self) -> bool {
        !self.problems.iter().any(LegacyFinding::is_error)
    }

    /// Adds what was found elsewhere about the same object.
    pub(crate) fn append(&mut self, other: Self) {
        self.problems.extend(other.problems);
    }

    /// Everything found, in the order of the fields as they were looked at.
    pub(crate) fn into_problems(self) -> Vec<LegacyFinding> {
        self.problems
    }

    fn add(&mut self, severity: Severity, field: String, message: String) {
        let (kind, name) = (self.kind, self.name.clone());
        self.problems.push(LegacyFinding { kind, name, field, severity, message });
    }
}
