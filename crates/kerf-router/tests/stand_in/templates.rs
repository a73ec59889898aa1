//! The CloudFormation templates: linted, checked for known mistakes, and deployed on the stand-in.

use std::path::PathBuf;
use std::time::Duration;

use kerf_aws::{Queues, Session};
use kerf_notices::message::Record;
use kerf_notices::routing::RoutingSettings;
use kerf_notices::zonal_shift::EventKind;
use kerf_router::{Executor, ExecutorSettings, Routing};
use kerf_testbed::{AwsStandIn, lint_template};
use serde_json::json;

use crate::http::Http;
use crate::place::{PATIENT, REGION, emptied};

const ALL: [&str; 4] =
    ["event-router.yaml", "cluster-queue.yaml", "zonal-shift-queue.yaml", "member-account.yaml"];

/// Two weeks, the most that SQS keeps a message.
const RETENTION: &str = "MessageRetentionPeriod: 1209600";

fn template(name: &str) -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.join("../../deploy/cloudformation").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(template(name)).unwrap()
}

#[test]
fn cfn_lint_finds_nothing_in_the_templates() {
    for name in ALL {
        assert_eq!(lint_template(&template(name)).unwrap(), "", "{name}");
    }
}

#[test]
fn mistakes_that_others_made_are_not_made_here() {
    let router = text("event-router.yaml");
    assert!(!router.contains("RetryOnServiceExceptions"));
    assert!(router.contains("        detail:\n          # Half of all events: instances coming up interrupt nobody.\n          state:"));
    assert_eq!(router.matches("Type: AWS::SQS::QueuePolicy").count(), 2, "both queues have one");
    assert!(router.contains("FunctionResponseTypes: [ReportBatchItemFailures]"));
    for name in ALL {
        assert!(!text(name).contains("event.amazonaws.com\n"), "{name}");
        assert!(!text(name).contains("arn:aws:"), "{name}: other partitions exist");
        let has_queue = text(name).contains("Type: AWS::SQS::Queue\n");
        assert!(!has_queue || text(name).contains("aws:SecureTransport"), "{name}");
    }
    assert!(!text("cluster-queue.yaml").contains("AWS::Events::Rule"));
    let rules = router.matches("Type: AWS::Events::Rule").count();
    assert_eq!(router.matches("Type: AWS::Lambda::Permission").count(), rules, "one each");
}

/// Maintenance is announced once and weeks ahead, and whoever should hear of it may be away for days.
#[test]
fn every_kind_is_kept_for_as_long_as_it_is_worth_something() {
    let router = text("event-router.yaml");
    let rules: Vec<&str> = router.split("Type: AWS::Events::Rule").skip(1).collect();
    assert_eq!(rules.len(), 6);
    for rule in rules {
        let lasts = rule.contains("scheduledChange]\n") || rule.contains("[aws.arc-zonal-shift]\n");
        let rule = rule.split("DeadLetterConfig").next().unwrap();
        let (seconds, attempts) = if lasts { (86_400, 185) } else { (120, 2) };
        assert!(rule.contains(&format!("MaximumEventAgeInSeconds: {seconds}\n")), "{rule}");
        assert!(rule.contains(&format!("MaximumRetryAttempts: {attempts}\n")), "{rule}");
    }
    assert_eq!(router.matches(RETENTION).count(), 2, "the central queue and its dead letters");
    assert_eq!(text("cluster-queue.yaml").matches(RETENTION).count(), 1);
}

#[test]
fn the_router_may_send_to_tagged_queues_only_and_assume_bounded_roles_only() {
    let aws = AwsStandIn::start().unwrap();
    let http = Http { endpoint_url: aws.endpoint_url(), region: REGION };
    let unrouted = "https://sqs.us-east-1.amazonaws.com/123456789012/nobody";
    let parameters = [
        ("AccountRoleName", "kerf-router-lookup"),
        ("OrganizationId", "o-abcdefghij"),
        ("UnroutedQueueUrl", unrouted),
    ];
    deploy(http, "bounded", &text("event-router.yaml"), &parameters);
    let role = output(http, "bounded", "RoleArn").unwrap();
    let router = policy(http, &role, "router");
    assert!(router.contains("aws:ResourceTag/kerf.sh/cluster"), "{router}");
    assert!(router.contains(":nobody"), "{router}");
    let members = policy(http, &role, "member-accounts");
    assert!(members.contains("aws:ResourceOrgID") && members.contains("o-abcdefghij"), "{members}");

    let parameters = [("AccountRoleName", "r"), ("AccountExternalId", "secret")];
    deploy(http, "external", &text("event-router.yaml"), &parameters);
    let role = output(http, "external", "RoleArn").unwrap();
    let members = policy(http, &role, "member-accounts");
    assert!(members.contains("sts:ExternalId") && members.contains("secret"), "{members}");

    let parameters = [("RouterRoleArn", role.as_str()), ("AccountExternalId", "secret")];
    deploy(http, "member", &text("member-account.yaml"), &parameters);
    assert!(output(http, "member", "RoleArn").unwrap().ends_with("role/kerf-router-lookup"));
}

/// The text of a role's policy, without the escapes of the answer.
fn policy(http: Http<'_>, role_arn: &str, name: &str) -> String {
    let form = [
        ("Action", "GetRolePolicy"),
        ("Version", "2010-05-08"),
        ("RoleName", role_arn.rsplit('/').next().unwrap()),
        ("PolicyName", name),
    ];
    let answer = http.form("iam", &form);
    [("%3A", ":"), ("%2F", "/"), ("%22", "\""), ("%2A", "*")]
        .into_iter()
        .fold(answer, |text, (escape, plain)| text.replace(escape, plain))
}

#[test]
fn with_the_function_a_mapping_feeds_it_from_the_central_queue() {
    let aws = AwsStandIn::start().unwrap();
    let http = Http { endpoint_url: aws.endpoint_url(), region: REGION };
    upload(http, "code", "kerf-router-lambda.zip");
    deploy(http, "fn", &text("event-router.yaml"), &[("CodeBucket", "code")]);
    let mappings = http.get("lambda", "/2015-03-31/event-source-mappings/");
    for part in ["\"BatchSize\": 200", "ReportBatchItemFailures", "fn-CentralQueue", "fn-Function"]
    {
        assert!(mappings.contains(part), "{part}: {mappings}");
    }
    assert_eq!(targets(http, "fn-").iter().filter(|arn| arn.contains(":sqs:")).count(), 6);
    assert!(output(http, "fn", "CentralQueueUrl").is_some());
}

#[test]
fn delivered_directly_every_rule_calls_the_function_and_there_is_no_central_queue() {
    let aws = AwsStandIn::start().unwrap();
    let http = Http { endpoint_url: aws.endpoint_url(), region: REGION };
    upload(http, "code", "kerf-router-lambda.zip");
    let parameters = [
        ("Delivery", "direct"),
        ("CodeBucket", "code"),
        ("ClusterTable", "clusters"),
        ("ForwardAsg", "false"),
    ];
    deploy(http, "direct", &text("event-router.yaml"), &parameters);
    let targets = targets(http, "direct-");
    assert_eq!(targets.len(), 5, "the rule for Auto Scaling is switched off: {targets:?}");
    assert!(targets.iter().all(|arn| arn.contains(":function:direct-Function")), "{targets:?}");
    assert_eq!(output(http, "direct", "CentralQueueUrl"), None);
    let mappings = http.get("lambda", "/2015-03-31/event-source-mappings/");
    assert!(!mappings.contains("direct-Function"), "{mappings}");

    let function = targets[0].rsplit(':').next().unwrap();
    let policy = http.get("lambda", &format!("/2015-03-31/functions/{function}/policy"));
    assert_eq!(policy.matches("events.amazonaws.com").count(), 5, "{policy}");
    assert_eq!(policy.matches("rule/direct-").count(), 5, "each rule by its own ARN: {policy}");
    let configuration = http.get("lambda", &format!("/2015-03-31/functions/{function}"));
    assert!(configuration.contains(r#""CLUSTER_TABLE": "clusters""#), "{configuration}");

    let role = output(http, "direct", "RoleArn").unwrap();
    let role = role.rsplit('/').next().unwrap();
    let rights = |policy: &str| {
        let form = [
            ("Action", "GetRolePolicy"),
            ("Version", "2010-05-08"),
            ("RoleName", role),
            ("PolicyName", policy),
        ];
        http.form("iam", &form)
    };
    let table = rights("cluster-table");
    for part in ["dynamodb%3AGetItem", "dynamodb%3AScan", "table%2Fclusters"] {
        let plain = part.replace("%3A", ":").replace("%2F", "/");
        assert!(table.contains(part) || table.contains(&plain), "{part}: {table}");
    }
    assert!(rights("central-queue").contains("NoSuchEntity"));
    assert!(rights("router").contains("ToDeadLetters"), "{}", rights("router"));
}

#[tokio::test]
async fn an_event_put_on_the_bus_arrives_in_exactly_one_cluster_queue() {
    let aws = AwsStandIn::start().unwrap();
    let http = Http { endpoint_url: aws.endpoint_url(), region: REGION };
    deploy(http, "router", &text("event-router.yaml"), &[]);
    let role = "arn:aws:iam::123456789012:role/router";
    for cluster in ["blue", "green"] {
        let parameters = [("ClusterName", cluster), ("RouterRoleArn", role)];
        deploy(http, cluster, &text("cluster-queue.yaml"), &parameters);
    }
    let launched = http.form(
        "ec2",
        &[
            ("Action", "RunInstances"),
            ("Version", "2016-11-15"),
            ("ImageId", "ami-12c6146b"),
            ("MinCount", "1"),
            ("MaxCount", "1"),
            ("TagSpecification.1.ResourceType", "instance"),
            ("TagSpecification.1.Tag.1.Key", "eks:eks-cluster-name"),
            ("TagSpecification.1.Tag.1.Value", "blue"),
        ],
    );
    let instance = between(&launched, "<instanceId>", "</instanceId>").to_owned();
    for state in ["running", "terminated"] {
        let detail = format!(r#"{{"instance-id":"{instance}","state":"{state}"}}"#);
        let entry = json!({"Entries": [{"Source": "aws.ec2",
            "DetailType": "EC2 Instance State-change Notification", "Detail": detail}]});
        let answer = http.json("events", "AWSEvents.PutEvents", &entry);
        assert_eq!(answer["FailedEntryCount"], 0, "{answer}");
    }

    let session = Session::of_stand_in(http.endpoint_url, REGION, PATIENT).await;
    let queues = session.queues();
    let central = output(http, "router", "CentralQueueUrl").unwrap();
    let messages = queues.receive(&central, Duration::ZERO).await.unwrap();
    assert_eq!(messages.len(), 1, "the rule keeps `running` out: {messages:?}");
    let record = Record { id: messages[0].id.clone(), body: messages[0].body.clone() };
    let executor = Executor::new(session, ExecutorSettings::default());
    let mut routing = Routing::new(RoutingSettings::default(), executor);
    let report = routing.route(vec![record], Duration::from_secs(60)).await;
    assert_eq!(report.outcomes[0].verdict.to_string(), "routed", "{report:#?}");
    assert_eq!(depth(&queues, "blue").await, 1);
    assert_eq!(depth(&queues, "green").await, 0);
}

#[tokio::test]
async fn all_twelve_announcements_of_zonal_shifts_reach_the_cluster_s_queue_and_nothing_else_does()
{
    let aws = AwsStandIn::start().unwrap();
    let http = Http { endpoint_url: aws.endpoint_url(), region: REGION };
    deploy(http, "zonal", &text("zonal-shift-queue.yaml"), &[("ClusterName", "blue")]);
    let put = |detail_type: &str| {
        let entry = json!({"Entries": [{"Source": "aws.arc-zonal-shift",
            "DetailType": detail_type, "Detail": r#"{"metadata":{"awayFrom":"use1-az1"}}"#}]});
        let answer = http.json("events", "AWSEvents.PutEvents", &entry);
        assert_eq!(answer["FailedEntryCount"], 0, "{answer}");
    };
    let known: Vec<_> = EventKind::all().map(EventKind::detail_type).collect();
    assert_eq!(known.len(), 12);
    known.iter().for_each(|detail_type| put(detail_type));
    put("AWS API Call via CloudTrail");

    let queues = Session::of_stand_in(http.endpoint_url, REGION, PATIENT).await.queues();
    assert_eq!(depth(&queues, "blue-zonal-shift").await, 12);
    assert_eq!(depth(&queues, "blue-zonal-shift-dlq").await, 0);
    let url = output(http, "zonal", "QueueUrl").unwrap();
    let bodies = emptied(&queues, &url).await;
    for detail_type in known {
        assert!(bodies.iter().any(|body| body.contains(&format!("\"{detail_type}\""))));
    }
    assert!(output(http, "zonal", "RoleArn").is_some());

    let role = [("ClusterName", "green"), ("RouterRoleArn", "arn:aws:iam::123456789012:role/r")];
    deploy(http, "fed", &text("zonal-shift-queue.yaml"), &role);
    put("Autoshift In Progress");
    assert_eq!(depth(&queues, "green-zonal-shift").await, 0, "the router's queue has no rule");
}

async fn depth(queues: &Queues, name: &str) -> u64 {
    let url = queues.url(name).await.unwrap().unwrap();
    queues.depth(&url).await.unwrap().visible
}

fn deploy(http: Http<'_>, stack: &str, template: &str, parameters: &[(&str, &str)]) {
    let mut form = vec![
        ("Action".to_owned(), "CreateStack".to_owned()),
        ("Version".to_owned(), "2010-05-15".to_owned()),
        ("StackName".to_owned(), stack.to_owned()),
        ("TemplateBody".to_owned(), template.to_owned()),
        ("Capabilities.member.1".to_owned(), "CAPABILITY_IAM".to_owned()),
    ];
    for (index, (key, value)) in (1..).zip(parameters) {
        form.push((format!("Parameters.member.{index}.ParameterKey"), (*key).to_owned()));
        form.push((format!("Parameters.member.{index}.ParameterValue"), (*value).to_owned()));
    }
    let form: Vec<_> = form.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let answer = http.form("cloudformation", &form);
    assert!(answer.contains("<StackId>"), "{answer}");
}

/// An output of a stack, if it has it.
fn output(http: Http<'_>, stack: &str, key: &str) -> Option<String> {
    let form = [("Action", "DescribeStacks"), ("Version", "2010-05-15"), ("StackName", stack)];
    let answer = http.form("cloudformation", &form);
    let outputs = answer.split(&format!("<OutputKey>{key}<")).nth(1)?;
    Some(between(outputs, "<OutputValue>", "</OutputValue>").to_owned())
}

/// The ARNs that the rules of a stack send to, one a rule.
fn targets(http: Http<'_>, prefix: &str) -> Vec<String> {
    let rules = http.json("events", "AWSEvents.ListRules", &json!({ "NamePrefix": prefix }));
    let target = |rule: &serde_json::Value| {
        let asked = json!({ "Rule": rule["Name"] });
        let targets = http.json("events", "AWSEvents.ListTargetsByRule", &asked);
        targets["Targets"][0]["Arn"].as_str().unwrap().to_owned()
    };
    rules["Rules"].as_array().unwrap().iter().map(target).collect()
}

/// Puts something that looks like the function's zip into a bucket.
fn upload(http: Http<'_>, bucket: &str, key: &str) {
    http.put("s3", &format!("/{bucket}"), "");
    // An archive without files: the end of its empty list and nothing else.
    let empty = format!("PK\u{5}\u{6}{}", "\0".repeat(18));
    let answer = http.put("s3", &format!("/{bucket}/{key}"), &empty);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}
