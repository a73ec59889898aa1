//! Manifests into the objects a plan is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context, Result};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kerf_api::ec2_node_class::EC2NodeClass;
use kerf_api::legacy::{self, AWSNodeTemplate, Kind, Provisioner};
use kerf_aws::catalogue::NamedLabels;
use kerf_kube::{
    Change, Guarded, Intake, ManifestWarning, Manifests, Sourced, SourcedError, WatchUpdate,
};
use kerf_lint::{Catalogue, Object, Objects, SemanticFinding, Verdict};
use kube::api::{ApiResource, DynamicObject};
use serde_json::Value;

use super::cluster::{self, ClusterFlags};

/// The role of node classes made from old templates; a plan launches nothing.
const ROLE_UNUSED: &str = "unused";

/// What the names of our groups have in them.
const OWN_GROUP_WORDS: [&str; 2] = ["karpenter", "autoscaling.x-k8s.io"];

/// Everything that was given.
#[derive(Default)]
pub(super) struct Input {
    /// Everything the controller watches.
    pub(super) manifests: Manifests,
    pub(super) places: Places,
    /// Labels of AWS's own that some object names.
    pub(super) named_labels: NamedLabels,
    /// How many objects of kinds that matter not there were.
    pub(super) passed_over: BTreeMap<String, usize>,
    /// Objects that only a test of a Helm release creates; they are left out.
    pub(super) helm_tests: Vec<String>,
    /// Objects that only a change of a Helm release creates.
    pub(super) helm_hooks: Vec<String>,
    /// What old objects lose when they are converted.
    pub(super) warnings: Vec<String>,
}

/// Where each object of the input stands, by its number.
#[derive(Default)]
pub(super) struct Places(Vec<Place>);

struct Place {
    file: String,
    line: usize,
    document: usize,
    /// `Kind/name`
    object: String,
}

/// What is wrong with the input, a line each.
#[derive(Debug, Default)]
pub(super) struct Refusals(pub(super) Vec<String>);

impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Input {
    /// What an API server would not take as it stands, a line each.
    pub(super) fn manifest_warnings(&self) -> Vec<String> {
        let line = |Sourced { source, object }: &Sourced<ManifestWarning>| {
            let ManifestWarning { field, message, unknown } = object;
            let near = unknown
                .as_ref()
                .and_then(|(written, known)| kerf_lint::nearest(written, known.iter().copied()));
            let instead = near.map(|name| format!("; write: {name}")).unwrap_or_default();
            self.places.line(*source, field, &format!("{message}{instead}"))
        };
        self.manifests.warnings.iter().map(line).collect()
    }

    fn add_node_class(&mut self, source: usize, class: DynamicObject) {
        let kind = ApiResource::erase::<EC2NodeClass>(&());
        let object = WatchUpdate::NodeClass(kind, Change::Is(Box::new(class)));
        self.manifests.others.push(Sourced { source, object });
    }
}

impl Places {
    /// Problems with the places of their objects.
    pub(super) fn refusals(&self, problems: Vec<SourcedError>) -> Refusals {
        let line = |SourcedError { source, problem }: SourcedError| {
            self.line(source, &problem.field, &problem.message)
        };
        Refusals(problems.into_iter().map(line).collect())
    }

    /// A line that says where, what and why.
    pub(super) fn line(&self, source: usize, field: &str, message: &str) -> String {
        let Place { file, line, document, object } = &self.0[source];
        let gap = if field.is_empty() { "" } else { "  " };
        format!("{file}:{line} (document {document})  {object}{gap}{field}  {message}")
    }
}

/// Reads files, and a cluster below them. The outer error is a fault of this build, or of the way to
/// the cluster.
pub(super) fn read(
    filename: &[String],
    cluster: Option<&ClusterFlags>,
) -> Result<Result<Input, Refusals>> {
    let inputs = kerf_lint::gather(filename, std::io::stdin().lock());
    let Objects { mut objects, findings, unreadable } = kerf_lint::objects(&inputs);
    let mut waiting_elsewhere = 0;
    if let Some(cluster) = cluster {
        let given = objects.iter().map(|object| cluster::key(&object.value)).collect();
        let held = cluster.read(&given)?;
        objects.extend(held.objects);
        waiting_elsewhere = held.waiting_elsewhere;
    }
    let mut lines: Vec<String> =
        unreadable.iter().map(|it| format!("{}  cannot be read: {}", it.file, it.reason)).collect();
    lines.extend(findings.iter().map(|finding| {
        let line = finding.position.map(|at| format!(":{}", at.line)).unwrap_or_default();
        let kerf_lint::Finding { file, document, message, .. } = finding;
        format!("{file}{line} (document {document})  {message}")
    }));
    let mut reading = Reading::new(&objects)?;
    objects.into_iter().for_each(|object| reading.take(object));
    reading.take_beta();
    let Reading { mut input, mut refusals, provisioners, templates, .. } = reading;
    convert(&mut input, &provisioners, &templates, &mut refusals);
    if waiting_elsewhere > 0 {
        let (pods, are) = if waiting_elsewhere == 1 { ("pod", "is") } else { ("pods", "are") };
        input.warnings.push(format!(
            "{waiting_elsewhere} {pods} without a node in other namespaces {are} left out: -A"
        ));
    }
    lines.append(&mut refusals);
    Ok(if lines.is_empty() { Ok(input) } else { Err(Refusals(lines)) })
}

struct Reading {
    catalogue: Catalogue,
    input: Input,
    refusals: Vec<String>,
    provisioners: Vec<Sourced<Provisioner>>,
    templates: Vec<Sourced<AWSNodeTemplate>>,
    /// Pools and classes of v1beta1.
    beta: Vec<Sourced<Value>>,
    /// By kind, namespace and name, which object it was.
    seen: BTreeMap<String, Value>,
}

impl Reading {
    fn new(objects: &[Object]) -> Result<Self> {
        let catalogue = Catalogue::new(&definitions(objects))
            .context("the definitions of this build")?
            .with_check(Box::new(findings));
        Ok(Self {
            catalogue,
            input: Input::default(),
            refusals: Vec::new(),
            provisioners: Vec::new(),
            templates: Vec::new(),
            beta: Vec::new(),
            seen: BTreeMap::new(),
        })
    }

    fn take(&mut self, object: Object) {
        let Object { file, document, position, mut value, repeated_keys } = object;
        forget_version(&mut value);
        let source = self.input.places.0.len();
        let name = named(&value);
        let place = Place { file, line: position.line, document, object: name };
        self.input.places.0.push(place);
        for path in repeated_keys {
            self.refuse(source, &path.to_string(), "is given twice; keep one");
        }
        if self.is_again(source, &value) {
            return;
        }
        self.input.named_labels.note_object(&value);
        if matches!(legacy::beta_kind(&value), Some(Kind::NodePool | Kind::EC2NodeClass)) {
            self.beta.push(Sourced { source, object: value });
            return;
        }
        match self.catalogue.verdict(&value) {
            Some(verdict) => self.judge(source, &value, verdict),
            None => match self.input.manifests.add(source, value) {
                Ok(Intake::Read) => {}
                Ok(Intake::PassedOver) => self.pass_over(source),
                Ok(Intake::HelmTest) => self.input.helm_tests.push(self.object(source)),
                Ok(Intake::HelmHook) => self.input.helm_hooks.push(self.object(source)),
                Err(problem) => self.refuse(source, &problem.field, &problem.message),
            },
        }
    }

    /// Takes an object of ours in if an API server admits it.
    fn judge(&mut self, source: usize, value: &Value, verdict: Verdict) {
        if verdict.problems.is_empty() {
            return self.take_own(source, value);
        }
        for problem in verdict.problems {
            let instead = problem.instead.map(|text| format!("; write: {text}"));
            let message = problem.message + &instead.unwrap_or_default();
            self.refuse(source, &problem.path.to_string(), &message);
        }
    }

    /// Takes pools and classes of v1beta1 in as those of v1 they become.
    fn take_beta(&mut self) {
        let beta = std::mem::take(&mut self.beta);
        let Some(first) = beta.first().map(|it| it.source) else { return };
        let values: Vec<Value> = beta.iter().map(|it| it.object.clone()).collect();
        let converted = legacy::convert_beta(&values);
        for problem in &converted.problems {
            let is_error = problem.is_error();
            let lines = if is_error { &mut self.refusals } else { &mut self.input.warnings };
            lines.push(problem.to_string());
        }
        for object in &converted.objects {
            let name = named(object);
            // A class that was made for other kubelet settings stands where the first object does.
            let source = beta.iter().map(|it| it.source);
            let source = source.into_iter().find(|it| self.object(*it) == name).unwrap_or(first);
            let verdict = self.catalogue.verdict(object).unwrap_or_default();
            self.judge(source, object, verdict);
        }
    }

    /// Whether the same object was given before; two that differ are one too many.
    fn is_again(&mut self, source: usize, value: &Value) -> bool {
        let is_there = |pointer| value.pointer(pointer).is_some_and(Value::is_string);
        if !is_there("/kind") || !is_there("/metadata/name") {
            return false;
        }
        let key = cluster::key(value);
        match self.seen.get(&key) {
            None => {
                self.seen.insert(key, value.clone());
                false
            }
            Some(before) if before == value => true,
            Some(_) => {
                self.refuse(source, "", "was given before and differs; keep one of them");
                true
            }
        }
    }

    /// An object of ours that an API server admits.
    fn take_own(&mut self, source: usize, value: &Value) {
        let value = self.catalogue.with_defaults(value).unwrap_or_else(|| value.clone());
        let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        let taken = match kind.as_str() {
            "NodePool" => kerf_kube::read(value)
                .map(|object| self.input.manifests.node_pools.push(Sourced { source, object })),
            "EC2NodeClass" => {
                kerf_kube::read(value).map(|class| self.input.add_node_class(source, class))
            }
            "NodeOverlay" => kerf_kube::read(value).map(|overlay| {
                self.input.manifests.report(source, WatchUpdate::Overlay, Guarded(Ok(overlay)))
            }),
            "CapacityBuffer" => kerf_kube::read(value)
                .map(|object| self.input.manifests.buffers.push(Sourced { source, object })),
            "NodeClaim" => kerf_kube::read(value).map(|claim| {
                self.input.manifests.report(source, WatchUpdate::Claim, Guarded(Ok(claim)))
            }),
            "Provisioner" => kerf_kube::read(value)
                .map(|object| self.provisioners.push(Sourced { source, object })),
            "AWSNodeTemplate" => {
                kerf_kube::read(value).map(|object| self.templates.push(Sourced { source, object }))
            }
            // Its one setting, a delay, does not change what nodes are.
            "KWOKNodeClass" => Ok(()),
            _ => {
                self.pass_over(source);
                Ok(())
            }
        };
        if let Err(problem) = taken {
            self.refuse(source, &problem.field, &problem.message);
        }
    }

    fn pass_over(&mut self, source: usize) {
        let kind = self.input.places.0[source].object.split('/').next().unwrap_or_default();
        *self.input.passed_over.entry(kind.to_owned()).or_default() += 1;
    }

    fn object(&self, source: usize) -> String {
        self.input.places.0[source].object.clone()
    }

    fn refuse(&mut self, source: usize, field: &str, message: &str) {
        self.refusals.push(self.input.places.line(source, field, message));
    }
}

/// An object of ours that an API server has stored is judged as if it were new: its version is the
/// one thing about it that a new object must not have.
fn forget_version(value: &mut Value) {
    if is_ours(value)
        && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
    {
        metadata.remove("resourceVersion");
    }
}

/// What the controller would find. A NodeOverlay it finds fault with is skipped, not refused.
fn findings(object: &Value) -> Vec<SemanticFinding> {
    match object.get("kind").and_then(Value::as_str) {
        Some("NodeOverlay") => Vec::new(),
        _ => crate::commands::lint::controller_findings(object),
    }
}

/// Whether it is of one of our groups.
fn is_ours(value: &Value) -> bool {
    let version = value.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    OWN_GROUP_WORDS.iter().any(|word| version.contains(word))
}

/// The definitions that judging the objects takes: those of their kinds, or all where one of our
/// groups holds a kind that does not exist and advice is needed.
fn definitions(objects: &[Object]) -> Vec<CustomResourceDefinition> {
    let text = |object: &Object, field: &str| object.value.get(field)?.as_str().map(str::to_owned);
    let kinds: BTreeSet<String> = objects.iter().filter_map(|it| text(it, "kind")).collect();
    let is_strange =
        |object: &Object| !text(object, "kind").is_some_and(|kind| kerf_api::has_crd(&kind));
    if objects.iter().any(|object| is_ours(&object.value) && is_strange(object)) {
        return kerf_api::crds();
    }
    kerf_api::crds_of(|kind| kinds.contains(kind))
}

/// Old objects as the pools and classes they become.
fn convert(
    input: &mut Input,
    provisioners: &[Sourced<Provisioner>],
    templates: &[Sourced<AWSNodeTemplate>],
    refusals: &mut Vec<String>,
) {
    let (old_pools, old_classes): (Vec<_>, Vec<_>) = (
        provisioners.iter().map(|it| it.object.clone()).collect(),
        templates.iter().map(|it| it.object.clone()).collect(),
    );
    let options = legacy::Options { role: Some(ROLE_UNUSED.to_owned()), ..Default::default() };
    let converted = legacy::convert(&old_pools, &old_classes, &options);
    for problem in &converted.problems {
        if problem.is_error() {
            refusals.push(problem.to_string());
        } else {
            input.warnings.push(problem.to_string());
        }
    }
    // What was converted stands where the first old object stood; it has been judged already.
    let first = provisioners.first().map(|it| it.source).or(templates.first().map(|it| it.source));
    let source = first.unwrap_or_default();
    let pools = converted.node_pools.into_iter().map(|object| Sourced { source, object });
    input.manifests.node_pools.extend(pools);
    for class in converted.node_classes {
        let value = serde_json::to_value(class).unwrap_or_default();
        if let Ok(class) = kerf_kube::read(value) {
            input.add_node_class(source, class);
        }
    }
}

/// `Kind/name`, as far as they are known.
fn named(value: &Value) -> String {
    let text = |pointer| value.pointer(pointer).and_then(Value::as_str);
    let kind = text("/kind").unwrap_or("no kind");
    match text("/metadata/name").or_else(|| text("/metadata/generateName")) {
        Some(name) => format!("{kind}/{name}"),
        None => kind.to_owned(),
    }
}
