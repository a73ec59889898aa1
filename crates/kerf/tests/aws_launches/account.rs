//! An account with a cluster, a node class that is ready, and the provider in it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kerf_aws::provider::{Aws, AwsSettings, Cluster, KubernetesVersion};
use kerf_aws::{Session, TimeOuts};
use kerf_engine::action::Launch;
use kerf_engine::condition::Status;
use kerf_engine::event::{Failure, Instance};
use kerf_engine::observed::{Claim, ClaimStatus, Meta, NodeClass, Revision};
use kerf_engine::time::Time;
use kerf_kube::Provider;
use kerf_model::claim::NodeClaim;
use kerf_model::duration::NillableDuration;
use kerf_model::instance_type::InstanceType;
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_runtime::metrics::Registry;
use kerf_testbed::{AwsStandIn, QuickStart};
use serde_json::json;

/// What the stand-in takes on a busy machine.
const CONNECT: Duration = Duration::from_secs(10);
const CALL: Duration = Duration::from_secs(60);

/// An account with a cluster, and the provider in it.
pub(crate) struct Account {
    pub(crate) stand_in: AwsStandIn,
    pub(crate) made: QuickStart,
    pub(crate) aws: Arc<Aws>,
    pub(crate) class: Arc<NodeClass>,
    pub(crate) registry: Registry,
}

impl Account {
    /// An account whose provider has looked around.
    pub(crate) async fn open() -> Self {
        let stand_in = AwsStandIn::start().unwrap();
        let made = stand_in.quick_start("demo");
        let registry = Registry::default();
        let aws = provider(&stand_in, &made, CALL, registry.clone()).await;
        let class = Arc::new(ready_class(&aws, &made).await);
        let account = Self { stand_in, made, aws, class, registry };
        account.offered().await;
        account.stand_in.forget_calls();
        account
    }

    /// Another process with the same account, which waits for answers no longer than this.
    pub(crate) async fn restart(&mut self, call: Duration) {
        self.aws = provider(&self.stand_in, &self.made, call, self.registry.clone()).await;
        self.offered().await;
        self.stand_in.forget_calls();
    }

    /// What the class is offered, as soon as EC2 has told.
    pub(crate) async fn offered(&self) -> Arc<[InstanceType]> {
        loop {
            let changed = self.aws.instance_types_changed();
            match self.aws.instance_types(&self.class).await {
                Ok(types) => return types,
                Err(_) => changed.await,
            }
        }
    }

    /// A launch for a claim of that uid that allows these instance types, in these ways.
    pub(crate) fn launch_of(&self, uid: &str, types: &[&str], capacity_types: &[&str]) -> Launch {
        let any_of = |key: &str, values: &[&str]| {
            RequirementEntry::new(key, Operator::In, values.iter().copied())
        };
        let requirements = vec![
            any_of("node.kubernetes.io/instance-type", types),
            any_of("karpenter.sh/capacity-type", capacity_types),
        ];
        let claim = claim(uid, requirements);
        Launch { claim, node_class: Some(self.class.clone()), instance_types: None }
    }

    /// A claim of that uid as the launches below are for.
    pub(crate) fn claim(&self, uid: &str) -> Claim {
        self.launch_of(uid, &["m5.large", "c5.large"], &["on-demand"]).claim
    }

    /// Launches an instance for a claim of that uid on demand.
    pub(crate) async fn launch(&self, uid: &str) -> Result<Instance, Failure> {
        let launch = self.launch_of(uid, &["m5.large", "c5.large"], &["on-demand"]);
        self.aws.launch(&launch).await
    }

    /// Launches for all of these at once.
    pub(crate) async fn launch_all(&self, uids: &[String]) -> Vec<Result<Instance, Failure>> {
        let tasks: Vec<_> = uids
            .iter()
            .map(|uid| {
                let (aws, uid) = (self.aws.clone(), uid.clone());
                let launch = self.launch_of(&uid, &["m5.large", "c5.large"], &["on-demand"]);
                tokio::spawn(async move { aws.launch(&launch).await })
            })
            .collect();
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.unwrap());
        }
        answers
    }

    /// The ids of all instances there are, as the provider lists them.
    pub(crate) async fn listed(&self) -> Vec<String> {
        let instances = self.aws.instances().await.unwrap();
        let mut ids: Vec<String> = instances.iter().map(|it| it.provider_id.to_string()).collect();
        ids.sort();
        ids
    }

    /// How often an action was called.
    pub(crate) fn count(&self, action: &str) -> usize {
        let calls = self.stand_in.calls();
        calls.iter().filter(|call| call.action == action && !call.is_dry_run).count()
    }
}

async fn provider(
    stand_in: &AwsStandIn,
    made: &QuickStart,
    call: Duration,
    registry: Registry,
) -> Arc<Aws> {
    let time_outs = TimeOuts { connect: CONNECT, call };
    let session = Session::of_stand_in(stand_in.endpoint_url(), &made.region, time_outs).await;
    let cluster = Cluster {
        name: made.cluster.clone(),
        region: made.region.clone(),
        endpoint: made.endpoint.clone(),
        ca_bundle: made.ca.clone(),
        version: KubernetesVersion::parse(&made.version).unwrap(),
        service_cidr: Some("10.100.0.0/16".to_owned()),
        dns_ip: None,
    };
    let settings = AwsSettings { is_dry_run: false, ..AwsSettings::default() };
    let aws = Arc::new(Aws::new(&session, cluster, settings, registry).unwrap());
    tokio::spawn(aws.keep_up());
    aws
}

/// The quick start's class, resolved and ready.
async fn ready_class(aws: &Aws, made: &QuickStart) -> NodeClass {
    let discovery = json!([{"tags": {"karpenter.sh/discovery": made.cluster}}]);
    let key = NodeClassRef {
        group: "karpenter.k8s.aws".to_owned(),
        kind: "EC2NodeClass".to_owned(),
        name: "default".to_owned(),
    };
    let mut class = NodeClass::new(meta("default", "uid-of-class"), key);
    class.spec = Arc::new(json!({
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "role": made.role,
        "subnetSelectorTerms": discovery,
        "securityGroupSelectorTerms": discovery,
        "tags": {"team": "green"},
    }));
    let found = aws.resolve_node_class(&class).await.unwrap();
    class.status.resolved = found.status.clone();
    class.with_ready(Status::True, "Ready", "")
}

fn claim(uid: &str, requirements: Vec<RequirementEntry>) -> Claim {
    let name = format!("general-{uid}");
    Claim {
        meta: meta(&name, uid),
        spec: NodeClaim {
            name,
            labels: BTreeMap::from([("karpenter.sh/nodepool".to_owned(), "general".to_owned())]),
            annotations: BTreeMap::new(),
            node: NodeSpec {
                requirements,
                taints: Vec::new(),
                startup_taints: Vec::new(),
                node_class: NodeClassRef {
                    group: "karpenter.k8s.aws".to_owned(),
                    kind: "EC2NodeClass".to_owned(),
                    name: "default".to_owned(),
                },
                termination_grace: None,
                expire_after: NillableDuration::NEVER,
            },
            requests: [("cpu", Quantity::from_int(1))].into_iter().collect(),
        },
        finalizers: Vec::new(),
        owner_pool: None,
        status: ClaimStatus::default(),
    }
}

fn meta(name: &str, uid: &str) -> Meta {
    Meta {
        name: name.into(),
        uid: uid.into(),
        revision: Revision(1),
        generation: 1,
        created_at: Time::from_seconds(0),
        deleting_since: None,
    }
}
