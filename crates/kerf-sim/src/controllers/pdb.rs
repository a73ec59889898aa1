//! PodDisruptionBudgets, with how many pods they let go right now.

use std::sync::Arc;

use kerf_engine::event::{Failure, Object, Outcome};
use kerf_engine::observed::{Name, NamespacedName, PodDisruptionBudget, PodKey};
use kerf_model::selector::LabelSelector;

use super::{Keeper, Workloads};
use crate::matching::selects;
use crate::scenario::{PdbRule, Share, Workload};
use crate::store::{Precondition, Store};

pub(super) fn create(workload: &Workload, store: &mut Store) {
    let Some(rule) = workload.pdb else { return };
    let app = workload.shape.labels.get_key_value(crate::scenario::APP_LABEL).into_iter();
    let match_labels = app.map(|(key, value)| (key.clone(), value.clone())).collect();
    let pdb = PodDisruptionBudget {
        meta: store.new_meta(workload.name.clone()),
        namespace: Arc::from(workload.shape.namespace.as_str()),
        selector: LabelSelector { match_labels, match_expressions: Vec::new() },
        disruptions_allowed: 0,
        is_absolute: matches!(
            rule,
            PdbRule::MaxUnavailable(Share::Count(0) | Share::Percent(0))
                | PdbRule::MinAvailable(Share::Percent(100))
        ),
        frees_unready: false,
    };
    store.put(Object::PodDisruptionBudget(pdb));
}

/// Writes down how many pods may go now, if that changed.
pub(super) fn update(keeper: &Keeper, store: &mut Store) {
    let Some(rule) = keeper.workload.pdb else { return };
    let namespace: Name = Arc::from(keeper.workload.shape.namespace.as_str());
    let key = NamespacedName { namespace, name: keeper.workload.name.clone() };
    let Some(pdb) = store.pdbs.get(&key) else { return };
    let healthy = u32::try_from(keeper.ready.len()).unwrap_or(u32::MAX);
    let needed = match rule {
        PdbRule::MinAvailable(share) => share.of(keeper.wanted),
        PdbRule::MaxUnavailable(share) => keeper.wanted.saturating_sub(share.of(keeper.wanted)),
    };
    let allowed = healthy.saturating_sub(needed);
    if pdb.disruptions_allowed != allowed {
        let mut pdb = PodDisruptionBudget::clone(pdb);
        pdb.disruptions_allowed = allowed;
        store.put(Object::PodDisruptionBudget(pdb));
    }
}

impl Workloads {
    /// Asks a pod to leave, if its budgets let it.
    pub(crate) fn evict(&mut self, key: &PodKey, uid: &str, store: &mut Store) -> Outcome {
        let Some(pod) = store.pods.get(key).filter(|pod| *pod.meta.uid == *uid) else {
            return Outcome::NotFound;
        };
        if pod.meta.is_deleting() {
            return Outcome::Done;
        }
        let grace = pod.termination_grace.unwrap_or_default();
        let pdbs: Vec<_> = store
            .pdbs
            .values()
            .filter(|pdb| pdb.namespace == key.namespace)
            .filter(|pdb| selects(Some(&pdb.selector), &pod.shape.labels))
            .collect();
        // A pod that runs nowhere yet, or has ended, is nobody's loss.
        let is_free = pod.node().is_none() || pod.has_ended();
        let refusal = match pdbs.as_slice() {
            _ if is_free => None,
            [] => None,
            [pdb] if !pod.is_ready && pdb.frees_unready => None,
            [pdb] if pdb.disruptions_allowed > 0 => None,
            [pdb] => Some(format!(
                "cannot evict pod as it would violate the pod's disruption budget {}",
                pdb.meta.name
            )),
            _ => Some("this pod has more than one PodDisruptionBudget".to_owned()),
        };
        if let Some(message) = refusal {
            return Outcome::Failed(Failure::Refused { message });
        }
        let outcome = store.delete_pod(key, Precondition::Uid(uid), grace);
        if let Some(index) = self.owner.get(key).copied() {
            // The budget is spent before anybody else can ask.
            self.keepers[index].note(key, store);
            update(&self.keepers[index], store);
            self.dirty.insert(index);
        }
        outcome
    }
}
