//! Which pods a rule of another pod means, in words.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::pod::{PodAffinityTerm, PodShape};
use kerf_model::selector::{LabelSelector, SelectorExpression};
use kerf_scheduler::PlacementProblem;

/// The pods a rule means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) namespaces: BTreeSet<String>,
    /// None matches nothing.
    pub(crate) selector: Option<LabelSelector>,
}

impl Selection {
    /// The pods an affinity term of a pod in `own_namespace` means.
    pub(crate) fn of_term(
        term: &PodAffinityTerm,
        own_namespace: &str,
        problem: &PlacementProblem,
    ) -> Self {
        let said = &term.namespaces;
        let mut namespaces: BTreeSet<String> = said.names.iter().cloned().collect();
        if said.names.is_empty() && said.selector.is_none() {
            namespaces.insert(own_namespace.to_owned());
        }
        if let Some(selector) = &said.selector {
            let meant = problem.namespaces.iter().filter(|(_, labels)| selects(selector, labels));
            namespaces.extend(meant.map(|(name, _)| name.clone()));
        }
        Self { namespaces, selector: term.selector.clone() }
    }

    /// Whether the pod is meant.
    pub(crate) fn means(&self, shape: &PodShape) -> bool {
        self.namespaces.contains(&shape.namespace)
            && self.selector.as_ref().is_some_and(|selector| selects(selector, &shape.labels))
    }
}

fn selects(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    selector.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
        && selector.match_expressions.iter().all(|expression| holds(expression, labels))
}

fn holds(expression: &SelectorExpression, labels: &BTreeMap<String, String>) -> bool {
    let SelectorExpression { key, operator, values } = expression;
    let value = labels.get(key);
    let listed = value.is_some_and(|value| values.contains(value));
    match operator.as_str() {
        "In" => listed,
        "NotIn" => !listed,
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        _ => false,
    }
}
