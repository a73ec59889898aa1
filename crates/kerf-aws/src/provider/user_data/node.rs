//! The labels and taints a node has when it joins.

use std::collections::BTreeMap;

use kerf_model::labels::domain;
use kerf_model::labels::well_known::{CAPACITY_TYPE, DO_NOT_SYNC_TAINTS};
use kerf_model::taint::{Taint, merge_taints, unregistered};

/// Domains in which a kubelet may not set labels of its node, their subdomains included; the
/// API server would refuse the node. They are set once the node has registered.
const FORBIDDEN_DOMAINS: [&str; 2] = ["kubernetes.io", "k8s.io"];

/// The labels the kubelet of a claim's node is to set.
pub(crate) fn labels(
    claim: &BTreeMap<String, String>,
    capacity_type: &str,
) -> BTreeMap<String, String> {
    let mut labels = claim.clone();
    labels.insert(CAPACITY_TYPE.to_owned(), capacity_type.to_owned());
    // The kubelet brings all taints; nobody must put back those that were removed since.
    labels.insert(DO_NOT_SYNC_TAINTS.to_owned(), "true".to_owned());
    labels.retain(|key, _| !is_forbidden(domain(key)));
    labels
}

/// The taints of a claim's node, with the one that keeps pods away until it has registered.
pub(crate) fn taints(taints: &[Taint], startup: &[Taint]) -> Vec<Taint> {
    let mut all = taints.to_vec();
    merge_taints(&mut all, startup);
    merge_taints(&mut all, &[unregistered()]);
    all
}

fn is_forbidden(domain: &str) -> bool {
    FORBIDDEN_DOMAINS.iter().any(|forbidden| {
        domain.strip_suffix(forbidden).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use kerf_model::taint::TaintEffect::{NoExecute, NoSchedule};

    use super::*;

    #[test]
    fn labels_the_kubelet_may_not_set_are_left_out() {
        let claim = [
            ("team", "a"),
            ("karpenter.k8s.aws/instance-family", "m5"),
            ("kubernetes.io/arch", "amd64"),
            ("topology.kubernetes.io/zone", "eu-west-1a"),
            ("example.node-restriction.kubernetes.io/x", "y"),
            ("k8s.io/x", "y"),
            ("notk8s.io/x", "y"),
            (CAPACITY_TYPE, "on-demand"),
        ];
        let claim = claim.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let labels: Vec<String> =
            labels(&claim, "spot").iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            labels,
            [
                "karpenter.k8s.aws/instance-family=m5",
                "karpenter.sh/capacity-type=spot",
                "karpenter.sh/do-not-sync-taints=true",
                "notk8s.io/x=y",
                "team=a",
            ]
        );
    }

    #[test]
    fn a_node_is_unregistered_once_however_often_it_is_said() {
        let own = Taint::new("a", "1", NoSchedule);
        let startup = Taint::new("b", "", NoExecute);
        let all = [own, startup, unregistered()];
        assert_eq!(taints(&all[..1], &all[1..2]), all);
        assert_eq!(taints(&all[..2], &all[2..]), all);
    }
}
