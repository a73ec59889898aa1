//! What is to go, in its order, and what speaks against it.

use serde_json::Value;

use super::Uninstall;
use super::facts::Facts;
use crate::commands::doctor::{self, Severity, name};
use crate::commands::install::{Refusal, refusal, stack_name, title, wrong_cluster};

/// What makes nodes, what nodes are made of, and what they are.
pub(super) const POOLS: [Kind; 2] = [
    ("karpenter.sh", "v1", "NodePool", "nodepools"),
    ("karpenter.sh", "v1alpha5", "Provisioner", "provisioners"),
];
pub(super) const CLAIMS: [Kind; 1] = [("karpenter.sh", "v1", "NodeClaim", "nodeclaims")];
pub(super) const CLASSES: [Kind; 2] = [
    ("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses"),
    ("karpenter.k8s.aws", "v1alpha1", "AWSNodeTemplate", "awsnodetemplates"),
];
/// Kept on a node until the controller has drained it.
pub(super) const FINALIZER: &str = "karpenter.sh/termination";
const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
const NODE_POOL: &str = "karpenter.sh/nodepool";
/// Where Helm says whose an object is.
const RELEASE: &str = "meta.helm.sh/release-name";
/// Names of things that are listed in one line.
const NAMES_MAX: usize = 5;

/// Group, version, kind and plural.
pub(super) type Kind = (&'static str, &'static str, &'static str, &'static str);

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Pools and claims, until no node is left that has a finalizer.
    Nodes {
        pools: Vec<String>,
        nodes: usize,
        pods: usize,
    },
    /// Classes and templates, until none is left.
    Classes {
        names: Vec<String>,
    },
    Release {
        name: String,
        namespace: String,
    },
    Objects {
        objects: Vec<Value>,
    },
    Definitions {
        names: Vec<String>,
    },
    Association {
        id: String,
    },
    AccessEntry {
        role_arn: String,
    },
    /// Launch templates and instance profiles that no class is left for.
    Leftovers {
        names: Vec<String>,
    },
    Stack {
        name: String,
    },
}

impl Step {
    /// For people.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Nodes { pools, nodes, pods } => format!(
                "delete  {}: {nodes} nodes are drained and their instances end; {pods} pods move",
                some(pools)
            ),
            Self::Classes { names } => format!("delete  {}", some(names)),
            Self::Release { name, namespace } => {
                format!("run     helm uninstall {name} --namespace {namespace} --wait")
            }
            Self::Objects { objects } => {
                format!("delete  {}", some(&objects.iter().map(title).collect::<Vec<_>>()))
            }
            Self::Definitions { names } => format!("delete  definitions of {}", some(names)),
            Self::Association { id } => format!("delete  Pod Identity association {id}"),
            Self::AccessEntry { role_arn } => format!("delete  access entry of {role_arn}"),
            Self::Leftovers { names } => format!("delete  {}, left by the controller", some(names)),
            Self::Stack { name } => {
                format!("delete  stack {name}: roles, policies, queue, rules")
            }
        }
    }
}

/// The first of some names, and how many more there are.
pub(super) fn some(names: &[String]) -> String {
    let first = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Everything that is to go.
pub(super) fn steps(asked: &Uninstall, facts: &Facts) -> Vec<Step> {
    let mut steps = Vec::new();
    let names = |kinds: &[Kind]| -> Vec<String> {
        let of = |kind: &Kind| {
            let kind = *kind;
            facts.in_cluster.all(kind.3).iter().map(move |one| format!("{} {}", kind.2, name(one)))
        };
        kinds.iter().flat_map(of).collect()
    };
    let (mut pools, claims, nodes) = (names(&POOLS), names(&CLAIMS), going(facts).len());
    if !pools.is_empty() || !claims.is_empty() || nodes > 0 {
        if pools.is_empty() {
            pools = claims;
        }
        steps.push(Step::Nodes { pools, nodes, pods: pods(facts).count() });
    }
    let classes = names(&CLASSES);
    if !classes.is_empty() {
        steps.push(Step::Classes { names: classes });
    }
    match release(facts) {
        Some((name, namespace)) => steps.push(Step::Release { name, namespace }),
        None if facts.objects.is_empty() => {}
        None => steps.push(Step::Objects { objects: facts.objects.clone() }),
    }
    let definitions = definitions(facts);
    if asked.delete_crds && !definitions.is_empty() {
        steps.push(Step::Definitions { names: definitions });
    }
    steps.extend(in_account(asked, facts));
    steps
}

fn in_account(asked: &Uninstall, facts: &Facts) -> Vec<Step> {
    let Some(account) = &facts.account else { return Vec::new() };
    let mut steps = Vec::new();
    let association = account.association.as_ref();
    steps.extend(association.map(|one| Step::Association { id: one.id.clone() }));
    let entry = account.node_role_arn.as_ref();
    steps.extend(entry.map(|arn| Step::AccessEntry { role_arn: arn.clone() }));
    let names: Vec<String> =
        account.launch_templates.iter().chain(&account.profiles).cloned().collect();
    if !names.is_empty() {
        steps.push(Step::Leftovers { names });
    }
    if account.stack.is_some() {
        steps.push(Step::Stack { name: stack_name(&asked.cluster) });
    }
    steps
}

/// Nodes that a controller has to let go.
fn going(facts: &Facts) -> Vec<&Value> {
    let has = |node: &&Value| {
        let finalizers = node["metadata"]["finalizers"].as_array();
        finalizers.into_iter().flatten().any(|it| it == FINALIZER)
    };
    facts.in_cluster.all("nodes").iter().filter(has).collect()
}

/// Pods that have to move: on those nodes, and not of a DaemonSet.
fn pods(facts: &Facts) -> impl Iterator<Item = &Value> {
    let nodes: Vec<&str> =
        going(facts).iter().filter_map(|node| node["metadata"]["name"].as_str()).collect();
    let runs = move |pod: &&Value| {
        let phase = pod["status"]["phase"].as_str().unwrap_or_default();
        let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        let owner = pod["metadata"]["ownerReferences"][0]["kind"].as_str().unwrap_or_default();
        nodes.contains(&node)
            && !matches!(phase, "Succeeded" | "Failed")
            && !matches!(owner, "DaemonSet" | "Node")
    };
    facts.in_cluster.all("pods").iter().filter(runs)
}

/// The release of Helm that the controller belongs to, with its namespace.
fn release(facts: &Facts) -> Option<(String, String)> {
    let deployment = facts.in_cluster.controller()?;
    let release = deployment["metadata"]["annotations"][RELEASE].as_str()?;
    let namespace = deployment["metadata"]["namespace"].as_str()?;
    Some((release.to_owned(), namespace.to_owned()))
}

/// The definitions that are Kerf's and there.
fn definitions(facts: &Facts) -> Vec<String> {
    let own = kerf_api::crds();
    let own: Vec<&str> = own.iter().filter_map(|one| one.metadata.name.as_deref()).collect();
    let stored = facts.in_cluster.all("customresourcedefinitions").iter();
    let names = stored.filter_map(|one| one["metadata"]["name"].as_str());
    names.filter(|name| own.contains(name)).map(str::to_owned).collect()
}

/// Everything that speaks against it.
pub(super) fn refusals(asked: &Uninstall, facts: &Facts) -> Vec<Refusal> {
    let endpoint = facts.account.as_ref().map(|account| account.endpoint.as_str());
    let endpoint = endpoint.filter(|endpoint| !endpoint.is_empty());
    let all = [
        endpoint.and_then(|endpoint| wrong_cluster(&asked.cluster, &facts.server, endpoint)),
        no_cluster(asked, facts),
        karpenter(facts),
        nobody_drains(facts),
        own_nodes(facts),
        stack(asked, facts),
    ];
    let refuses = |one: &Refusal| !(one.can_be_forced && asked.force);
    all.into_iter().flatten().filter(refuses).collect()
}

fn no_cluster(asked: &Uninstall, facts: &Facts) -> Option<Refusal> {
    facts.account.as_ref().filter(|account| account.endpoint.is_empty())?;
    let what = format!("EKS has no cluster {} in this account and region", asked.cluster);
    refusal(what, "aws eks list-clusters; or leave the account alone with --keep-account", true)
}

/// What runs is not Kerf's, and has an uninstallation of its own.
fn karpenter(facts: &Facts) -> Option<Refusal> {
    let other = facts.in_cluster.controllers().find(|one| !doctor::runs_kerf(one))?;
    let what = format!("deployment {} runs Karpenter", name(other));
    refusal(what, "helm list -A -f karpenter; uninstall it as it was installed", true)
}

/// A finalizer without a controller stays for ever.
fn nobody_drains(facts: &Facts) -> Option<Refusal> {
    let held = |plural: &str| {
        let is_held = |one: &&Value| {
            one["metadata"]["finalizers"].as_array().is_some_and(|all| !all.is_empty())
        };
        facts.in_cluster.all(plural).iter().filter(is_held).count()
    };
    let (claims, nodes, classes) = (held("nodeclaims"), going(facts).len(), held("ec2nodeclasses"));
    if claims + nodes + classes == 0 {
        return None;
    }
    let why = doctor::no_leader(&facts.in_cluster)?;
    let what = format!(
        "{claims} NodeClaims, {nodes} nodes and {classes} EC2NodeClasses have a finalizer, and no \
         controller takes it off: {why}"
    );
    let to_do = format!(
        "let it run again: kubectl -n {} rollout status deployment -l app.kubernetes.io/name=karpenter",
        facts.in_cluster.namespace
    );
    refusal(what, to_do, false)
}

/// The controller would drain itself away before it is done.
fn own_nodes(facts: &Facts) -> Option<Refusal> {
    let found = doctor::placement(&facts.in_cluster);
    let found = found.into_iter().find(|one| one.severity == Severity::Failure)?;
    refusal(found.evidence, found.fix, true)
}

fn stack(asked: &Uninstall, facts: &Facts) -> Option<Refusal> {
    let stack = facts.account.as_ref()?.stack.as_ref()?;
    let (name, status) = (stack_name(&asked.cluster), stack.status.as_str());
    if !status.ends_with("_IN_PROGRESS") || status == "DELETE_IN_PROGRESS" {
        return None;
    }
    let what = format!("the stack {name} is being changed: {status}");
    refusal(what, "wait until it is done, and run this again", false)
}

/// What takes long, or will not go by itself.
pub(super) fn notes(facts: &Facts) -> Vec<String> {
    let is_held =
        |pod: &&Value| pod["metadata"]["annotations"][DO_NOT_DISRUPT].as_str() == Some("true");
    let held: Vec<String> = pods(facts).filter(is_held).map(name).collect();
    let mut notes = Vec::new();
    if !held.is_empty() {
        notes.push(format!("nodes wait for pods that say {DO_NOT_DISRUPT}: {}", some(&held)));
    }
    let is_own = |node: &&Value| node["metadata"]["labels"][NODE_POOL].is_null();
    if pods(facts).next().is_some() && !facts.in_cluster.all("nodes").iter().any(|it| is_own(&it)) {
        notes.push("no node is left for the pods that move: they will wait".to_owned());
    }
    notes
}

/// What is not Kerf's alone, and how to take it away.
pub(super) fn left(asked: &Uninstall, facts: &Facts) -> Vec<String> {
    let mut left = vec![format!("namespace {}", facts.in_cluster.namespace)];
    if !asked.delete_crds {
        left.push("definitions of custom resources: kerf crds | kubectl delete -f -".to_owned());
    }
    match facts.account {
        Some(_) => left.push(
            "in the account: tags karpenter.sh/discovery, the OIDC provider, the service-linked \
             role for spot"
                .to_owned(),
        ),
        None => left.push("everything in the account".to_owned()),
    }
    left
}
