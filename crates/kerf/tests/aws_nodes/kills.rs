//! The process is killed with -9 while it launches and while it drains, again and again.

use std::collections::BTreeSet;
use std::time::Duration;

use kerf_model::rng::SplitMix64;
use kerf_testbed::{ApiProxy, AwsCall, Held};
use serde_json::{Value, json};

use crate::home::ACCOUNT;
use crate::numbers::{number, seed};
use crate::objects::{class, deployment, pool};
use crate::place::Place;

const TYPES: [&str; 2] = ["m5.large", "m5a.large"];
const ZONES: [&str; 2] = ["us-east-1a", "us-east-1b"];
/// Calls after whose effect, and before whose answer, the process is killed.
const CALLS: [&str; 4] =
    ["ec2:CreateFleet", "ec2:TerminateInstances", "ec2:CreateTags", "ec2:DescribeInstances"];
/// For so long such a call is not answered.
const UNANSWERED_SECONDS: f64 = 5.0;
/// For so long after its launch EC2 does not describe an instance.
const UNDESCRIBED_SECONDS: f64 = 3.0;
/// Writes to the API server before a kill, at most.
const WRITES_MAX: u64 = 12;
/// A process that does not do what it is killed for is killed after so long.
const IDLE_AT_MOST: Duration = Duration::from_secs(12);
/// After so many kills everything must come to rest.
const KILLS_PER_REST: u32 = 4;

/// When the process is killed.
#[derive(Debug)]
enum Moment {
    /// This call had its effect and no answer.
    Unanswered(&'static str),
    /// Before or after a write to the API server.
    Write(u64, Held),
}

/// What is asked of the cluster between kills.
struct Load {
    random: SplitMix64,
    replicas: u32,
    /// Claims that were deleted.
    deleted: usize,
}

impl Load {
    fn below(&mut self, bound: u64) -> u64 {
        self.random.next_u64() % bound
    }

    fn moment(&mut self) -> Moment {
        let held = if self.below(2) == 0 { Held::Before } else { Held::After };
        match self.below(2) {
            0 => Moment::Unanswered(CALLS[self.below(CALLS.len() as u64) as usize]),
            _ => Moment::Write(1 + self.below(WRITES_MAX), held),
        }
    }

    /// More pods, and a node with a pod that has to go.
    fn change(&mut self, place: &Place) {
        self.replicas += 1 + self.below(2) as u32;
        place.apply(&[deployment(self.replicas)]);
        let claims = place.all("nodeclaims");
        let stays = |claim: &&Value| {
            claim["metadata"]["deletionTimestamp"].is_null() && instance_of(claim).is_some()
        };
        let staying: Vec<&Value> = claims.iter().filter(stays).collect();
        if !staying.is_empty() {
            let chosen = staying[self.below(staying.len() as u64) as usize];
            let name = chosen["metadata"]["name"].as_str().unwrap();
            let delete = ["delete", "nodeclaim", name, "--wait=false"];
            place.control_plane.kubectl(&delete).unwrap();
            self.deleted += 1;
        }
    }
}

/// The instance of a claim, once it was launched.
fn instance_of(claim: &Value) -> Option<String> {
    let id = claim["status"]["providerID"].as_str().filter(|id| !id.is_empty())?;
    id.rsplit('/').next().map(str::to_owned)
}

#[test]
fn a_controller_killed_while_it_launches_and_drains_leaks_and_doubles_nothing() {
    let (kills, seed) = (number("KERF_KILLS", 8), seed());
    println!("KERF_KILLS={kills} KERF_SEED={seed}");
    let mut place = Place::enter();
    let api = ApiProxy::start(&place.control_plane, Some(ACCOUNT)).unwrap();
    place.kubeconfig = Some(api.kubeconfig().to_path_buf());
    place.aws.set(&json!({"describe_lag_seconds": UNDESCRIBED_SECONDS}));
    let before = (place.launched(), place.claims_changed().len());
    let mut load = Load { random: SplitMix64::new(seed), replicas: 2, deleted: 0 };
    place.apply(&[class(), pool(&TYPES, &ZONES), deployment(load.replicas)]);
    rest(&mut place, &load, before);
    for kill in 1..=kills {
        load.change(&place);
        let moment = load.moment();
        let is_met = run_until(&mut place, &api, &moment);
        println!("kill {kill}: {moment:?}{}", if is_met { "" } else { ", which did not come" });
        if kill % KILLS_PER_REST == 0 || kill == kills {
            rest(&mut place, &load, before);
        }
    }
    println!("{kills} kills, {} claims deleted, {} pods", load.deleted, load.replicas);
    place.start();
    place.close();
}

/// Starts a controller and kills it at a moment; whether the moment came.
fn run_until(place: &mut Place, api: &ApiProxy, moment: &Moment) -> bool {
    place.aws.forget_calls();
    let is_met = match moment {
        Moment::Unanswered(call) => {
            let seconds = |call: &str| json!({call: UNANSWERED_SECONDS});
            place.aws.control("POST delays", &seconds(call));
            place.start_to_kill();
            // Node classes are tried by dry runs, which launch nothing.
            let is_it = |it: &AwsCall| !it.is_dry_run && it.permission() == *call;
            place.waits(IDLE_AT_MOST, || place.aws.calls().iter().any(is_it))
        }
        Moment::Write(nth, held) => {
            let held = api.hold(*nth, *held);
            place.start_to_kill();
            held.recv_timeout(IDLE_AT_MOST).is_ok()
        }
    };
    place.kill();
    api.freeze(false);
    place.aws.control("POST delays", &json!({}));
    is_met
}

/// Lets everything come to rest, and looks at what has become of it.
fn rest(place: &mut Place, load: &Load, before: (usize, usize)) {
    place.start_to_kill();
    let pods = usize::try_from(load.replicas).unwrap();
    let is_at_rest = || {
        let claims = place.all("nodeclaims");
        let of_claims: BTreeSet<String> = claims.iter().filter_map(instance_of).collect();
        let going = claims.iter().any(|it| !it["metadata"]["deletionTimestamp"].is_null());
        place.running() == pods
            && !going
            && of_claims.len() == claims.len()
            && place.all("nodes").len() == claims.len()
            && place.instances() == of_claims
    };
    place.wait("every instance has its claim and its node, and every pod runs", is_at_rest);
    place.kill();
    let claims = place.claims_changed();
    let (launched, made) = (place.launched() - before.0, claims.len() - before.1);
    // What was launched without an answer is given to a claim by the process that comes next.
    assert_eq!(
        launched, made,
        "instances and claims: one each, whoever was killed when {claims:?}"
    );
    let needed = pods + load.deleted;
    assert!(made <= needed, "{made} claims for {needed} needs: something was bought twice");
}
