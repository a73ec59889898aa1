//! What happens when an action is carried out, and what happens by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::action::{
    Action, ActionKind, Executor, Launch, MetadataPatch, NewClaim, NodePatch, PoolEdit, RebootOrder,
};
use kerf_engine::condition::Conditions;
use kerf_engine::event::{Event, Failure, Instance, Key, Object, Outcome};
use kerf_engine::observed::{
    Claim, ClaimStatus, Name, NodeClass, NodeClassStatus, PodKey, PoolStatus, Revision,
};
use kerf_engine::solve::SolveRequest;
use kerf_engine::time::{Span, Time};
use kerf_engine::zonal_shift::{CopyStep, ShiftStateWrite};
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, TERMINATION_FINALIZER, ZONE};
use kerf_model::node_spec::NodeClassRef;
use kerf_scheduler::CancelFlag;

use super::Cluster;
use super::objects::{booting_node, meta, resources};

/// How long an instance takes until its node shows up, and again until it is ready.
const BOOT: Span = Span::from_seconds(10);

impl Cluster {
    /// Carries an action out and lets the engine know what came of it.
    pub(crate) fn carry_out(&mut self, action: Action) {
        if let Some(outcome) = self.effect(&action.kind) {
            self.undelivered.push_back(Event::Finished { action: action.id, outcome });
        }
    }

    /// What an action does, without telling what came of it.
    pub(crate) fn effect(&mut self, kind: &ActionKind) -> Option<Outcome> {
        if (self.ignores)(kind) {
            return None;
        }
        if let Some(failure) = (self.refuses)(kind) {
            return Some(Outcome::Failed(failure));
        }
        Some(kind.execute(self))
    }

    /// A write that must not overwrite what it has not seen.
    fn changed(&mut self, key: &Key, at: Revision, change: impl FnOnce(&mut Object)) -> Outcome {
        let Some(object) = self.objects.get(key) else { return Outcome::NotFound };
        if object.meta().revision != at {
            return Outcome::Failed(Failure::Conflict);
        }
        self.stored(key, change)
    }

    fn stored(&mut self, key: &Key, change: impl FnOnce(&mut Object)) -> Outcome {
        let Some(object) = self.objects.get(key) else { return Outcome::NotFound };
        let mut object = object.clone();
        change(&mut object);
        let is_over = object.meta().is_deleting() && object.finalizers().is_empty();
        let object = self.store(object);
        if is_over {
            self.remove(key);
        }
        Outcome::Stored(Box::new(object))
    }

    fn ask_deletion(&mut self, key: &Key) -> Outcome {
        if !self.objects.contains_key(key) {
            return Outcome::NotFound;
        }
        delete(self, key);
        Outcome::Done
    }

    fn end_pod(&mut self, key: &PodKey, grace: Span) -> Outcome {
        let end = self.now + grace;
        let key = Key::Pod(key.clone());
        if !self.objects.contains_key(&key) {
            return Outcome::NotFound;
        }
        self.edit(&key, |object| {
            let meta = object.meta_mut();
            meta.deleting_since = Some(meta.deleting_since.map_or(end, |known| known.min(end)));
        });
        Outcome::Done
    }

    /// An instance is gone; the cloud's controller asks for the deletion of its node.
    fn vanish(&mut self, uid: &str) {
        let Some(instance) = self.instances.remove(uid) else { return };
        let nodes = self.nodes().into_iter();
        let nodes = nodes.filter(|node| node.provider_id.as_ref() == Some(&instance.provider_id));
        let keys: Vec<Key> = nodes.map(|node| Key::Node(node.meta.name.clone())).collect();
        keys.iter().for_each(|key| delete(self, key));
    }

    /// When the next thing happens by itself.
    pub(crate) fn next_change(&self) -> Option<Time> {
        let boots = self.booting.values().copied().filter(|_| self.boots);
        let ends = self.pods().into_iter().filter(|pod| !self.immortal.contains(&*pod.key.name));
        boots.chain(ends.filter_map(|pod| pod.meta.deleting_since)).min()
    }

    /// Lets everything happen that is due: nodes boot, pods end.
    pub(crate) fn pass_time(&mut self) {
        let now = self.now;
        let ended: Vec<Key> = (self.pods().into_iter())
            .filter(|pod| !self.immortal.contains(&*pod.key.name))
            .filter(|pod| pod.meta.deleting_since.is_some_and(|end| end <= now))
            .map(|pod| Key::Pod(pod.key.clone()))
            .collect();
        ended.iter().for_each(|key| self.remove(key));
        let due = self.booting.iter().filter(|(_, at)| self.boots && **at <= now);
        let due: Vec<String> = due.map(|(uid, _)| uid.clone()).collect();
        due.iter().for_each(|uid| self.boot(uid));
    }

    fn boot(&mut self, uid: &str) {
        let Some(instance) = self.instances.get(uid).cloned() else { return };
        let claims = self.objects.values().filter_map(|object| match object {
            Object::Claim(claim) => Some(claim),
            _ => None,
        });
        let claim = claims.into_iter().find(|claim| *claim.meta.uid == *uid).cloned();
        let Some(claim) = claim else {
            self.booting.remove(uid);
            return;
        };
        let mut node = booting_node(&claim, &instance.provider_id, self.now);
        node.capacity.clone_from(&instance.capacity);
        node.allocatable.clone_from(&instance.allocatable);
        let key = Key::Node(node.meta.name.clone());
        if self.objects.contains_key(&key) {
            self.booting.remove(uid);
            self.edit(&key, |object| match object {
                Object::Node(node) => node.is_ready = true,
                _ => unreachable!("a node's key"),
            });
        } else {
            self.booting.insert(uid.to_owned(), self.now + BOOT);
            self.store(Object::Node(node));
        }
    }
}

impl Executor<'_> for Cluster {
    type Answer = Outcome;

    fn create_claim(&mut self, spec: &NewClaim) -> Outcome {
        let key = Key::Claim(spec.spec.name.as_str().into());
        if let Some(object) = self.objects.get(&key) {
            return Outcome::Stored(Box::new(object.clone()));
        }
        let mut meta = meta(&spec.spec.name);
        meta.created_at = Time::from_seconds(self.now.seconds());
        let claim = Claim {
            meta,
            spec: spec.spec.clone(),
            finalizers: vec![TERMINATION_FINALIZER.to_owned()],
            owner_pool: Some(spec.pool.1.clone()),
            status: ClaimStatus::default(),
        };
        Outcome::Stored(Box::new(self.store(Object::Claim(claim))))
    }

    fn patch_claim(&mut self, name: &Name, at: Revision, patch: &MetadataPatch) -> Outcome {
        self.changed(&Key::Claim(name.clone()), at, |object| {
            let Object::Claim(claim) = object else { unreachable!("a claim's key") };
            let Claim { spec, finalizers, .. } = claim;
            patch.apply(&mut spec.labels, &mut spec.annotations, finalizers);
        })
    }

    fn write_claim_status(&mut self, name: &Name, at: Revision, status: &ClaimStatus) -> Outcome {
        self.changed(&Key::Claim(name.clone()), at, |object| {
            let Object::Claim(claim) = object else { unreachable!("a claim's key") };
            claim.status = status.clone();
        })
    }

    fn patch_node(&mut self, name: &Name, _uid: &str, patch: &NodePatch) -> Outcome {
        self.stored(&Key::Node(name.clone()), |object| {
            let Object::Node(node) = object else { unreachable!("a node's key") };
            node.labels = patch.labels(std::mem::take(&mut node.labels));
            node.annotations = patch.annotations(std::mem::take(&mut node.annotations));
            node.finalizers = patch.finalizers(std::mem::take(&mut node.finalizers));
            node.taints = patch.taints(std::mem::take(&mut node.taints));
            if let Some((_, uid)) = &patch.owner {
                node.owner_claim = Some(uid.clone());
            }
        })
    }

    fn delete_claim(&mut self, name: &Name, _uid: &str) -> Outcome {
        self.ask_deletion(&Key::Claim(name.clone()))
    }

    fn delete_node(&mut self, name: &Name, _uid: &str) -> Outcome {
        self.ask_deletion(&Key::Node(name.clone()))
    }

    fn evict_pod(&mut self, key: &PodKey, _uid: &str) -> Outcome {
        if self.unevictable.contains(&*key.name) {
            let message = "the disruption budget never allows it".to_owned();
            return Outcome::Failed(Failure::Refused { message });
        }
        let Some(Object::Pod(pod)) = self.objects.get(&Key::Pod(key.clone())) else {
            return Outcome::NotFound;
        };
        let grace = pod.termination_grace.unwrap_or_default();
        self.end_pod(key, grace)
    }

    fn delete_pod(&mut self, pod: &PodKey, _uid: &str, grace_seconds: u64) -> Outcome {
        self.end_pod(pod, Span::from_seconds(grace_seconds))
    }

    fn patch_pool(
        &mut self,
        name: &Name,
        _revision: Revision,
        annotations: &BTreeMap<String, String>,
    ) -> Outcome {
        self.stored(&Key::Pool(name.clone()), |object| {
            let Object::Pool(pool) = object else { unreachable!("a pool's key") };
            pool.annotations.extend(annotations.clone());
        })
    }

    fn write_pool_status(
        &mut self,
        name: &Name,
        _revision: Revision,
        status: &PoolStatus,
    ) -> Outcome {
        self.stored(&Key::Pool(name.clone()), |object| {
            let Object::Pool(pool) = object else { unreachable!("a pool's key") };
            pool.status = status.clone();
        })
    }

    fn launch(&mut self, launch: &Launch) -> Outcome {
        let claim = &launch.claim;
        let stored = self.find_claim(&claim.meta.name);
        let is_safe = stored.is_some_and(|stored| {
            stored.meta.uid == claim.meta.uid
                && stored.finalizers.iter().any(|own| own == TERMINATION_FINALIZER)
        });
        let uid = claim.meta.uid.to_string();
        if let Some(instance) = self.instances.get(&uid) {
            return Outcome::Launched(Arc::new(instance.clone()));
        }
        assert!(
            is_safe || self.made.contains_key(&uid),
            "launched before the finalizer: {stored:?}"
        );
        if let Some(failure) = &self.launch_fails {
            return Outcome::Failed(failure.clone());
        }
        let instance = self.instance_of_type(claim).unwrap_or_else(|| instance_for(claim));
        *self.made.entry(uid.clone()).or_default() += 1;
        self.instances.insert(uid.clone(), instance.clone());
        self.booting.insert(uid, self.now + BOOT);
        Outcome::Launched(Arc::new(instance))
    }

    /// The first request starts the end, the next finds nothing.
    fn terminate(&mut self, claim: &Name, provider_id: Option<&Arc<str>>) -> Outcome {
        let fits = |instance: &Instance| match provider_id {
            Some(id) => instance.provider_id == *id,
            None => instance.claim.as_ref() == Some(claim),
        };
        let Some((uid, instance)) = self.instances.iter_mut().find(|(_, instance)| fits(instance))
        else {
            return Outcome::NotFound;
        };
        let uid = uid.clone();
        self.booting.remove(&uid);
        if instance.is_ending {
            self.vanish(&uid);
            return Outcome::NotFound;
        }
        instance.is_ending = true;
        Outcome::Done
    }

    /// It begins, and the node comes back when a test says so.
    fn reboot(&mut self, _order: &RebootOrder) -> Outcome {
        Outcome::Done
    }

    fn confirm_drained(&mut self, node: &Name) -> Outcome {
        let pods = self.pods().into_iter().filter(|pod| pod.node() == Some(node));
        Outcome::PodsOn(pods.map(|pod| (pod.key.clone(), pod.meta.uid.clone())).collect())
    }

    fn confirm_node_gone(&mut self, node: &Name) -> Outcome {
        match self.objects.get(&Key::Node(node.clone())) {
            Some(node) => Outcome::Stored(Box::new(node.clone())),
            None => Outcome::NotFound,
        }
    }

    fn confirm_orphan(&mut self, claim: Option<&Name>, instance: &Instance) -> Outcome {
        let may_own = |it: &&Object| match (it, claim) {
            (Object::Claim(it), Some(name)) => it.meta.name == *name,
            (Object::Claim(it), None) => {
                it.status.provider_id.as_ref().is_none_or(|id| *id == instance.provider_id)
            }
            _ => false,
        };
        match self.objects.values().find(may_own) {
            Some(claim) => Outcome::Stored(Box::new(claim.clone())),
            None => Outcome::NotFound,
        }
    }

    fn list_instances(&mut self) -> Outcome {
        let ended = self.instances.iter().filter(|(_, instance)| instance.is_ending);
        let ended: Vec<String> = ended.map(|(uid, _)| uid.clone()).collect();
        ended.iter().for_each(|uid| self.vanish(uid));
        Outcome::Instances(self.instances.values().cloned().map(Arc::new).collect())
    }

    fn tag_instance(
        &mut self,
        _claim: &Name,
        provider_id: &str,
        tags: &BTreeMap<String, String>,
    ) -> Outcome {
        self.tags.entry(provider_id.to_owned()).or_default().extend(tags.clone());
        Outcome::Done
    }

    fn resolve_node_class(&mut self, _class: &NodeClass) -> Outcome {
        Outcome::Resolved(Box::new(self.resolved.clone()))
    }

    fn release_node_class(&mut self, _class: &NodeClass) -> Outcome {
        Outcome::Done
    }

    fn patch_node_class(
        &mut self,
        class: &NodeClassRef,
        at: Revision,
        patch: &MetadataPatch,
    ) -> Outcome {
        self.changed(&Key::NodeClass(class.clone()), at, |object| {
            let Object::NodeClass(class) = object else { unreachable!("a class's key") };
            let NodeClass { annotations, finalizers, .. } = class;
            patch.apply_to_unlabelled(annotations, finalizers);
        })
    }

    fn write_node_class_status(
        &mut self,
        class: &NodeClassRef,
        at: Revision,
        status: &NodeClassStatus,
    ) -> Outcome {
        self.changed(&Key::NodeClass(class.clone()), at, |object| {
            let Object::NodeClass(class) = object else { unreachable!("a class's key") };
            class.status = status.clone();
        })
    }

    fn write_overlay_status(
        &mut self,
        name: &Name,
        at: Revision,
        conditions: &Conditions,
    ) -> Outcome {
        self.changed(&Key::Overlay(name.clone()), at, |object| {
            let Object::Overlay(overlay) = object else { unreachable!("an overlay's key") };
            overlay.conditions = conditions.clone();
        })
    }

    fn write_shift_state(&mut self, _write: &ShiftStateWrite) -> Outcome {
        Outcome::NotFound
    }

    fn edit_pool(&mut self, _edit: &PoolEdit) -> Outcome {
        Outcome::NotFound
    }

    fn edit_pool_copy(&mut self, _step: &CopyStep) -> Outcome {
        Outcome::NotFound
    }

    fn describe_shift_network(&mut self) -> Outcome {
        Outcome::NotFound
    }

    fn list_zonal_shifts(&mut self, _cluster_arn: Option<&str>) -> Outcome {
        Outcome::NotFound
    }

    fn solve(&mut self, request: &SolveRequest) -> Outcome {
        let effort = request.effort.min(self.effort);
        SolveRequest { effort, ..request.clone() }.solve(&CancelFlag::default())
    }
}

/// The instance the cloud makes for a claim.
pub(crate) fn instance_for(claim: &Claim) -> Instance {
    let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    Instance {
        provider_id: format!("kwok://{}", claim.meta.uid).into(),
        claim: Some(claim.meta.name.clone()),
        image_id: Some("image".to_owned()),
        labels: [
            label(ZONE, "zone-a"),
            label(INSTANCE_TYPE, "m-4x"),
            label(CAPACITY_TYPE, "on-demand"),
        ]
        .into(),
        annotations: [label("example.com/from", "cloud")].into(),
        capacity: resources("4", "16Gi"),
        allocatable: resources("3900m", "15Gi"),
        made_of: BTreeMap::new(),
        is_ending: false,
    }
}

/// Marks an object as deleting, or takes it away where nothing holds it.
pub(crate) fn delete(cluster: &mut Cluster, key: &Key) {
    let Some(object) = cluster.objects.get(key) else { return };
    if let Object::Pod(pod) = object {
        let (key, grace) = (pod.key.clone(), pod.termination_grace.unwrap_or_default());
        cluster.end_pod(&key, grace);
        return;
    }
    if object.finalizers().is_empty() {
        return cluster.remove(key);
    }
    let now = Time::from_seconds(cluster.now.seconds());
    if object.meta().is_deleting() {
        return;
    }
    cluster.edit(key, |object| {
        let meta = object.meta_mut();
        meta.deleting_since = Some(now);
        meta.generation += 1;
    });
}
