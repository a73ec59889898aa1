//! AWS throttles, fails, hesitates, does not believe us and forbids: each is said in one place, with
//! call and resource, and everything is well when it is over.

use kerf_testbed::{Fault, FaultRule};
use serde_json::{Value, json};

use crate::objects::{class, deployment, pool};
use crate::place::Place;

const TYPES: [&str; 2] = ["m5.large", "m5a.large"];
const ZONES: [&str; 2] = ["us-east-1a", "us-east-1b"];

/// What happens to launches, and what is said of it: all of these words at once.
struct Row {
    fault: Fault,
    said: &'static [&'static str],
}

fn rows() -> Vec<Row> {
    vec![
        Row { fault: Fault::Throttle, said: &["ec2:CreateFleet on ", "throttled"] },
        Row { fault: Fault::Unavailable, said: &["ec2:CreateFleet on ", "Unavailable"] },
        Row { fault: Fault::HangUp, said: &["ec2:CreateFleet on "] },
        Row {
            fault: Fault::Expire,
            said: &["ec2:CreateFleet on ", "the credentials are not accepted", "ExpiredToken"],
        },
        Row { fault: Fault::Deny, said: &["ec2:CreateFleet", "Unauthorized"] },
    ]
}

impl Place {
    /// Whether a condition or a line of the log has all of these words.
    fn says(&self, words: &[&str]) -> bool {
        let has = |text: &str| words.iter().all(|word| text.contains(word));
        let conditions = |object: &Value| object["status"]["conditions"].clone();
        let of_objects = ["nodeclaims", "ec2nodeclasses"].map(|kind| self.all(kind)).concat();
        let told = of_objects.iter().map(conditions).filter_map(|all| all.as_array().cloned());
        told.flatten().any(|condition| has(&condition.to_string())) || self.log().lines().any(has)
    }

    fn break_launches(&self, fault: &Fault) {
        let contains = "Action=CreateFleet".to_owned();
        let rule = FaultRule { contains, every: 1, at_most: u64::MAX, fault: fault.clone() };
        self.faults.as_ref().unwrap().set_rules(vec![rule]);
    }
}

#[test]
fn launches_that_fail_are_explained_and_made_good_when_aws_answers_again() {
    let mut place = Place::enter().with_faults();
    place.start();
    let before = place.launched();
    place.apply(&[class(), pool(&TYPES, &ZONES), deployment(1)]);
    place.wait("the pod runs", || place.running() == 1);
    for (replicas, Row { fault, said }) in (2..).zip(rows()) {
        place.break_launches(&fault);
        place.apply(&[deployment(replicas)]);
        place.wait(&format!("{fault:?} is explained: {said:?}"), || place.says(said));
        place.faults.as_ref().unwrap().set_rules(Vec::new());
        let pods = usize::try_from(replicas).unwrap();
        place.wait(&format!("the pods run after {fault:?}"), || place.running() == pods);
    }
    let pods = rows().len() + 1;
    // Answers that come late are waited for, and nothing is asked for twice meanwhile.
    place.aws.control("POST delays", &json!({"ec2:CreateFleet": 4.0}));
    place.apply(&[deployment(u32::try_from(pods).unwrap() + 1)]);
    place.wait("the pods run after a late answer", || place.running() == pods + 1);
    assert_eq!(place.launched() - before, pods + 1, "an instance for each pod, and no other");
    place.aws.control("POST delays", &json!({}));

    let claim = place.all("nodeclaims").remove(0);
    let instance = claim["status"]["providerID"].as_str().unwrap().rsplit('/').next().unwrap();
    place.aws.deny(&["ec2:TerminateInstances"]);
    let name = claim["metadata"]["name"].as_str().unwrap();
    place.control_plane.kubectl(&["delete", "nodeclaim", name, "--wait=false"]).unwrap();
    let said = ["not allowed to call ec2:TerminateInstances on ", instance];
    place.wait("the permission is named", || place.says(&said));
    assert!(place.instances().contains(instance));
    place.aws.deny(&[]);
    place.wait("the instance ends", || !place.instances().contains(instance));
    place.close();
}

#[test]
fn a_cluster_that_is_not_in_the_region_stops_the_start_with_call_and_cluster() {
    let place = Place::enter();
    let mut command = place.command();
    let said = command.env("AWS_REGION", "eu-west-1").output().unwrap();
    assert!(!said.status.success());
    let said = String::from_utf8([said.stdout, said.stderr].concat()).unwrap();
    for words in ["eks:DescribeCluster on tidepool", "--cluster-endpoint"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
