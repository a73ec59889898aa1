//! Reading what checks look at. Nothing is ever written.

use kerf_aws::{ClusterAccess, Inspection, Installation, QueueFacts, RuleFacts, Session, TimeOuts};
use kerf_kube::connect;
use kerf_runtime::clock;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::{Client, Config};
use serde_json::Value;

use super::Doctor;
use super::checks::ROLE_ARN;
use super::facts::{Account, Answer, Facts, NodeRole, PodIdentity, Unread, role_name};

/// The role by which EC2 buys spot instances for an account.
const SPOT_ROLE: &str = "AWSServiceRoleForEC2Spot";

/// A kind of objects: group, version, kind, plural.
type Kind = (&'static str, &'static str, &'static str, &'static str);

/// Kinds without a namespace, and those of all namespaces.
const EVERYWHERE: [Kind; 11] = [
    ("", "v1", "Pod", "pods"),
    ("", "v1", "Node", "nodes"),
    ("apps", "v1", "Deployment", "deployments"),
    ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions"),
    (
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
    ),
    ("karpenter.sh", "v1", "NodePool", "nodepools"),
    ("karpenter.sh", "v1", "NodeClaim", "nodeclaims"),
    ("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses"),
    ("karpenter.sh", "v1alpha5", "Provisioner", "provisioners"),
    ("karpenter.k8s.aws", "v1alpha1", "AWSNodeTemplate", "awsnodetemplates"),
];
/// Kinds of the controller's namespace.
const AT_HOME: [Kind; 2] = [
    ("coordination.k8s.io", "v1", "Lease", "leases"),
    ("", "v1", "ServiceAccount", "serviceaccounts"),
];

/// Asks the API server and AWS.
pub(super) async fn gather(asked: &Doctor) -> Facts {
    let client = match client().await {
        Ok(client) => client,
        Err(why) => return Facts { version: Err(why), ..nothing(&asked.namespace) },
    };
    let mut facts = look(&client, &asked.namespace).await;
    if facts.version.is_err() {
        return facts;
    }
    let cluster = asked.cluster_name.clone();
    let cluster = cluster.or_else(|| facts.setting("CLUSTER_NAME").map(str::to_owned));
    if let Some(cluster) = cluster.filter(|_| !asked.skip_aws) {
        facts.account = Some(account(&facts, cluster).await);
    }
    facts
}

fn nothing(namespace: &str) -> Facts {
    Facts {
        now_seconds: clock::now().as_second(),
        namespace: namespace.to_owned(),
        version: Err(String::new()),
        lists: std::collections::BTreeMap::new(),
        account: None,
    }
}

/// Asks the API server alone.
pub(crate) async fn look(client: &Client, namespace: &str) -> Facts {
    let mut facts = nothing(namespace);
    let version = client.apiserver_version().await;
    facts.version = version.map(|version| version.git_version).map_err(|why| why.to_string());
    if facts.version.is_err() {
        return facts;
    }
    for kind in EVERYWHERE {
        let api = Api::all_with(client.clone(), &resource(kind));
        facts.lists.insert(kind.3, list(&api, &ListParams::default()).await);
    }
    // Where the controller is, its Lease and its account are, whatever namespace was said.
    let home = facts.controller().and_then(|one| one["metadata"]["namespace"].as_str());
    facts.namespace = home.unwrap_or(namespace).to_owned();
    for kind in AT_HOME {
        let api = Api::namespaced_with(client.clone(), &facts.namespace, &resource(kind));
        facts.lists.insert(kind.3, list(&api, &ListParams::default()).await);
    }
    let maps = resource(("", "v1", "ConfigMap", "configmaps"));
    let maps = Api::namespaced_with(client.clone(), "kube-system", &maps);
    let one = ListParams::default().fields("metadata.name=aws-auth");
    facts.lists.insert("configmaps", list(&maps, &one).await);
    facts
}

async fn client() -> Answer<Client> {
    let config = Config::infer().await.map_err(|why| why.to_string())?;
    connect(config).map_err(|why| why.to_string())
}

fn resource((group, version, kind, plural): Kind) -> ApiResource {
    let text = str::to_owned;
    let api_version = if group.is_empty() { text(version) } else { format!("{group}/{version}") };
    ApiResource {
        group: text(group),
        version: text(version),
        api_version,
        kind: text(kind),
        plural: text(plural),
    }
}

async fn list(api: &Api<DynamicObject>, which: &ListParams) -> Result<Vec<Value>, Unread> {
    match api.list(which).await {
        Ok(found) => {
            Ok(found.items.iter().filter_map(|one| serde_json::to_value(one).ok()).collect())
        }
        Err(kube::Error::Api(status)) if status.code == 404 => Err(Unread::Absent),
        Err(why) => Err(Unread::Failed(why.to_string())),
    }
}

async fn account(facts: &Facts, cluster_name: String) -> Account {
    let session = Session::from_env(TimeOuts::default()).await;
    let (inspection, installation) = (session.inspection(), session.installation());
    let mut node_roles = Vec::new();
    for name in role_names(facts, &cluster_name, &inspection).await {
        node_roles.push(node_role(&inspection, &cluster_name, name).await);
    }
    let spot_role = inspection.role(SPOT_ROLE).await;
    let queue = match facts.setting("INTERRUPTION_QUEUE") {
        Some(name) => Some((name.to_owned(), said(inspection.queue(name).await))),
        None => None,
    };
    let controller_role = match controller_role(facts) {
        Some(arn) => {
            let name = role_name(&arn);
            let role = said(inspection.role(name).await);
            Some((arn, role))
        }
        None => None,
    };
    let cluster = said(inspection.cluster(&cluster_name).await);
    let has_oidc_provider = match (&controller_role, &cluster) {
        (Some(_), Ok(Some(cluster))) => Some(oidc_provider(&installation, cluster).await),
        _ => None,
    };
    let pod_identity = match &controller_role {
        Some(_) => None,
        None => Some(pod_identity(facts, &installation, &cluster_name).await),
    };
    let named = controller_role.as_ref().map(|(arn, _)| arn.as_str());
    let associated = pod_identity.as_ref().and_then(|it| it.as_ref().ok()?.association.as_ref());
    let controller_policies = match named.or(associated.map(|it| it.role_arn.as_str())) {
        Some(arn) => Some(said(inspection.policy_documents(role_name(arn)).await)),
        None => None,
    };
    Account {
        rules: rules(&inspection, queue.as_ref()).await,
        cluster,
        cluster_name,
        node_roles,
        has_spot_role: said(spot_role).map(|role| role.is_some()),
        queue,
        controller_role,
        has_oidc_provider,
        pod_identity,
        controller_policies,
    }
}

/// The rules that fill the queue there is.
async fn rules(
    inspection: &Inspection,
    queue: Option<&(String, Answer<Option<QueueFacts>>)>,
) -> Answer<Vec<RuleFacts>> {
    match queue {
        Some((_, Ok(Some(queue)))) => said(inspection.rules_to(&queue.arn).await),
        _ => Ok(Vec::new()),
    }
}

async fn oidc_provider(installation: &Installation, cluster: &ClusterAccess) -> Answer<bool> {
    let mut parts = cluster.arn.split(':').skip(1);
    let partition = parts.next().unwrap_or("aws");
    let account = parts.nth(2).unwrap_or_default();
    let issuer = cluster.issuer.trim_start_matches("https://");
    let arn = format!("arn:{partition}:iam::{account}:oidc-provider/{issuer}");
    said(installation.oidc_provider(&arn).await).map(|found| found.is_some())
}

async fn pod_identity(
    facts: &Facts,
    installation: &Installation,
    cluster: &str,
) -> Answer<PodIdentity> {
    let account = facts.service_account().unwrap_or("karpenter");
    let association = installation.association(cluster, &facts.namespace, account);
    let association = said(association.await)?;
    let agent = said(installation.addon(cluster, "eks-pod-identity-agent").await)?;
    Ok(PodIdentity { association, agent })
}

/// The roles that classes name, themselves or by an instance profile; without classes the one that
/// the installation makes.
async fn role_names(facts: &Facts, cluster: &str, inspection: &Inspection) -> Vec<String> {
    let mut names = Vec::new();
    for class in facts.all("ec2nodeclasses") {
        if let Some(role) = class["spec"]["role"].as_str() {
            names.push(role_name(role).to_owned());
        } else if let Some(profile) = class["spec"]["instanceProfile"].as_str() {
            // A profile that is not there is what the class's own condition says.
            let roles = inspection.profile_roles(profile).await;
            names.extend(roles.ok().flatten().unwrap_or_default());
        }
    }
    if names.is_empty() {
        names.push(format!("KarpenterNodeRole-{cluster}"));
    }
    names.sort();
    names.dedup();
    names
}

async fn node_role(inspection: &Inspection, cluster: &str, name: String) -> NodeRole {
    let role = said(inspection.role(&name).await);
    let entry = match &role {
        Ok(Some(role)) => said(inspection.access_entry(cluster, &role.arn).await),
        _ => Ok(None),
    };
    NodeRole { name, role, entry }
}

/// The role that the controller's service account names.
fn controller_role(facts: &Facts) -> Option<String> {
    let name = facts.service_account()?;
    let account =
        facts.all("serviceaccounts").iter().find(|one| one["metadata"]["name"] == name)?;
    account["metadata"]["annotations"][ROLE_ARN].as_str().map(str::to_owned)
}

fn said<T>(answer: kerf_aws::Result<T>) -> Answer<T> {
    answer.map_err(|why| why.to_string())
}
