//! Which pods, or namespaces, a selector means.
//!
//! ```text
//!  LabelSelector (words) ──compile──► Selector (ids) ──matches──► LabelSet (ids)
//!     + matchLabelKeys of the pod        │
//!                                        └─ problem(): why it can never match
//! ```

mod compiled;
mod label_set;
mod namespaces;

pub use compiled::{Selector, SelectorProblem};
pub use label_set::LabelSet;
pub use namespaces::{Namespace, TermNamespaces};

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A label selector as it stands in the API. An absent selector is `None` around it: it matches
/// nothing, while an empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LabelSelector {
    /// Labels that must have exactly these values.
    pub match_labels: BTreeMap<String, String>,
    /// Further expressions; all must hold.
    pub match_expressions: Vec<SelectorExpression>,
}

/// One expression of a selector.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SelectorExpression {
    /// The label key.
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`; kept as text because a wrong word does not make
    /// an object unreadable, it makes the selector match nothing.
    pub operator: String,
    /// The values.
    pub values: Vec<String>,
}

impl LabelSelector {
    /// The selector with the pod's own values of `match_label_keys` added; keys that the pod does
    /// not have are left out.
    #[must_use]
    pub fn with_match_label_keys<'a>(
        &self,
        match_label_keys: impl IntoIterator<Item = &'a str>,
        pod_labels: &BTreeMap<String, String>,
    ) -> Self {
        let mut merged = self.clone();
        for key in match_label_keys {
            if let Some(value) = pod_labels.get(key) {
                merged.match_expressions.push(SelectorExpression {
                    key: key.to_owned(),
                    operator: "In".to_owned(),
                    values: vec![value.clone()],
                });
            }
        }
        merged
    }
}

/// `app=web, tier in (a, b)`: as kubectl writes selectors, with blanks.
impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = self.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
        let expressions = self.match_expressions.iter().map(|it| {
            let values = it.values.join(", ");
            match (it.operator.as_str(), it.values.len()) {
                ("In", 1) => format!("{}={values}", it.key),
                ("In", _) => format!("{} in ({values})", it.key),
                ("NotIn", _) => format!("{} not in ({values})", it.key),
                ("Exists", _) => it.key.clone(),
                (operator, _) => format!("{} {operator}", it.key),
            }
        });
        let all: Vec<String> = labels.chain(expressions).collect();
        if all.is_empty() { f.write_str("any labels") } else { f.write_str(&all.join(", ")) }
    }
}
