//! Who is given what the process before has left.

use std::sync::Mutex as StdMutex;

use aws_sdk_ec2::types::{
    InstanceType as Ec2InstanceType, Placement, Tag, Tenancy, builders::InstanceBuilder,
};
use kerf_model::labels::aws::INSTANCE_TENANCY;
use kerf_model::quantity::Quantity;

use super::super::fixtures::{any_of, instance_type, launch, offering};
use super::*;

fn described(id: &str, spot: bool) -> InstanceBuilder {
    let tag = |key: &str, value: &str| Tag::builder().key(key).value(value).build();
    Described::builder()
        .instance_id(id)
        .instance_type(Ec2InstanceType::M5Large)
        .subnet_id("subnet-a")
        .image_id("ami-1")
        .placement(placement().build())
        .set_spot_instance_request_id(spot.then(|| "sir-1".to_owned()))
        .tags(tag(NODE_POOL, "general"))
        .tags(tag(NODE_CLASS, "default"))
}

fn placement() -> aws_sdk_ec2::types::builders::PlacementBuilder {
    Placement::builder().availability_zone("a").tenancy(Tenancy::Default)
}

fn rules() -> LabelRules {
    LabelRules::core().with(&kerf_model::labels::aws::provider_labels())
}

fn suits(described: InstanceBuilder, launch: &Launch) -> bool {
    let ways = ["spot a 3", "on-demand b 9"].map(offering).to_vec();
    let types = [instance_type("m5.large", ways)];
    LeftOver::of(&described.build()).is_some_and(|it| it.suits(launch, &types, &rules()))
}

#[test]
fn an_instance_goes_to_a_claim_that_could_have_got_it_and_to_no_other() {
    let any = launch(Vec::new());
    assert!(suits(described("i-1", true), &any));
    assert!(!suits(described("i-1", false), &any), "on demand is sold in another zone alone");
    assert!(!suits(described("i-1", true).instance_type(Ec2InstanceType::C5Large), &any));
    let named = |it: InstanceBuilder| it.tags(Tag::builder().key(tags::NODE_CLAIM).build());
    assert!(suits(named(described("i-1", true)), &any), "a tag without a value says nothing");
    let of_claim = Tag::builder().key(tags::NODE_CLAIM).value("general-x").build();
    assert!(!suits(described("i-1", true).tags(of_claim), &any), "it is somebody's");
    let grouped = placement().group_id("pg-1").build();
    assert!(!suits(described("i-1", true).placement(grouped), &any));
    assert!(!suits(described("i-1", true).capacity_reservation_id("cr-1"), &any));

    let other_type = launch(vec![any_of("node.kubernetes.io/instance-type", &["c5.large"])]);
    assert!(!suits(described("i-1", true), &other_type));
    let dedicated = launch(vec![any_of(INSTANCE_TENANCY, &["dedicated"])]);
    assert!(!suits(described("i-1", true), &dedicated));
    let mut large = launch(Vec::new());
    large.claim.spec.requests.insert("cpu", Quantity::from_int(5));
    assert!(!suits(described("i-1", true), &large), "it has four");
    let mut of_pool = launch(Vec::new());
    of_pool.claim.spec.labels.insert(NODE_POOL.to_owned(), "other".to_owned());
    assert!(!suits(described("i-1", true), &of_pool));
}

#[test]
fn only_claims_from_before_are_given_one_and_only_where_all_of_their_pool_are_alike() {
    let claim = |uid: &str, label: &str| {
        let mut claim = launch(Vec::new()).claim;
        claim.meta.uid = uid.into();
        claim.spec.labels.insert("team".to_owned(), label.to_owned());
        claim
    };
    let at_start = |claims: &[Claim]| {
        let left_overs = LeftOvers::default();
        left_overs.take_over(claims.iter());
        left_overs.0.read().unwrap().clone()
    };
    let (one, two, other) = (claim("uid-1", "a"), claim("uid-2", "a"), claim("uid-3", "b"));
    let alike = at_start(&[one.clone(), two.clone()]);
    let rules = &rules();
    assert!(alike.is_told_alike(&one, rules) && alike.is_told_alike(&two, rules));
    assert!(!alike.is_told_alike(&claim("uid-4", "a"), rules), "it was made later");
    let unlike = at_start(&[one.clone(), other.clone()]);
    assert!(!unlike.is_told_alike(&one, rules), "the instance may be labelled for the other");
    let mut launched = two.clone();
    launched.status.provider_id = Some("aws:///a/i-2".into());
    let at_start = at_start(&[one, launched]);
    assert_eq!(at_start.claimed, HashSet::from(["i-2".to_owned()]));
    assert_eq!(at_start.in_doubt.len(), 1);
}

fn of_uid(uid: &str) -> Launch {
    let mut launch = launch(Vec::new());
    launch.claim.meta.uid = uid.into();
    launch
}

/// EC2, which describes nothing at first and then more and more: from how many seconds on after
/// the take-over which instances.
struct Slow {
    began_at: Instant,
    described: Vec<(u64, &'static str)>,
    /// For so many seconds our own launches are under way.
    is_busy_for: u64,
    asked: StdMutex<u32>,
}

impl Slow {
    fn new(described: &[(u64, &'static str)]) -> Self {
        let (described, asked) = (described.to_vec(), StdMutex::new(0));
        Self { began_at: Instant::now(), described, is_busy_for: 0, asked }
    }

    /// What a launch is given, and how many seconds after the take-over.
    async fn given(&self, left_overs: &LeftOvers, launch: &Launch) -> (Option<String>, u64) {
        let types = [instance_type("m5.large", vec![offering("spot a 3")])];
        let given = left_overs.take(launch, &types, &rules(), self).await.unwrap();
        (given.map(|it| it.id), self.began_at.elapsed().as_secs())
    }
}

impl Look for Slow {
    async fn look(&self) -> Result<Option<Vec<LeftOver>>> {
        *self.asked.lock().unwrap() += 1;
        let passed = self.began_at.elapsed().as_secs();
        let seen = self.described.iter().filter(|(from, _)| *from <= passed);
        let seen = seen.filter_map(|(_, id)| LeftOver::of(&described(id, true).build())).collect();
        Ok((passed >= self.is_busy_for).then_some(seen))
    }
}

fn taken_over(launches: &[&Launch]) -> LeftOvers {
    let left_overs = LeftOvers::default();
    left_overs.take_over(launches.iter().map(|it| &it.claim));
    left_overs
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_is_described_late_is_waited_for_and_given_once() {
    let (one, two, new) = (of_uid("uid-1"), of_uid("uid-2"), of_uid("uid-3"));
    let (left_overs, ec2) = (taken_over(&[&one, &two]), Slow::new(&[(3, "i-1"), (7, "i-2")]));
    let of_another = ec2.given(&left_overs, &new).await;
    assert_eq!(of_another, (None, 0), "what was made since was launched by nobody");
    let again = of_uid("uid-1");
    let (first, second, same) = tokio::join!(
        ec2.given(&left_overs, &one),
        ec2.given(&left_overs, &two),
        ec2.given(&left_overs, &again),
    );
    let given = |id: &str, after: u64| (Some(id.to_owned()), after);
    assert_eq!((first, second), (given("i-1", 4), given("i-2", 8)));
    assert_eq!(same, given("i-1", 4), "a claim that is launched twice at once gets one");
    assert_eq!(*ec2.asked.lock().unwrap(), 5, "once every two seconds, for all of them");
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_was_not_launched_waits_for_a_while_and_no_longer() {
    let (one, two) = (of_uid("uid-1"), of_uid("uid-2"));
    let (left_overs, ec2) = (taken_over(&[&one, &two]), Slow::new(&[(40, "i-1")]));
    assert_eq!(ec2.given(&left_overs, &one).await, (None, 16), "it is launched now");
    assert_eq!(ec2.given(&left_overs, &two).await, (None, 16));
    tokio::time::advance(Duration::from_secs(30)).await;
    let given = ec2.given(&left_overs, &two).await;
    assert_eq!(given, (Some("i-1".to_owned()), 46), "who had no luck looks again");
    tokio::time::advance(CONSISTENT_AFTER).await;
    let asked = *ec2.asked.lock().unwrap();
    assert_eq!(ec2.given(&left_overs, &one).await.0, None);
    assert_eq!(*ec2.asked.lock().unwrap(), asked, "nothing of before is to be found any more");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_launched_anew_before_what_is_there_could_be_told_from_our_own() {
    let one = of_uid("uid-1");
    let (left_overs, mut ec2) = (taken_over(&[&one]), Slow::new(&[(0, "i-1")]));
    ec2.is_busy_for = 19;
    assert_eq!(ec2.given(&left_overs, &one).await, (Some("i-1".to_owned()), 20));
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_labels_were_stored_before_the_end_gets_what_they_say() {
    let (plain, mut told) = (of_uid("uid-1"), of_uid("uid-2"));
    let labels = [(INSTANCE_TYPE, "m5.large"), (ZONE, "a"), (CAPACITY_TYPE, SPOT)];
    let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
    told.claim.spec.labels.extend(labels);
    let (left_overs, ec2) = (taken_over(&[&plain, &told]), Slow::new(&[(0, "i-1"), (9, "i-2")]));
    let (first, second) =
        tokio::join!(ec2.given(&left_overs, &plain), ec2.given(&left_overs, &told));
    assert_eq!(first, (Some("i-2".to_owned()), 10), "the first is left for who needs that one");
    assert_eq!(second, (Some("i-1".to_owned()), 0));
    told.claim.spec.labels.insert(ZONE.to_owned(), "b".to_owned());
    assert!(!suits(described("i-1", true), &told), "it would be in another zone than it says");
}
