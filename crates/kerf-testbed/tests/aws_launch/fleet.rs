//! CreateFleet: what is chosen, what is refused, and what an instance has from its template.

use serde_json::json;

use crate::account::{Account, between, ids};

#[test]
fn the_cheapest_override_with_capacity_is_taken_and_the_others_say_why_not() {
    let account = Account::open();
    account.template("nodes", "");
    let types = [("m5.2xlarge", "a"), ("m5.large", "a"), ("m5.large", "b"), ("m5.xlarge", "b")];
    let answer = account.fleet("on-demand", &types, "");
    assert!(answer.contains("<instanceType>m5.large</instanceType>"), "{answer}");
    assert!(answer.contains("<availabilityZone>us-east-1a</availabilityZone>"), "{answer}");
    assert!(answer.contains(&format!("<imageId>{}</imageId>", account.image)), "{answer}");
    assert!(answer.contains("<launchTemplateName>nodes</launchTemplateName>"), "{answer}");
    assert_eq!(answer.matches("<errorCode>").count(), 0, "{answer}");

    let none = json!({"instance_type": "m5.large", "capacity_type": "on-demand"});
    account.aws.control("POST capacity", &none);
    let answer = account.fleet("on-demand", &types, "");
    assert!(between(&answer, "<fleetInstanceSet>", "</fleetInstanceSet>").contains("m5.xlarge"));
    assert_eq!(answer.matches(">InsufficientInstanceCapacity<").count(), 2, "{answer}");
    let spot = account.fleet("spot", &types, "");
    assert!(!spot.contains("<errorCode>"), "only on demand was taken away: {spot}");

    account.aws.control("POST capacity", &json!({"code": "UnfulfillableCapacity"}));
    let answer = account.fleet("spot", &types, "");
    assert_eq!(ids(&answer), Vec::<String>::new());
    assert_eq!(answer.matches("<errorCode>UnfulfillableCapacity<").count(), 4, "{answer}");
    account.aws.control("POST capacity", &json!({"left": null}));
    assert_eq!(ids(&account.fleet("spot", &types, "")).len(), 1);
}

#[test]
fn a_token_gets_one_answer_however_often_and_however_many_at_once() {
    let account = Account::open();
    account.template("nodes", "");
    let two = "&ClientToken=claim-1&TargetCapacitySpecification.TotalTargetCapacity=2";
    let answers: Vec<String> = std::thread::scope(|scope| {
        let ask = || scope.spawn(|| account.fleet("spot", &[("m5.large", "a")], two));
        let asked: Vec<_> = (0..6).map(|_| ask()).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(ids(&answers[0]).len(), 2, "{}", answers[0]);
    assert!(answers.iter().all(|answer| ids(answer) == ids(&answers[0])), "{answers:?}");
    let all = account.ec2("Action=DescribeInstances&Filter.1.Name=tag:pool&Filter.1.Value.1=web");
    assert_eq!(all.matches("<instanceId>").count(), 2, "{all}");

    let other = account.fleet_request("spot", &[("m5.xlarge", "a")], two);
    assert!(account.refused(&other).contains("IdempotentParameterMismatch"));
}

#[test]
fn an_instance_has_everything_its_template_and_its_fleet_say() {
    let account = Account::open();
    account.template("nodes", "");
    let id = ids(&account.fleet("spot", &[("m5.large", "b")], "")).remove(0);
    let described = account.describe(&id);
    let group = &account.made.security_groups[0];
    let expected = [
        "<instanceType>m5.large</instanceType>".to_owned(),
        format!("<imageId>{}</imageId>", account.image),
        format!("<groupId>{group}</groupId>"),
        "instance-profile/karpenter/nodes</arn>".to_owned(),
        "<tenancy>dedicated</tenancy>".to_owned(),
        "<availabilityZone>us-east-1b</availabilityZone>".to_owned(),
        "<availabilityZoneId>use1-az1</availabilityZoneId>".to_owned(),
        "<httpTokens>required</httpTokens>".to_owned(),
        "<monitoring><state>enabled</state></monitoring>".to_owned(),
        "<instanceLifecycle>spot</instanceLifecycle>".to_owned(),
        "<ipv6Address>2600:1f18:".to_owned(),
        "<key>pool</key><value>web</value>".to_owned(),
        "<key>aws:ec2launchtemplate:id</key>".to_owned(),
    ];
    for part in expected {
        assert!(described.contains(&part), "{part} is missing in {described}");
    }
    let groups = described.matches(&format!("<groupId>{group}</groupId>")).count();
    assert_eq!(groups, 2, "the instance's and its interface's: {described}");
    let request = between(&described, "<spotInstanceRequestId>", "</spotInstanceRequestId>");
    let volume = between(&described, "<volumeId>", "</volumeId>");
    let interface = between(&described, "<networkInterfaceId>", "</networkInterfaceId>");
    for (resource, tag) in [(request, "request"), (volume, "volume"), (interface, "interface")] {
        let filter = format!("&Filter.1.Name=resource-id&Filter.1.Value.1={resource}");
        let tags = account.ec2(&format!("Action=DescribeTags{filter}"));
        assert!(tags.contains(&format!("<value>{tag}</value>")), "{resource}: {tags}");
    }
    let volumes = account.ec2(&format!("Action=DescribeVolumes&VolumeId.1={volume}"));
    assert!(volumes.contains("<size>20</size>"), "{volumes}");
}

#[test]
fn what_ec2_would_refuse_is_refused_in_its_words() {
    let account = Account::open();
    account.template("nodes", "");
    let errors = |types: &[(&str, &str)]| account.fleet("on-demand", types, "");
    let code = |answer: &str| between(answer, "<errorCode>", "</errorCode>").to_owned();

    let answer = errors(&[("m6g.large", "a")]);
    assert_eq!(code(&answer), "InvalidParameterValue", "{answer}");
    assert!(answer.contains("does not match the architecture"), "{answer}");
    assert_eq!(code(&errors(&[("m7i.large", "e")])), "Unsupported", "not sold in zone e");
    let full = json!({"subnet_id": account.subnet("a"), "free_addresses": 0});
    account.aws.control("POST subnets", &full);
    let answer = errors(&[("m5.large", "a"), ("m5.xlarge", "b")]);
    assert_eq!(code(&answer), "InsufficientFreeAddressesInSubnet", "{answer}");
    assert_eq!(ids(&answer).len(), 1, "the other subnet has room: {answer}");

    let request = account.fleet_request("spot", &[("m5.large", "b")], "");
    let missing = request.replace("LaunchTemplateName=nodes", "LaunchTemplateName=gone");
    let refused = account.refused(&missing);
    assert!(refused.contains("InvalidLaunchTemplateName.NotFoundException"), "{refused}");
    account
        .aws
        .query("iam", "Action=DeleteInstanceProfile&InstanceProfileName=nodes&Version=2010-05-08");
    let answer = errors(&[("m5.large", "b")]);
    assert!(answer.contains("Invalid IAM Instance Profile name"), "{answer}");
}

#[test]
fn dry_runs_succeed_launch_nothing_and_know_of_denials() {
    let account = Account::open();
    account.template("nodes", "");
    let fleet = account.fleet_request("spot", &[("m5.large", "a")], "&DryRun=true");
    let run = format!(
        "Action=RunInstances&MinCount=1&MaxCount=1&DryRun=true&InstanceType=m5.large&SubnetId={}\
         &LaunchTemplate.LaunchTemplateName=nodes&LaunchTemplate.Version=$Latest",
        account.subnet("a"),
    );
    for request in [&fleet, &run] {
        let refused = account.refused(request);
        assert!(refused.contains("DryRunOperation"), "{refused}");
    }
    let wrong = account.refused(&run.replace("m5.large", "m6g.large"));
    assert!(wrong.contains("does not match the architecture"), "{wrong}");
    account.aws.deny(&["ec2:CreateFleet", "ec2:RunInstances"]);
    for (request, action) in [(&fleet, "CreateFleet"), (&run, "RunInstances")] {
        let refused = account.refused(request);
        assert!(refused.contains("UnauthorizedOperation"), "{refused}");
        assert!(refused.contains(&format!("ec2:{action}")), "{refused}");
    }
    account.aws.deny(&["ec2:RunInstances"]);
    let answer = account.fleet("spot", &[("m5.large", "a")], "");
    assert_eq!(between(&answer, "<errorCode>", "</errorCode>"), "UnauthorizedOperation");
    assert_eq!(account.ec2("Action=DescribeInstances").matches("<instanceId>").count(), 0);
}
