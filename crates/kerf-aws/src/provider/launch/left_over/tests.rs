//! Who is given what the process before has left.

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
    assert!(alike.is_told_alike(&one) && alike.is_told_alike(&two));
    assert!(!alike.is_told_alike(&claim("uid-4", "a")), "it was made later");
    let unlike = at_start(&[one.clone(), other.clone()]);
    assert!(!unlike.is_told_alike(&one), "the instance may be labelled for the other");
    let mut launched = two.clone();
    launched.status.provider_id = Some("aws:///a/i-2".into());
    let at_start = at_start(&[one, launched]);
    assert_eq!(at_start.claimed, HashSet::from(["i-2".to_owned()]));
    assert_eq!(at_start.in_doubt.len(), 1);
}
