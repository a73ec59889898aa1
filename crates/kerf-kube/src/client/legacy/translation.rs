//! Legacy objects as the engine's pools and node classes. What they mean is `kerf_api::legacy`'s
//! word, the same that `kerf convert` gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kerf_api::ec2_node_class::EC2NodeClass;
use kerf_api::legacy::{
    self, AWSNodeTemplate, LegacyFinding, Options, PROVISIONER_NAME, Provisioner,
};
use kerf_api::node_pool::NodePool;
use kerf_engine::observed::{NodeClass, Pool, Revision};
use kerf_model::labels::LabelRules;
use kerf_model::node_spec::NodeClassRef;
use kube::{Resource, ResourceExt};

use super::status;
use crate::client::observe::meta::{meta, own_annotations};
use crate::client::observe::{Guarded, pool};

/// What stands for the legacy objects.
pub(super) struct Legacy {
    /// One for each Provisioner; one that cannot be served says why.
    pub(super) pools: Vec<Pool>,
    pub(super) classes: Vec<NodeClass>,
    /// What to say about the objects.
    pub(super) problems: Vec<String>,
}

/// Translates all legacy objects of a cluster: which class a Provisioner uses depends on the others.
pub(super) fn of<'a>(
    provisioners: impl Iterator<Item = &'a Guarded<Provisioner>>,
    templates: impl Iterator<Item = &'a Guarded<AWSNodeTemplate>>,
    options: &Options,
    rules: &LabelRules,
) -> Legacy {
    let (provisioners, unreadable) = readable(provisioners);
    let (templates, strange) = readable(templates);
    let converted = legacy::convert(&provisioners, &templates, options);
    let mut problems: Vec<String> =
        converted.problems.iter().map(LegacyFinding::to_string).collect();
    for (metadata, error) in unreadable.iter().chain(&strange) {
        problems.push(format!("{:?} cannot be read: {error}", metadata.name));
    }
    let classes = classes(converted.node_classes, &provisioners, &templates, &converted.node_pools);
    let mut by_name: BTreeMap<String, NodePool> =
        converted.node_pools.into_iter().map(|pool| (pool.name_any(), pool)).collect();
    let mut pools: Vec<Pool> = provisioners
        .iter()
        .map(|provisioner| match by_name.remove(&provisioner.name_any()) {
            Some(converted) => served(provisioner, converted, rules),
            None => refused(provisioner.meta(), faults(provisioner, &converted.problems)),
        })
        .collect();
    pools.extend(unreadable.into_iter().map(|(metadata, error)| refused(metadata, vec![error])));
    Legacy { pools, classes, problems }
}

/// Objects that are of the kind they say, and the others with the reason.
fn readable<'a, K: Clone + 'a>(
    objects: impl Iterator<Item = &'a Guarded<K>>,
) -> (Vec<K>, Vec<(&'a ObjectMeta, String)>) {
    let (mut read, mut unreadable) = (Vec::new(), Vec::new());
    for object in objects {
        match &object.0 {
            Ok(object) => read.push(object.clone()),
            Err(invalid) => unreadable.push((&invalid.metadata, invalid.error.clone())),
        }
    }
    (read, unreadable)
}

/// The pool that stands for a Provisioner: its name, identity and age.
fn served(provisioner: &Provisioner, mut converted: NodePool, rules: &LabelRules) -> Pool {
    let annotations = converted.metadata.annotations.take();
    converted.metadata = ObjectMeta { annotations, ..identity(provisioner.meta()) };
    let (mut pool, _) = pool::read(&converted, rules);
    // After the hash was made: the same Provisioner, converted and applied, has drifted from nothing.
    let labels = &mut Arc::make_mut(&mut pool.spec).template.labels;
    labels.insert(PROVISIONER_NAME.to_owned(), provisioner.name_any());
    pool.meta.revision = Revision::default();
    pool.status = provisioner.status.as_ref().map(status::of_provisioner).unwrap_or_default();
    pool
}

/// A pool that serves nobody and says why.
fn refused(metadata: &ObjectMeta, faults: Vec<String>) -> Pool {
    let mut stand_in = NodePool { metadata: identity(metadata), ..NodePool::default() };
    let class = &mut stand_in.spec.template.spec.node_class_ref;
    let kind = class_key(&metadata.name.clone().unwrap_or_default());
    (class.group, class.kind, class.name) = (kind.group, kind.kind, kind.name);
    let mut pool = pool::unusable(&stand_in, faults);
    pool.annotations = own_annotations(metadata);
    pool.meta.revision = Revision::default();
    pool
}

fn faults(provisioner: &Provisioner, problems: &[LegacyFinding]) -> Vec<String> {
    let is_about = |it: &&LegacyFinding| {
        it.is_error() && it.kind == legacy::Kind::Provisioner && it.name == provisioner.name_any()
    };
    let text = |it: &LegacyFinding| format!("{}: {}", it.field, it.message);
    problems.iter().filter(is_about).map(text).collect()
}

/// What of the metadata is the same for what stands for an object.
fn identity(metadata: &ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        generation: metadata.generation,
        creation_timestamp: metadata.creation_timestamp.clone(),
        deletion_timestamp: metadata.deletion_timestamp.clone(),
        ..ObjectMeta::default()
    }
}

/// Node classes, each with the identity of the template it is made of, or of its first user.
fn classes(
    converted: Vec<EC2NodeClass>,
    provisioners: &[Provisioner],
    templates: &[AWSNodeTemplate],
    pools: &[NodePool],
) -> Vec<NodeClass> {
    let of_template = |name: &str| templates.iter().find(|it| it.name_any() == name);
    let user = |name: &str| {
        let uses = |pool: &&NodePool| pool.spec.template.spec.node_class_ref.name == name;
        let user = pools.iter().find(uses)?.name_any();
        provisioners.iter().find(|provisioner| provisioner.name_any() == user)
    };
    let class = |class: EC2NodeClass| {
        let name = class.name_any();
        let origin = of_template(&name).map(Resource::meta).or(user(&name).map(Resource::meta))?;
        let metadata = ObjectMeta { name: Some(name.clone()), ..identity(origin) };
        let mut meta = meta(&metadata);
        (meta.revision, meta.generation) = (Revision::default(), 1);
        Some(NodeClass {
            annotations: class.metadata.annotations.unwrap_or_default(),
            spec: Arc::new(serde_json::to_value(class.spec).unwrap_or_default()),
            ..NodeClass::new(meta, class_key(&name))
        })
    };
    converted.into_iter().filter_map(class).collect()
}

/// The key of an EC2NodeClass.
fn class_key(name: &str) -> NodeClassRef {
    NodeClassRef {
        group: EC2NodeClass::group(&()).into_owned(),
        kind: EC2NodeClass::kind(&()).into_owned(),
        name: name.to_owned(),
    }
}
