//! An account with a cluster, and the provider in it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kerf_aws::provider::{Aws, AwsSettings, Cluster, KubernetesVersion};
use kerf_aws::{Session, TimeOuts};
use kerf_engine::condition::Status;
use kerf_engine::event::{ResolvedCondition, ResolvedNodeClass};
use kerf_engine::observed::{Meta, NodeClass, Revision};
use kerf_engine::time::Time;
use kerf_kube::Provider;
use kerf_model::node_spec::NodeClassRef;
use kerf_runtime::metrics::Registry;
use kerf_testbed::{AwsStandIn, Fault, FaultProxy, FaultRule, QuickStart};
use serde_json::{Value, json};

/// What the stand-in takes on a busy machine.
const PATIENCE: TimeOuts =
    TimeOuts { connect: Duration::from_secs(10), call: Duration::from_secs(60) };

/// An account with a cluster, and the provider in it.
pub(crate) struct Account {
    pub(crate) stand_in: AwsStandIn,
    pub(crate) made: QuickStart,
    pub(crate) aws: Aws,
}

impl Account {
    pub(crate) async fn open() -> Self {
        Self::open_with(AwsSettings::default()).await
    }

    pub(crate) async fn open_with(settings: AwsSettings) -> Self {
        let stand_in = AwsStandIn::start().unwrap();
        let made = stand_in.quick_start("demo");
        let aws = provider(stand_in.endpoint_url(), &made, settings).await;
        Self { stand_in, made, aws }
    }

    /// Forgets everything that the provider remembers, as a new process would have.
    pub(crate) async fn restart(&mut self) {
        let url = self.stand_in.endpoint_url().to_owned();
        self.aws = provider(&url, &self.made, AwsSettings::default()).await;
    }

    /// Restarts, and lets calls that contain this fail from now on.
    pub(crate) async fn through_faults(&mut self, contains: &str) -> FaultProxy {
        let proxy = FaultProxy::start(self.stand_in.endpoint_url()).unwrap();
        proxy.set_rules(vec![FaultRule {
            contains: contains.to_owned(),
            every: 1,
            at_most: u64::MAX,
            fault: Fault::Unavailable,
        }]);
        self.aws = provider(&proxy.endpoint_url(), &self.made, AwsSettings::default()).await;
        proxy
    }

    /// The quick start's class, with some fields said otherwise; null takes one away.
    pub(crate) fn class(&self, name: &str, otherwise: &Value) -> NodeClass {
        let cluster = &self.made.cluster;
        let mut spec = json!({
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "role": self.made.role,
            "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": cluster}}],
            "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": cluster}}],
        });
        for (field, value) in otherwise.as_object().unwrap() {
            spec[field] = value.clone();
        }
        spec.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let meta = Meta {
            name: name.into(),
            uid: format!("uid-of-{name}").into(),
            revision: Revision(1),
            generation: 1,
            created_at: Time::from_seconds(0),
            deleting_since: None,
        };
        let (group, kind) = ("karpenter.k8s.aws".to_owned(), "EC2NodeClass".to_owned());
        let mut class = NodeClass::new(meta, NodeClassRef { group, kind, name: name.to_owned() });
        class.spec = Arc::new(spec);
        class
    }

    /// Resolves a class, and stores what was found on it.
    pub(crate) async fn resolve(&self, class: &mut NodeClass) -> Conditions {
        let found: ResolvedNodeClass = self.aws.resolve_node_class(class).await.unwrap();
        class.status.resolved = found.status.clone();
        Conditions::of(found)
    }

    /// How often an action was called.
    pub(crate) fn count(&self, action: &str) -> usize {
        self.stand_in.calls().iter().filter(|call| call.action == action).count()
    }
}

/// What was said of each part.
#[derive(Debug)]
pub(crate) struct Conditions {
    pub(crate) all: BTreeMap<String, ResolvedCondition>,
    pub(crate) found: ResolvedNodeClass,
}

impl Conditions {
    fn of(found: ResolvedNodeClass) -> Self {
        let all = found.conditions.iter().map(|it| (it.kind.clone(), it.clone())).collect();
        Self { all, found }
    }

    /// The conditions that do not hold, as `kind=status reason`.
    pub(crate) fn lacking(&self) -> Vec<String> {
        let lacking = self.all.values().filter(|it| it.status != Status::True);
        lacking.map(|it| format!("{}={} {}", it.kind, it.status, it.reason)).collect()
    }

    pub(crate) fn message(&self, kind: &str) -> &str {
        self.all.get(kind).map_or("not named", |it| &it.message)
    }
}

async fn provider(url: &str, made: &QuickStart, settings: AwsSettings) -> Aws {
    let session = Session::of_stand_in(url, &made.region, PATIENCE).await;
    let cluster = Cluster {
        name: made.cluster.clone(),
        region: made.region.clone(),
        endpoint: made.endpoint.clone(),
        ca_bundle: made.ca.clone(),
        version: KubernetesVersion::parse(&made.version).unwrap(),
        service_cidr: None,
        dns_ip: None,
    };
    Aws::new(&session, cluster, settings, Registry::default()).unwrap()
}
