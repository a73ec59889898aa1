//! A cluster and an account for one test at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use aws_sdk_ec2::types::{ResourceType, Tag, TagSpecification};
use aws_sdk_sqs::types::QueueAttributeName;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Node};
use kerf_aws::{Depth, Queues, Session, TimeOuts};
use kerf_notices::zonal_shift::{CONFIG_MAP, CONFIG_MAP_KEY, UnixSeconds};
use kerf_runtime::clock::Clock;
use kerf_testbed::{AwsStandIn, ControlPlane, FaultProxy, Options, Shared, User, wait_until};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use tokio::sync::{Mutex, MutexGuard};

use crate::answers::Answers;

pub(crate) const REGION: &str = "us-west-2";
pub(crate) const ARN: &str = "arn:aws:eks:us-west-2:111122223333:cluster/prod";
/// The account that `deploy/zonal-autoshift.yaml` speaks of.
pub(crate) const ACCOUNT: &str = "system:serviceaccount:default:karpenter-sqs-subscriber";
/// An account that may do all of that but change pools.
pub(crate) const READER: &str = "system:serviceaccount:default:reader";

/// A shared machine may be slow; no test here is about slowness.
const SOON: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(100);
const PATIENT: TimeOuts =
    TimeOuts { connect: Duration::from_secs(20), call: Duration::from_secs(60) };
/// 2023-11-16T00:00:00Z.
const DAY: i64 = 1_700_092_800;

/// As dead letters. Three in public; here a killed daemon's last poll, which the stand-in carries on,
/// may take a message to nowhere.
pub(crate) const RECEIVES_MAX: u32 = 6;

static CONTROL_PLANE: Shared = Shared::new(|| {
    let member = |name: &str| User::new(name).in_group("system:serviceaccounts");
    Options::api_server().user(member(ACCOUNT)).user(member(READER))
});
static TURN: Mutex<()> = Mutex::const_new(());
static QUEUES_MADE: AtomicU32 = AtomicU32::new(0);

fn aws() -> &'static AwsStandIn {
    static AWS: OnceLock<AwsStandIn> = OnceLock::new();
    AWS.get_or_init(|| AwsStandIn::start().unwrap())
}

/// A cluster and an account.
pub(crate) struct Place {
    _turn: MutexGuard<'static, ()>,
    pub(crate) control_plane: &'static ControlPlane,
    pub(crate) client: Client,
    pub(crate) answers: Answers,
    pub(crate) proxy: FaultProxy,
    pub(crate) session: Session,
    pub(crate) queues: Queues,
    pub(crate) queue_url: String,
    pub(crate) dead_letters_url: String,
    zone_ids: BTreeMap<String, String>,
    time: Arc<AtomicI64>,
    announced: AtomicU32,
}

impl Place {
    /// A cluster without pools and nodes, an account with three subnets, and an empty queue.
    pub(crate) async fn new() -> Self {
        let turn = TURN.lock().await;
        let control_plane = CONTROL_PLANE.get();
        static PREPARED: OnceLock<()> = OnceLock::new();
        PREPARED.get_or_init(|| prepare(control_plane));
        clean(control_plane);
        let proxy = FaultProxy::start(aws().endpoint_url()).unwrap();
        let session = Session::of_stand_in(&proxy.endpoint_url(), REGION, PATIENT).await;
        let vpc_id = network(&session).await;
        let zones = session.network().zones().await.unwrap();
        let queues = session.queues();
        let (queue_url, dead_letters_url) = queue(&session).await;
        Self {
            _turn: turn,
            control_plane,
            client: control_plane.client().await.unwrap(),
            answers: Answers::start(ARN, &vpc_id),
            proxy,
            session,
            queues,
            queue_url,
            dead_letters_url,
            zone_ids: zones.into_iter().map(|zone| (zone.name, zone.id)).collect(),
            time: Arc::new(AtomicI64::new(DAY)),
            announced: AtomicU32::new(0),
        }
    }

    /// The same cluster, with these objects.
    pub(crate) async fn with(objects: &[Value]) -> Self {
        let place = Self::new().await;
        place.apply(objects);
        place
    }

    pub(crate) fn apply(&self, objects: &[Value]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        self.control_plane.apply(&list.to_string()).unwrap();
    }

    /// A session that talks to the stand-ins of EKS and ARC.
    pub(crate) async fn answering_session(&self) -> Session {
        Session::of_stand_in(&self.answers.endpoint_url(), REGION, PATIENT).await
    }

    pub(crate) fn now(&self) -> UnixSeconds {
        UnixSeconds::new(self.time.load(Ordering::SeqCst)).unwrap()
    }

    /// The clock that tests move.
    pub(crate) fn clock(&self) -> Clock {
        let time = self.time.clone();
        Clock::moved(move || Timestamp::from_second(time.load(Ordering::SeqCst)).unwrap())
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.time.fetch_add(seconds, Ordering::SeqCst);
    }

    pub(crate) fn zone_id(&self, letter: &str) -> &str {
        &self.zone_ids[&crate::objects::zone(letter)]
    }

    /// An announcement about a zone, made now.
    pub(crate) fn announcement(&self, detail_type: &str, letter: &str) -> Value {
        let number = self.announced.fetch_add(1, Ordering::SeqCst);
        json!({
            "version": "0", "id": format!("event-{number}"), "detail-type": detail_type,
            "source": "aws.arc-zonal-shift", "account": "111122223333",
            "time": self.now().to_string(), "region": REGION, "resources": [ARN],
            "detail": {"version": "0.0.1", "data": "",
                "metadata": {"awayFrom": self.zone_id(letter), "notes": ""}},
        })
    }

    pub(crate) async fn send(&self, body: String) {
        let refused = self.queues.send(&self.queue_url, vec![(body, vec![])]).await.unwrap();
        assert!(refused.is_empty(), "{refused:?}");
    }

    /// A second passes and AWS announces something about a zone.
    pub(crate) async fn announce(&self, detail_type: &str, letter: &str) {
        self.pass(1);
        self.send(self.announcement(detail_type, letter).to_string()).await;
    }

    /// Waits for something; fails with what a person would look at.
    pub(crate) async fn wait(&self, what: &str, condition: impl AsyncFn() -> bool) {
        let deadline = Instant::now() + SOON;
        while !condition().await {
            if Instant::now() > deadline {
                let kinds = "nodepools,nodes,configmaps,events";
                let seen = self.control_plane.kubectl(&["get", kinds, "--output=yaml"]);
                panic!("not within {SOON:?}: {what}\n{}", seen.unwrap_or_default());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until the queue is empty: every message was received and deleted.
    pub(crate) async fn wait_until_deleted(&self) {
        self.wait("the queue is empty", async || self.depth().await == Depth::default()).await;
    }

    pub(crate) async fn depth(&self) -> Depth {
        self.queues.depth(&self.queue_url).await.unwrap()
    }

    /// A pool as the server has it.
    pub(crate) async fn pool(&self, name: &str) -> Value {
        json!(self.pools().get(name).await.unwrap())
    }

    pub(crate) async fn has_pool(&self, name: &str) -> bool {
        self.pools().get_opt(name).await.unwrap().is_some()
    }

    /// A pool as text, but for what the server counts.
    pub(crate) async fn snapshot(&self, name: &str) -> String {
        let mut pool = self.pool(name).await;
        for field in ["resourceVersion", "generation", "managedFields"] {
            pool["metadata"].as_object_mut().unwrap().remove(field);
        }
        pool.to_string()
    }

    pub(crate) async fn requirements(&self, name: &str) -> Value {
        self.pool(name).await["spec"]["template"]["spec"]["requirements"].clone()
    }

    pub(crate) async fn wait_for_requirements(&self, name: &str, expected: &[Value]) {
        let what = format!("{name} requires {}", json!(expected));
        let is_so = async || self.requirements(name).await == json!(expected);
        self.wait(&what, is_so).await;
    }

    /// The annotation with the zones a pool is kept out of.
    pub(crate) async fn away(&self, name: &str) -> String {
        let annotations = self.pool(name).await["metadata"]["annotations"].clone();
        let away = annotations["zonal-autoshift.eks.amazonaws.com/away-zones"].as_str();
        away.unwrap_or_default().to_owned()
    }

    pub(crate) async fn node(&self, name: &str) -> Node {
        Api::<Node>::all(self.client.clone()).get(name).await.unwrap()
    }

    /// The stored state.
    pub(crate) async fn stored(&self) -> String {
        let api = Api::<ConfigMap>::namespaced(self.client.clone(), "default");
        let map = api.get_opt(CONFIG_MAP).await.unwrap().unwrap_or_default();
        map.data.unwrap_or_default().remove(CONFIG_MAP_KEY).unwrap_or_default()
    }

    /// Messages of Events with that reason about a pool.
    pub(crate) async fn events(&self, pool: &str, reason: &str) -> Vec<String> {
        let fields = format!("involvedObject.name={pool},reason={reason}");
        let api = Api::<Event>::namespaced(self.client.clone(), "default");
        let events = api.list(&ListParams::default().fields(&fields)).await.unwrap();
        events.items.into_iter().filter_map(|event| event.message).collect()
    }

    fn pools(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodePool");
        Api::all_with(self.client.clone(), &ApiResource::from_gvk(&kind))
    }
}

/// Definitions and the manifest under test.
fn prepare(control_plane: &ControlPlane) {
    control_plane.apply_files(&["deploy/crds"]).unwrap();
    apply_manifest(control_plane);
    // They are established a moment before objects can be listed.
    let kinds = "nodepools,provisioners,ec2nodeclasses,awsnodetemplates";
    let is_served = || control_plane.kubectl(&["get", kinds]).is_ok();
    assert!(wait_until(SOON, is_served), "{kinds} cannot be listed");
    let bind = |kind: &str, role: &str| {
        let role = format!("--{kind}={role}");
        let account = "--serviceaccount=default:reader";
        let name = "reader";
        let object = if kind == "role" { "rolebinding" } else { "clusterrolebinding" };
        control_plane.kubectl(&["create", object, name, &role, account]).unwrap();
    };
    let read = [
        "create",
        "clusterrole",
        "reader",
        "--verb=get,list,watch",
        "--resource=nodepools.karpenter.sh,provisioners.karpenter.sh,nodes,\
         ec2nodeclasses.karpenter.k8s.aws,awsnodetemplates.karpenter.k8s.aws",
    ];
    control_plane.kubectl(&read).unwrap();
    bind("clusterrole", "reader");
    bind("role", "karpenter-sqs-subscriber");
}

/// Applies the manifest under test.
pub(crate) fn apply_manifest(control_plane: &ControlPlane) {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/zonal-autoshift.yaml");
    control_plane.kubectl(&["apply", "--server-side", "--filename", manifest]).unwrap();
}

/// What the test before left.
fn clean(control_plane: &ControlPlane) {
    apply_manifest(control_plane);
    let kinds = "nodepools,ec2nodeclasses,nodes,events";
    control_plane.kubectl(&["delete", kinds, "--all", "--wait=true"]).unwrap();
    let gone = "--ignore-not-found";
    control_plane.kubectl(&["delete", "configmap", CONFIG_MAP, gone]).unwrap();
    control_plane.kubectl(&["delete", "crd", "nodeclasses.eks.amazonaws.com", gone]).unwrap();
    let is_unserved = || control_plane.kubectl(&["get", "--raw=/apis/eks.amazonaws.com"]).is_err();
    assert!(wait_until(SOON, is_unserved), "the definition of Auto Mode is still served");
}

/// A network with a subnet in each of three zones, tagged for discovery.
async fn network(session: &Session) -> String {
    let client = aws_sdk_ec2::Client::new(session.sdk_config());
    let vpc = client.create_vpc().cidr_block("10.0.0.0/16").send().await.unwrap();
    let vpc_id = vpc.vpc().unwrap().vpc_id().unwrap().to_owned();
    for (number, letter) in ["a", "b", "c"].iter().enumerate() {
        let tag = Tag::builder().key("karpenter.sh/discovery").value("prod").build();
        let tags = TagSpecification::builder().resource_type(ResourceType::Subnet).tags(tag);
        client
            .create_subnet()
            .vpc_id(&vpc_id)
            .cidr_block(format!("10.0.{number}.0/24"))
            .availability_zone(crate::objects::zone(letter))
            .tag_specifications(tags.build())
            .send()
            .await
            .unwrap();
    }
    vpc_id
}

/// A queue with dead letters. What is received and not deleted comes again after a second.
async fn queue(session: &Session) -> (String, String) {
    let client = aws_sdk_sqs::Client::new(session.sdk_config());
    let number = QUEUES_MADE.fetch_add(1, Ordering::SeqCst);
    let name = format!("zonal-shift-{number}");
    let dead = client.create_queue().queue_name(format!("{name}-dlq")).send().await.unwrap();
    let dead_url = dead.queue_url.unwrap();
    let call = client.get_queue_attributes().queue_url(&dead_url);
    let attributes = call.attribute_names(QueueAttributeName::QueueArn).send().await.unwrap();
    let arn = &attributes.attributes.unwrap()[&QueueAttributeName::QueueArn];
    let policy = json!({"deadLetterTargetArn": arn, "maxReceiveCount": RECEIVES_MAX}).to_string();
    let queue = client.create_queue().queue_name(&name);
    let queue = queue
        .attributes(QueueAttributeName::VisibilityTimeout, "1")
        .attributes(QueueAttributeName::RedrivePolicy, policy);
    (queue.send().await.unwrap().queue_url.unwrap(), dead_url)
}
