//! What a launch gives.

use kerf_kube::Provider;

use crate::account::Account;

/// A thousand launches may wait at once.
const LAUNCH_BYTES_MAX: usize = 8 << 10;

#[tokio::test]
async fn a_claim_gets_the_cheapest_instance_it_allows_with_everything_its_class_says() {
    let account = Account::open().await;
    let instance = account.launch("uid-1").await.unwrap();
    let label = |key: &str| instance.labels.get(key).map_or("-", String::as_str);
    assert_eq!(label("node.kubernetes.io/instance-type"), "c5.large", "it is the cheaper one");
    assert_eq!(label("karpenter.sh/capacity-type"), "on-demand");
    assert_eq!(label("kubernetes.io/arch"), "amd64");
    let zone = label("topology.kubernetes.io/zone").to_owned();
    let (prefix, id) = instance.provider_id.rsplit_once('/').unwrap();
    assert_eq!(prefix, format!("aws:///{zone}"));
    let subnet = account.made.subnets.iter().find(|it| it.zone == zone).unwrap();
    assert_eq!(label("topology.k8s.aws/zone-id"), subnet.zone_id);
    assert!(instance.capacity.quantity("cpu").value() == 2, "{:?}", instance.capacity);
    assert!(instance.annotations.contains_key("karpenter.k8s.aws/instance-profile-name"));

    let query = format!("Action=DescribeInstances&Version=2016-11-15&InstanceId.1={id}");
    let described = account.stand_in.ec2(&query);
    for expected in [
        subnet.id.as_str(),
        &account.made.security_groups[0],
        instance.image_id.as_deref().unwrap(),
        "<key>karpenter.sh/nodepool</key><value>general</value>",
        "<key>karpenter.k8s.aws/ec2nodeclass</key><value>default</value>",
        "<key>eks:eks-cluster-name</key><value>demo</value>",
        "<key>kubernetes.io/cluster/demo</key><value>owned</value>",
        "<key>team</key><value>green</value>",
    ] {
        let described: String = described.split_whitespace().collect();
        assert!(described.contains(expected), "{expected} in {described}");
    }
}

#[tokio::test]
async fn spot_is_preferred_where_the_claim_allows_it() {
    let account = Account::open().await;
    let launch = account.launch_of("uid-1", &["m5.large"], &["spot", "on-demand"]);
    let launching = account.aws.launch(&launch);
    let bytes = size_of_val(&launching);
    assert!(bytes <= LAUNCH_BYTES_MAX, "a launch that waits takes {bytes} bytes");
    let instance = launching.await.unwrap();
    assert_eq!(instance.labels["karpenter.sh/capacity-type"], "spot");
    let listed = account.aws.instances().await.unwrap();
    assert_eq!(listed[0].labels["karpenter.sh/capacity-type"], "spot", "by its spot request");
    let (listed, launched) = (&listed[0].made_of["SubnetDrift"], &instance.made_of["SubnetDrift"]);
    assert_eq!(listed, launched);
}

#[tokio::test]
async fn twenty_claims_are_one_or_two_fleets_and_one_template() {
    let account = Account::open().await;
    let uids: Vec<String> = (0..20).map(|n| format!("uid-{n}")).collect();
    let answers = account.launch_all(&uids).await;
    let failed: Vec<_> = answers.iter().filter(|it| it.is_err()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(account.listed().await.len(), 20);
    let fleets = account.count("CreateFleet");
    assert!((1..=2).contains(&fleets), "{fleets} fleets");
    assert_eq!(account.count("CreateLaunchTemplate"), 1);
    let instances = account.aws.instances().await.unwrap();
    let mut claims: Vec<_> = instances.iter().map(|it| it.claim.clone().unwrap()).collect();
    claims.sort();
    claims.dedup();
    assert_eq!(claims.len(), 20, "each has a claim of its own");
}

#[tokio::test]
async fn a_template_that_was_deleted_behind_our_back_is_made_anew() {
    let account = Account::open().await;
    account.launch("uid-1").await.unwrap();
    let templates = "Action=DescribeLaunchTemplates&Version=2016-11-15";
    let described = account.stand_in.ec2(templates);
    let (_, rest) = described.split_once("<launchTemplateId>").unwrap();
    let (id, _) = rest.split_once('<').unwrap();
    let delete = format!("Action=DeleteLaunchTemplate&Version=2016-11-15&LaunchTemplateId={id}");
    account.stand_in.ec2(&delete);
    account.launch("uid-2").await.unwrap();
    assert_eq!(account.count("CreateLaunchTemplate"), 2);
    assert_eq!(account.listed().await.len(), 2);
}
