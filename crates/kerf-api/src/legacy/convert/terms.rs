//! One map of a legacy selector to the list of terms it stands for.
//!
//! A value could list alternatives (`a,b`); a term's value cannot, so each combination of
//! alternatives becomes a term.

use std::collections::BTreeMap;

use crate::ec2_node_class::{SecurityGroupSelectorTerm, SubnetSelectorTerm};
use crate::legacy::finding::Findings;
use crate::legacy::selector::{Selector, SelectorMap};

/// Most terms of one list in an EC2NodeClass.
pub(super) const TERMS_MAX: usize = 30;

/// The terms that select the same subnets.
pub(super) fn subnets(
    selector: &SelectorMap,
    field: &str,
    findings: &mut Findings,
) -> Vec<SubnetSelectorTerm> {
    terms(
        selector,
        |id| SubnetSelectorTerm { id: Some(id), tags: None },
        |tags| SubnetSelectorTerm { id: None, tags: Some(tags) },
        field,
        findings,
    )
}

/// The terms that select the same security groups.
pub(super) fn security_groups(
    selector: &SelectorMap,
    field: &str,
    findings: &mut Findings,
) -> Vec<SecurityGroupSelectorTerm> {
    terms(
        selector,
        |id| SecurityGroupSelectorTerm { id: Some(id), ..Default::default() },
        |tags| SecurityGroupSelectorTerm { tags: Some(tags), ..Default::default() },
        field,
        findings,
    )
}

fn terms<T>(
    selector: &SelectorMap,
    of_id: impl Fn(String) -> T,
    of_tags: impl Fn(BTreeMap<String, String>) -> T,
    field: &str,
    findings: &mut Findings,
) -> Vec<T> {
    match Selector::of(selector) {
        Selector::Ids(ids) => {
            check_count(ids.len(), field, findings);
            ids.into_iter().map(of_id).collect()
        }
        Selector::Tags(alternatives) => {
            combinations(&alternatives, 1, field, findings).into_iter().map(of_tags).collect()
        }
    }
}

/// Every choice of one value per key, if they are few enough to be `factor` terms each.
pub(super) fn combinations(
    alternatives: &BTreeMap<String, Vec<String>>,
    factor: usize,
    field: &str,
    findings: &mut Findings,
) -> Vec<BTreeMap<String, String>> {
    let count = alternatives.values().map(Vec::len).fold(factor, usize::saturating_mul);
    if !check_count(count, field, findings) {
        return Vec::new();
    }
    let mut choices = vec![BTreeMap::new()];
    for (key, values) in alternatives {
        choices = choices
            .into_iter()
            .flat_map(|choice| {
                values.iter().map(move |value| {
                    let mut longer = choice.clone();
                    longer.insert(key.clone(), value.clone());
                    longer
                })
            })
            .collect();
    }
    choices
}

fn check_count(count: usize, field: &str, findings: &mut Findings) -> bool {
    if count > TERMS_MAX {
        findings.error(
            field,
            format!(
                "stands for {count} selector terms, but an EC2NodeClass may have {TERMS_MAX}; \
                 give what is selected a tag in common and select by that"
            ),
        );
    }
    count <= TERMS_MAX
}
