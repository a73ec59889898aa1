//! What a node class is offered as stock, prices, reservations and nodes change.

use std::collections::BTreeMap;

use kerf_catalog::shape::PlacementStrategy;
use kerf_engine::observed::{ClaimStatus, Meta, NodeProfile, Revision};
use kerf_engine::time::Time;
use kerf_model::claim::NodeClaim;
use kerf_model::duration::NillableDuration;
use kerf_model::instance_type::Offering;
use kerf_model::node_spec::NodeSpec;
use kerf_model::quantity::Quantity;
use kerf_model::resources::{MEMORY, ResourceList};
use kerf_runtime::metrics::Registry;
use serde_json::json;

use super::*;
use crate::provider::{AwsSettings, Cluster, KubernetesVersion};
use crate::{Session, TimeOuts};

const SPOT: &str = "spot";
const ON_DEMAND: &str = "on-demand";
const LARGE: &str = "m5.large";

/// Offers of us-east-1 from the built-in tables; nothing is ever called.
async fn offers() -> Offers {
    let session =
        Session::of_stand_in("http://localhost:1", "us-east-1", TimeOuts::default()).await;
    let cluster = Cluster {
        name: "tidepool".to_owned(),
        region: "us-east-1".to_owned(),
        endpoint: "https://api".to_owned(),
        ca_bundle: "Y2E=".to_owned(),
        version: KubernetesVersion { major: 1, minor: 36 },
        service_cidr: None,
        dns_ip: None,
    };
    let context = Context::new(&session, cluster, AwsSettings::default(), Registry::default());
    let offers = Offers::new(context).expect("there is no price file");
    replace(&offers.stock, Stock::built_in("us-east-1").expect("the region is known"));
    offers
}

fn meta(name: &str) -> Meta {
    Meta {
        name: name.into(),
        uid: name.into(),
        revision: Revision(1),
        generation: 1,
        created_at: Time::from_seconds(0),
        deleting_since: None,
    }
}

fn class_ref() -> NodeClassRef {
    NodeClassRef {
        group: "karpenter.k8s.aws".to_owned(),
        kind: "EC2NodeClass".to_owned(),
        name: "default".to_owned(),
    }
}

/// A class with two subnets in one zone and one in another, and a reservation.
fn class() -> NodeClass {
    let mut class = NodeClass::new(meta("default"), class_ref());
    class.hash = Some("7".to_owned());
    class.spec = Arc::new(json!({
        "amiSelectorTerms": [{ "alias": "al2023@latest" }],
        "subnetSelectorTerms": [{ "id": "subnet-1" }],
        "securityGroupSelectorTerms": [{ "id": "sg-1" }],
        "role": "nodes",
    }));
    class.status.resolved = Arc::new(json!({
        "amis": [{ "id": "ami-1", "requirements": [] }],
        "subnets": [
            { "id": "subnet-1", "zone": "us-east-1a", "zoneID": "use1-az1" },
            { "id": "subnet-2", "zone": "us-east-1a", "zoneID": "use1-az1" },
            { "id": "subnet-3", "zone": "us-east-1b", "zoneID": "use1-az2" },
        ],
        "capacityReservations": [{
            "id": "cr-1", "availabilityZone": "us-east-1a", "instanceType": LARGE,
            "instanceMatchCriteria": "targeted", "ownerID": "111122223333",
        }],
    }));
    class
}

fn large(offers: &Offers, class: &NodeClass) -> InstanceType {
    let types = offers.of(class, None).expect("the class can be read");
    types.iter().find(|it| it.name == LARGE).expect("it is sold there").clone()
}

fn value<'a>(offering: &'a Offering, key: &str) -> &'a str {
    let entry = offering.requirements.iter().find(|entry| entry.key == key);
    entry.and_then(|entry| entry.values.first()).map_or("", String::as_str)
}

/// Where m5.large can be had, such as `spot us-east-1a`.
fn available(offers: &Offers, class: &NodeClass) -> Vec<String> {
    let large = large(offers, class);
    let here = large.offerings.iter().filter(|offering| offering.is_launchable());
    let words = |it: &Offering| {
        format!("{} {}", value(it, well_known::CAPACITY_TYPE), value(it, well_known::ZONE))
    };
    here.map(words).collect()
}

#[tokio::test]
async fn what_is_out_of_stock_is_so_in_its_zone_and_capacity_type_alone() {
    let (offers, class) = (offers().await, class());
    let all =
        ["on-demand us-east-1a", "spot us-east-1a", "on-demand us-east-1b", "spot us-east-1b"];
    assert_eq!(available(&offers, &class), all);
    offers.unavailable().mark_offering(SPOT, LARGE, "us-east-1a", None);
    offers.unavailable().mark_offering(SPOT, "c5.large", "us-east-1b", None);
    assert_eq!(available(&offers, &class), [all[0], all[2], all[3]]);
    offers.unavailable().mark_capacity_type(SPOT);
    assert_eq!(available(&offers, &class), [all[0], all[2]]);
}

/// The class with images that ask for this.
fn class_with_images(requirements: &Value) -> NodeClass {
    let mut class = class();
    let mut resolved = Value::clone(&class.status.resolved);
    resolved["amis"] = json!([{ "id": "ami-1", "requirements": requirements }]);
    class.status.resolved = Arc::new(resolved);
    class
}

#[tokio::test]
async fn what_no_image_of_the_class_runs_on_cannot_be_had_for_it() {
    let offers = offers().await;
    let is = |key: &str, operator: &str, values: &[&str]| json!([{ "key": key, "operator": operator, "values": values }]);
    let arch = |value| class_with_images(&is("kubernetes.io/arch", "In", &[value]));
    assert_eq!(available(&offers, &arch("arm64")), [""; 0]);
    assert_eq!(available(&offers, &arch("amd64")).len(), 4, "the other class is unaffected");
    let gpu = "karpenter.k8s.aws/instance-gpu-count";
    assert_eq!(available(&offers, &class_with_images(&is(gpu, "Exists", &[]))), [""; 0]);
    assert_eq!(available(&offers, &class_with_images(&is(gpu, "DoesNotExist", &[]))).len(), 4);
    let mut unknown = arch("arm64");
    let mut resolved = Value::clone(&unknown.status.resolved);
    resolved["amis"] = json!([]);
    unknown.status.resolved = Arc::new(resolved);
    assert_eq!(available(&offers, &unknown).len(), 4, "images that are not known rule out nothing");
}

#[tokio::test]
async fn a_zone_is_full_when_all_its_subnets_are() {
    let (offers, class) = (offers().await, class());
    offers.unavailable().mark_subnet("subnet-1");
    assert_eq!(available(&offers, &class).len(), 4, "subnet-2 has room");
    offers.unavailable().mark_subnet("subnet-2");
    assert_eq!(available(&offers, &class), ["on-demand us-east-1b", "spot us-east-1b"]);
}

#[tokio::test]
async fn the_list_stays_the_same_until_something_changes_and_then_word_is_sent() {
    let (offers, mut class) = (offers().await, class());
    let first = offers.of(&class, None).expect("the class can be read");
    let again = offers.of(&class, None).expect("the class can be read");
    assert!(Arc::ptr_eq(&first, &again), "pools of one class share it");
    let changed = offers.changed();
    offers.unavailable().mark_offering(SPOT, LARGE, "us-east-1a", None);
    changed.await;
    let later = offers.of(&class, None).expect("the class can be read");
    assert!(!Arc::ptr_eq(&first, &later));
    class.status.resolved = Arc::new(json!({ "subnets": [
        { "id": "subnet-3", "zone": "us-east-1b", "zoneID": "use1-az2" }] }));
    assert_eq!(available(&offers, &class).len(), 2, "one zone is left");
}

#[tokio::test]
async fn lists_share_what_did_not_change_also_among_classes() {
    let (offers, class) = (offers().await, class());
    let first = large(&offers, &class);
    let shares = |other: &InstanceType| {
        (
            Arc::ptr_eq(&first.requirements, &other.requirements),
            Arc::ptr_eq(&first.capacity, &other.capacity),
            Arc::ptr_eq(&first.overhead, &other.overhead),
            Arc::ptr_eq(&first.offerings, &other.offerings),
        )
    };
    offers.unavailable().mark_offering(SPOT, "c5.large", "us-east-1a", None);
    assert_eq!(shares(&large(&offers, &class)), (true, true, true, true), "of another type");
    offers.unavailable().mark_offering(SPOT, LARGE, "us-east-1a", None);
    assert_eq!(shares(&large(&offers, &class)), (true, true, true, false));
    let (node, claim) = node(7_000, "ami-1", "7");
    offers.see(&node, &claim);
    assert_eq!(shares(&large(&offers, &class)), (true, false, true, false));
    // Labels of a type that is reserved for a class are its own; those of others are not.
    let labels = |class: &NodeClass| {
        let types = offers.of(class, None).expect("the class can be read");
        let it = types.iter().find(|it| it.name == "c5.large").expect("it is sold there");
        it.requirements.clone()
    };
    let mut other = class.clone();
    other.key.name = "other".to_owned();
    assert!(Arc::ptr_eq(&labels(&class), &labels(&other)), "classes agree");
    other.meta.generation = 2;
    other.status.resolved = Arc::new(json!({ "subnets": [
        { "id": "subnet-3", "zone": "us-east-1b", "zoneID": "use1-az2" }] }));
    assert!(!Arc::ptr_eq(&labels(&class), &labels(&other)), "it has other zones");
}

#[tokio::test]
async fn what_a_class_computes_for_each_type_is_in_the_list_and_not_shared_with_others() {
    let (offers, plain) = (offers().await, class());
    let with = |name: &str, text: &str| {
        let mut class = class();
        class.key.name = name.to_owned();
        let mut spec = Value::clone(&class.spec);
        spec["kubelet"] = json!({ "maxPods": text });
        class.spec = Arc::new(spec);
        class
    };
    let pods = |class: &NodeClass| {
        let types = offers.of(class, None).expect("the class can be read");
        ["m5.large", "m5.4xlarge"].map(|name| {
            let it = types.iter().find(|it| it.name == name).expect("it is sold there");
            it.capacity.quantity("pods").to_string()
        })
    };
    assert_eq!(pods(&plain), ["29", "234"]);
    assert_eq!(pods(&with("one", "vcpus * 5")), ["10", "80"]);
    assert_eq!(pods(&with("other", "vcpus * 6")), ["12", "96"]);
}

#[tokio::test]
async fn reserved_capacity_is_offered_as_long_as_there_is_some_and_the_gate_is_on() {
    let (offers, mut class) = (offers().await, class());
    let reserved = "reserved us-east-1a".to_owned();
    assert!(!available(&offers, &class).contains(&reserved), "nothing was listed");
    offers.reservations().listed("cr-1", 1);
    assert!(available(&offers, &class).contains(&reserved));
    offers.reservations().launched("cr-1");
    assert!(!available(&offers, &class).contains(&reserved));
    offers.reservations().ended("cr-1");
    let mut status = Value::clone(&class.status.resolved);
    status["capacityReservations"][0]["state"] = json!("expiring");
    class.status.resolved = Arc::new(status);
    assert!(!available(&offers, &class).contains(&reserved), "it is about to end");
}

#[tokio::test]
async fn what_is_announced_about_an_instance_holds_for_those_like_it() {
    let (offers, class) = (offers().await, class());
    offers.reservations().listed("cr-1", 5);
    let labels = [
        (well_known::INSTANCE_TYPE, LARGE),
        (well_known::ZONE, "us-east-1a"),
        (aws::CAPACITY_RESERVATION_ID, "cr-1"),
    ];
    let labels: BTreeMap<String, String> =
        labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let hear = |kind| offers.hear(&AnnouncedInstance { kind, labels: labels.clone() });
    hear(NoticeKind::RebalanceRecommendation);
    hear(NoticeKind::InstanceTerminated);
    assert_eq!(available(&offers, &class).len(), 5);
    hear(NoticeKind::SpotInterrupted);
    assert!(!available(&offers, &class).contains(&"spot us-east-1a".to_owned()));
    hear(NoticeKind::CapacityReservationInterrupted);
    let left = ["on-demand us-east-1a", "on-demand us-east-1b", "spot us-east-1b"];
    assert_eq!(available(&offers, &class), left);
}

#[tokio::test]
async fn a_class_waits_for_its_placement_group_and_then_has_an_offering_in_each_partition() {
    let (offers, mut class) = (offers().await, class());
    let mut spec = Value::clone(&class.spec);
    spec["placementGroupSelector"] = json!({ "id": "pg-1" });
    class.spec = Arc::new(spec);
    assert!(matches!(offers.of(&class, None), Err(Failure::Unavailable { .. })));
    let group = PlacementGroup {
        id: "pg-1".to_owned(),
        strategy: PlacementStrategy::Partition,
        partitions: 3,
    };
    let scope = PlacementScope { group: "pg-1".to_owned(), partition: Some(2) };
    offers.unavailable().mark_offering(SPOT, LARGE, "us-east-1a", Some(&scope));
    let types = offers.of(&class, Some(group)).expect("the group is known");
    let large = types.iter().find(|it| it.name == LARGE).expect("it is sold there");
    let of_spot = |it: &&Offering| {
        value(it, well_known::ZONE) == "us-east-1a"
            && value(it, well_known::CAPACITY_TYPE) == SPOT
            && it.available
    };
    let left = large.offerings.iter().filter(of_spot);
    let left: Vec<&str> = left.map(|it| value(it, aws::PLACEMENT_GROUP_PARTITION)).collect();
    assert_eq!(left, ["1", "3"]);
}

/// A node of an m5.large with so much memory, and its claim.
fn node(mib: i64, image: &str, class_hash: &str) -> (Node, Claim) {
    let labels = [(well_known::INSTANCE_TYPE, LARGE), (well_known::REGISTERED, "true")];
    let mut capacity = ResourceList::new();
    capacity.insert(MEMORY, Quantity::from_bytes(mib << 20));
    let node = Node {
        meta: meta("node"),
        labels: labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        annotations: BTreeMap::new(),
        finalizers: Vec::new(),
        owner_claim: None,
        provider_id: None,
        taints: Vec::new(),
        capacity,
        allocatable: ResourceList::new(),
        is_ready: true,
        volume_limits: BTreeMap::new(),
        profile: NodeProfile::default(),
    };
    let spec = NodeClaim {
        name: "claim".to_owned(),
        labels: BTreeMap::new(),
        annotations: [(crate::provider::info::HASH.to_owned(), class_hash.to_owned())].into(),
        node: NodeSpec {
            requirements: Vec::new(),
            taints: Vec::new(),
            startup_taints: Vec::new(),
            node_class: class_ref(),
            termination_grace: None,
            expire_after: NillableDuration::NEVER,
        },
        requests: ResourceList::new(),
    };
    let status = ClaimStatus { image_id: Some(image.to_owned()), ..ClaimStatus::default() };
    let claim =
        Claim { meta: meta("claim"), spec, finalizers: Vec::new(), owner_pool: None, status };
    (node, claim)
}

#[tokio::test]
async fn nodes_tell_how_much_memory_a_type_has_with_an_image_and_a_class() {
    let (offers, class) = (offers().await, class());
    let memory = |offers: &Offers| {
        large(offers, &class).capacity.get(MEMORY).map(|memory| memory.to_string())
    };
    assert_eq!(memory(&offers).as_deref(), Some("7577Mi"), "by the share of the hypervisor");
    for (mib, image, hash) in [(7_000, "ami-other", "7"), (7_000, "ami-1", "of another class")] {
        let (node, claim) = node(mib, image, hash);
        offers.see(&node, &claim);
        assert_eq!(memory(&offers).as_deref(), Some("7577Mi"));
    }
    for (mib, known) in [(7_800, "7800Mi"), (7_790, "7790Mi"), (7_800, "7790Mi")] {
        let (node, claim) = node(mib, "ami-1", "7");
        offers.see(&node, &claim);
        assert_eq!(memory(&offers).as_deref(), Some(known), "the least that was seen");
    }
    let (mut joining, claim) = node(100, "ami-1", "7");
    joining.labels.remove(well_known::REGISTERED);
    offers.see(&joining, &claim);
    assert_eq!(memory(&offers).as_deref(), Some("7790Mi"), "it has not joined");
}

#[tokio::test]
async fn a_price_that_jumps_is_in_the_next_list() {
    let (offers, class) = (offers().await, class());
    let price = |offers: &Offers| {
        let large = large(offers, &class);
        let on_demand = |it: &&Offering| value(it, well_known::CAPACITY_TYPE) == ON_DEMAND;
        large.offerings.iter().find(on_demand).map(|it| it.price.micros_per_hour())
    };
    assert_eq!(price(&offers), Some(96_000));
    let mut prices = (*read(&offers.prices)).clone();
    let jumped = kerf_model::price::Price::from_micros_per_hour(200_000);
    prices.live.on_demand.insert(LARGE.to_owned(), jumped);
    offers.set_prices(prices);
    assert_eq!(price(&offers), Some(200_000));
}
