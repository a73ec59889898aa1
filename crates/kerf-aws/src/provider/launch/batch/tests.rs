//! No claim ever gets two instances: together, at once, again, without an answer.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use super::super::answer::{FleetError, Launched};
use super::super::capacity_type::Purchase;
use super::super::fixtures::{launched, request};
use super::*;

/// EC2, as far as fleets go: the same token gets the same answer, and an answer may get lost.
#[derive(Debug)]
struct Cloud {
    /// Each call may be answered once it has a permit.
    turns: Semaphore,
    answers: Mutex<Vec<Reaction>>,
    /// What was launched, by token.
    fleets: Mutex<Vec<(String, Vec<Launched>)>>,
    /// Tokens and sizes of all calls.
    calls: Mutex<Vec<(String, usize)>>,
    ids: AtomicUsize,
    /// Calls whose turn has come or that wait for it.
    begun: AtomicUsize,
}

/// What becomes of a call.
#[derive(Clone, Debug)]
enum Reaction {
    /// It launches so many and no more.
    Launch(usize),
    /// It launches everything, and the answer gets lost.
    Lose,
    /// It is refused with this code.
    Refuse(&'static str),
    /// There are too many calls.
    Throttle,
    /// Nothing is launched, for this reason.
    Fail(&'static str),
}

impl Cloud {
    fn new(answers: &[Reaction]) -> Self {
        Self {
            turns: Semaphore::new(Semaphore::MAX_PERMITS),
            answers: Mutex::new(answers.iter().rev().cloned().collect()),
            fleets: Mutex::default(),
            calls: Mutex::default(),
            ids: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
        }
    }

    fn run(&self, order: &FleetOrder, most: usize) -> Vec<Launched> {
        let mut fleets = self.fleets.lock().unwrap();
        if let Some((_, known)) = fleets.iter().find(|(token, _)| *token == order.token) {
            return known.clone();
        }
        let count = order.members.len().min(most);
        let new = |_| launched(&format!("i-{:04}", self.ids.fetch_add(1, Ordering::SeqCst)));
        let instances: Vec<Launched> = (0..count).map(new).collect();
        fleets.push((order.token.clone(), instances.clone()));
        instances
    }

    fn launched(&self) -> usize {
        self.fleets.lock().unwrap().iter().map(|(_, instances)| instances.len()).sum()
    }

    fn sizes(&self) -> Vec<usize> {
        self.calls.lock().unwrap().iter().map(|(_, size)| *size).collect()
    }

    fn tokens(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|(token, _)| token.clone()).collect()
    }
}

impl FleetSender for Arc<Cloud> {
    async fn send(
        &self,
        _: &FleetRequest,
        close: impl FnOnce() -> Option<Arc<FleetOrder>> + Send,
    ) -> Result<FleetAnswer, CallError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.turns.acquire().await.unwrap().forget();
        let order = close().unwrap();
        self.calls.lock().unwrap().push((order.token.clone(), order.members.len()));
        let reaction = self.answers.lock().unwrap().pop().unwrap_or(Reaction::Launch(usize::MAX));
        let (action, resource) = ("ec2:CreateFleet", String::new());
        let error = |code: &str| FleetError { code: code.to_owned(), ..FleetError::default() };
        match reaction {
            Reaction::Launch(most) => {
                let instances = self.run(&order, most);
                let missing = order.members.len() - instances.len();
                let errors = vec![error("InsufficientInstanceCapacity"); missing.min(1)];
                Ok(FleetAnswer { instances, errors })
            }
            Reaction::Lose => {
                self.run(&order, usize::MAX);
                Err(CallError::Unavailable { action, resource, why: "time-out".to_owned() })
            }
            Reaction::Refuse(code) => {
                let (code, why) = (code.to_owned(), code.to_owned());
                Err(CallError::Refused { action, resource, code, why })
            }
            Reaction::Throttle => Err(CallError::Throttled { action, resource, retry_after: None }),
            Reaction::Fail(code) => {
                Ok(FleetAnswer { instances: Vec::new(), errors: vec![error(code)] })
            }
        }
    }

    fn place(&self, _: &mut FleetOrder) {}
}

/// Closes when nobody is about to join any more: all that can run have run.
const SHORT: Window =
    Window { idle: Duration::from_millis(5), longest: Duration::from_secs(5), most: 1_000 };

fn batches(answers: &[Reaction]) -> (Arc<Cloud>, Batches<Arc<Cloud>>) {
    let cloud = Arc::new(Cloud::new(answers));
    let batches = Batches::new(cloud.clone(), SHORT, Registry::default());
    (cloud, batches)
}

async fn launch(batches: &Batches<Arc<Cloud>>, uid: &str) -> Answer {
    let request = Arc::new(request(Purchase::OnDemand));
    batches.launch(&Arc::from(uid), &Arc::from(format!("claim-{uid}")), request).await
}

/// Launches for all of these at once; the answers in the same order.
async fn launch_all(batches: &Batches<Arc<Cloud>>, uids: &[String]) -> Vec<Answer> {
    let tasks: Vec<_> = uids
        .iter()
        .map(|uid| {
            let (batches, uid) = (batches.clone(), uid.clone());
            tokio::spawn(async move { launch(&batches, &uid).await })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

fn uids(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("uid-{n:03}")).collect()
}

fn ids(answers: &[Answer]) -> BTreeSet<String> {
    answers.iter().filter_map(|it| Some(it.as_ref().ok()?.id.clone())).collect()
}

#[tokio::test]
async fn launches_that_ask_for_the_same_are_one_call_and_get_an_instance_each() {
    let (cloud, batches) = batches(&[]);
    let answers = launch_all(&batches, &uids(20)).await;
    assert_eq!(ids(&answers).len(), 20, "no two claims have the same");
    assert_eq!(cloud.sizes(), [20]);
    let page = batches.registry.page().finish();
    let count = "karpenter_cloudprovider_batcher_batch_size_sum{batcher=\"create_fleet\"} 20";
    assert!(page.contains(count), "{page}");
}

#[tokio::test]
async fn who_waits_with_others_holds_no_request_of_its_own() {
    let (_, batches) = batches(&[]);
    let own = Arc::new(request(Purchase::OnDemand));
    let held = Arc::downgrade(&own);
    let (uid, claim): (Uid, Name) = (Arc::from("uid-2"), Arc::from("claim-2"));
    let first = launch(&batches, "uid-1");
    let second = batches.launch(&uid, &claim, own);
    let is_dropped = async { held.upgrade().is_none() };
    // In this order, each until it waits.
    let (one, two, is_dropped) = tokio::join!(first, second, is_dropped);
    assert!(is_dropped && one.is_ok() && two.is_ok());
}

#[tokio::test]
async fn launches_that_ask_for_something_else_are_another_call() {
    let (cloud, batches) = batches(&[]);
    let other = Arc::new(request(Purchase::Spot));
    let (uid, claim): (Uid, Name) = (Arc::from("uid-2"), Arc::from("claim-2"));
    let (one, two) = tokio::join!(launch(&batches, "uid-1"), batches.launch(&uid, &claim, other));
    assert_ne!(one.unwrap().id, two.unwrap().id);
    assert_eq!(cloud.sizes(), [1, 1]);
}

#[tokio::test]
async fn a_batch_grows_until_its_turn_has_come() {
    let (cloud, batches) = batches(&[]);
    cloud.turns.forget_permits(Semaphore::MAX_PERMITS);
    let first = {
        let batches = batches.clone();
        tokio::spawn(async move { launch_all(&batches, &uids(3)).await })
    };
    // Its window has closed, and others still join it.
    while cloud.begun.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let late = {
        let batches = batches.clone();
        tokio::spawn(async move { launch(&batches, "uid-late").await })
    };
    while batches.ledger().uid_of("claim-uid-late").is_none() {
        tokio::task::yield_now().await;
    }
    cloud.turns.add_permits(1);
    assert_eq!(ids(&first.await.unwrap()).len(), 3);
    assert!(late.await.unwrap().is_ok());
    assert_eq!(cloud.sizes(), [4]);
}

#[tokio::test]
async fn a_storm_of_launches_is_a_handful_of_calls() {
    let (cloud, batches) = batches(&[]);
    cloud.turns.forget_permits(Semaphore::MAX_PERMITS);
    let storm = {
        let batches = batches.clone();
        tokio::spawn(async move { launch_all(&batches, &uids(500)).await })
    };
    while batches.ledger().uid_of("claim-uid-499").is_none() {
        tokio::task::yield_now().await;
    }
    // EC2 lets one call through, and then another.
    cloud.turns.add_permits(2);
    let answers = storm.await.unwrap();
    assert_eq!(ids(&answers).len(), 500);
    assert_eq!(cloud.sizes(), [500], "everybody joined while the first waited for its turn");
}

#[tokio::test]
async fn the_same_claim_asked_for_many_times_at_once_gets_one_instance() {
    let (cloud, batches) = batches(&[]);
    let answers = launch_all(&batches, &vec!["uid-1".to_owned(); 50]).await;
    assert_eq!((ids(&answers).len(), cloud.launched()), (1, 1));
    assert_eq!(cloud.tokens(), ["uid-1"], "a single claim's token is its uid");
    let again = launch(&batches, "uid-1").await;
    assert_eq!(again.unwrap().id, "i-0000");
    assert_eq!(cloud.sizes(), [1], "answered from memory");
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_with_the_same_request() {
    let (cloud, batches) = batches(&[Reaction::Lose, Reaction::Lose]);
    let all = uids(5);
    let lost = launch_all(&batches, &all).await;
    let is_lost = |it: &Answer| matches!(it, Err(Failure::Unavailable { .. }));
    assert!(lost.iter().all(is_lost), "{lost:?}");
    assert!(is_lost(&launch(&batches, "uid-003").await), "lost once more");
    let found = launch(&batches, "uid-003").await.unwrap();
    let mut answers = launch_all(&batches, &all).await;
    assert_eq!(answers[3].as_ref().unwrap().id, found.id);
    assert_eq!((ids(&answers).len(), cloud.launched()), (5, 5));
    let tokens = cloud.tokens();
    assert!(tokens.len() == 3 && tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
    answers.sort_by_key(|it| it.as_ref().map(|it| it.id.clone()).unwrap_or_default());
    assert_eq!(answers[0].as_ref().unwrap().id, "i-0000");
}

#[tokio::test]
async fn while_an_answer_is_lost_others_get_their_own_instances() {
    let (cloud, batches) = batches(&[Reaction::Lose]);
    assert!(launch(&batches, "uid-1").await.is_err());
    let other = launch(&batches, "uid-2").await.unwrap();
    let found = launch(&batches, "uid-1").await.unwrap();
    assert_ne!(other.id, found.id);
    assert_eq!(cloud.launched(), 2);
}

#[tokio::test]
async fn throttling_after_a_lost_answer_leaves_the_request_as_it_was() {
    let (cloud, batches) = batches(&[Reaction::Lose, Reaction::Throttle]);
    assert!(launch(&batches, "uid-1").await.is_err());
    let throttled = launch(&batches, "uid-1").await;
    assert!(matches!(throttled, Err(Failure::Throttled { .. })), "{throttled:?}");
    assert!(launch(&batches, "uid-1").await.is_ok());
    assert_eq!((cloud.launched(), cloud.tokens()), (1, vec!["uid-1".to_owned(); 3]));
}

#[tokio::test]
async fn throttled_launches_are_free_to_go_with_others() {
    let (cloud, batches) = batches(&[Reaction::Throttle]);
    assert!(launch(&batches, "uid-1").await.is_err());
    let answers = launch_all(&batches, &["uid-1".to_owned(), "uid-2".to_owned()]).await;
    assert_eq!((ids(&answers).len(), cloud.sizes()), (2, vec![1, 2]));
}

#[tokio::test]
async fn who_gets_no_instance_hears_why_and_may_ask_anew() {
    let (cloud, batches) = batches(&[Reaction::Launch(2)]);
    let answers = launch_all(&batches, &uids(3)).await;
    assert_eq!(ids(&answers).len(), 2);
    assert!(matches!(answers[2], Err(Failure::InsufficientCapacity { .. })), "by uid");
    assert!(launch(&batches, "uid-002").await.is_ok(), "a final answer is not given again");
    let tokens = cloud.tokens();
    assert_ne!(tokens[1], "uid-002", "the token of a launch that failed is used up");
    assert_eq!(cloud.launched(), 3);
}

#[tokio::test]
async fn a_template_that_vanished_is_made_anew_once() {
    const GONE: &str = "InvalidLaunchTemplateName.NotFoundException";
    let (cloud, gone_once) = batches(&[Reaction::Fail(GONE)]);
    assert!(launch(&gone_once, "uid-1").await.is_ok());
    let tokens = cloud.tokens();
    assert!(tokens.len() == 2 && tokens[0] != tokens[1], "{tokens:?}");
    let (cloud, gone_twice) = batches(&[Reaction::Refuse(GONE), Reaction::Fail(GONE)]);
    let failed = launch(&gone_twice, "uid-1").await;
    assert!(matches!(failed, Err(Failure::LaunchRefused { .. })), "{failed:?}");
    assert_eq!(cloud.sizes(), [1, 1], "not a third time");
}

#[tokio::test]
async fn an_answer_that_nobody_waits_for_is_remembered() {
    let (cloud, batches) = batches(&[]);
    cloud.turns.forget_permits(Semaphore::MAX_PERMITS);
    let impatient = {
        let batches = batches.clone();
        tokio::spawn(async move { launch(&batches, "uid-1").await })
    };
    while batches.ledger().uid_of("claim-uid-1").is_none() {
        tokio::task::yield_now().await;
    }
    impatient.abort();
    assert!(impatient.await.is_err());
    cloud.turns.add_permits(1);
    let known = batches.known("uid-1").await.unwrap().unwrap();
    assert_eq!((known.id.as_str(), cloud.sizes()), ("i-0000", vec![1]));
    assert!(batches.known("uid-2").await.is_none(), "nobody asked for it");
}
