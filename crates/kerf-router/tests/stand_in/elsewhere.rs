//! Queues that a table names, instances of another region, and clusters of another account.

use kerf_aws::Session;
use kerf_notices::routing::{RoutingSettings, Scope, StaticMap};
use kerf_router::{Executor, ExecutorSettings, Routing};
use kerf_testbed::{Fault, FaultProxy, FaultRule};
use serde_json::json;

use crate::http::Http;
use crate::place::{ACCOUNT, PATIENT, Place, TIME, aws, event, launch, records, spot};

/// Makes a table of clusters.
fn table(region: &str, name: &str, rows: &[(&str, &str)]) {
    let http = Http { endpoint_url: aws().endpoint_url(), region };
    let call = |action: &str, body: &serde_json::Value| {
        http.json("dynamodb", &format!("DynamoDB_20120810.{action}"), body)
    };
    let table = json!({
        "TableName": name, "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "cluster", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "cluster", "KeyType": "HASH"}],
    });
    call("CreateTable", &table);
    for (cluster, url) in rows {
        let item = json!({"cluster": {"S": cluster}, "queueUrl": {"S": url}});
        call("PutItem", &json!({"TableName": name, "Item": item}));
    }
}

/// A router that is told about a table.
fn routing(session: &Session, table: &str) -> Routing {
    let get = |name: &str| (name == "CLUSTER_TABLE").then(|| table.to_owned());
    let executor = ExecutorSettings::from_lookup(get, Scope::default());
    let settings = RoutingSettings::from_lookup(get).unwrap();
    Routing::new(settings, Executor::new(session.clone(), executor))
}

#[tokio::test]
async fn a_queue_that_the_table_names_is_used_before_one_of_the_clusters_name() {
    let mut place = Place::in_region("eu-west-3", "table", 1).await;
    let elsewhere = place.queue("elsewhere", false).await;
    let a = place.named("a");
    let rows = [(a.as_str(), elsewhere.as_str()), ("table-nobody", place.urls["b"].as_str())];
    table("eu-west-3", "clusters", &rows);
    let mut routing = routing(&place.session, "clusters");
    let bodies = [spot("t1", &place.instances["a"][0]), spot("t2", &place.instances["b"][0])];
    let report = routing.route(records(&bodies), TIME).await;
    assert_eq!(report.failures().count(), 0, "{report:#?}");
    assert_eq!(place.contents("elsewhere").await, bodies[..1]);
    assert_eq!(place.contents("b").await, bodies[1..], "found by name: the table has no row");
    assert!(place.contents("a").await.is_empty());

    // A zonal shift goes to the clusters of the table and of the tags; one queue, one message.
    let shift = event("t3", "aws.arc-zonal-shift", "Autoshift In Progress", "[]", "{}");
    let report = routing.route(records(std::slice::from_ref(&shift)), TIME).await;
    assert_eq!(report.outcomes[0].verdict.to_string(), "routed");
    assert_eq!(place.contents("elsewhere").await, std::slice::from_ref(&shift));
    assert_eq!(place.contents("b").await, [shift]);
}

#[tokio::test]
async fn a_table_without_permission_is_told_with_action_and_resource_and_fails_the_message() {
    let place = Place::in_region("eu-north-1", "denied", 1).await;
    let proxy = FaultProxy::start(aws().endpoint_url()).unwrap();
    let session = Session::of_stand_in(&proxy.endpoint_url(), "eu-north-1", PATIENT).await;
    let contains = "DynamoDB_20120810.GetItem".to_owned();
    let rule = FaultRule { contains, every: 1, at_most: u64::MAX, fault: Fault::Deny };
    proxy.set_rules(vec![rule]);
    let body = spot("d1", &place.instances["a"][0]);
    let report = routing(&session, "clusters").route(records(&[body]), TIME).await;
    assert_eq!(report.failures().count(), 1);
    let expected = "not allowed to call dynamodb:GetItem on clusters: grant it to the role in use";
    assert_eq!(report.denied, [expected]);
}

#[tokio::test]
async fn an_instance_of_another_account_and_region_is_looked_up_there_by_an_assumed_role() {
    let place = Place::new("hub", 0).await;
    let member = "222233334444";
    let role = format!("arn:aws:iam::{member}:role/kerf-lookup");
    let there = place.session.in_region("eu-central-1").assume(&role, None).await;
    let tag = ("eks:eks-cluster-name".to_owned(), place.named("a"));
    let id = &launch(&there, 1, &[tag]).await[0];
    assert!(place.session.instances().describe(vec![id.clone()]).await.unwrap().is_empty());

    let home = Scope::new(ACCOUNT, "us-east-1");
    let map = format!(r#"{{"{}":"{}"}}"#, place.named("a"), place.urls["a"]);
    let settings = RoutingSettings {
        home: home.clone(),
        has_account_role: true,
        static_map: StaticMap::from_json(&map).unwrap(),
        ..RoutingSettings::default()
    };
    let account_role = Some("kerf-lookup".to_owned());
    let executor = ExecutorSettings { account_role, home, ..ExecutorSettings::default() };
    let mut routing = Routing::new(settings, Executor::new(place.session.clone(), executor));
    let detail = format!(r#""account":"{member}","region":"eu-central-1","detail":"#);
    let body = spot("hub-1", id).replace(r#""detail":"#, &detail);
    let report = routing.route(records(std::slice::from_ref(&body)), TIME).await;
    assert_eq!(report.outcomes[0].verdict.to_string(), "routed", "{report:#?}");
    assert_eq!(place.contents("a").await, [body]);

    // The same id at home is another instance, which does not exist.
    let at_home = spot("hub-2", id);
    let report = routing.route(records(&[at_home]), TIME).await;
    assert_eq!(report.outcomes[0].verdict.to_string(), "unrouted: no-tag");
}
