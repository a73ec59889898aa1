//! Who was launched with whom, and what came of it: what makes a launch safe to ask for again.
//!
//! A claim's uid is in one place at a time: in a batch that has no answer yet, or among the launched.
//! EC2 is never asked for a second instance while it may have given a first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kerf_engine::event::Failure;
use kerf_engine::observed::Name;
use kerf_model::hash::Fnv1a;
use tokio::sync::{oneshot, watch};

use super::answer::{FleetAnswer, Launched};
use super::fleet::{FleetOrder, FleetRequest};
use super::verdict::{failure_of_call, failure_of_fleet};
use crate::CallError;

/// How long answers are remembered. A claim that was not stored as launched within minutes is
/// given up by the engine.
const REMEMBERED_FOR: Duration = Duration::from_secs(3_600);
/// And how many: a storm of launches an hour long at EC2's pace of two calls a second.
const REMEMBERED_MAX: usize = 20_000;

/// The uid of a claim.
pub(crate) type Uid = Arc<str>;
/// What a launch comes to.
pub(crate) type Answer = Result<Arc<Launched>, Failure>;
/// Brings the answer.
pub(crate) type Waiting = oneshot::Receiver<Answer>;
/// The number of a batch.
pub(crate) type BatchId = u64;

/// Batches under way and launches that were answered.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    open: HashMap<Arc<FleetRequest>, BatchId>,
    batches: HashMap<BatchId, Batch>,
    batch_of: HashMap<Uid, BatchId>,
    launched: HashMap<Uid, Remembered>,
    /// How often a claim got a final answer that was no instance. EC2 would give the same answer
    /// to the same token for ever.
    failures: HashMap<Uid, (u32, Instant)>,
    next: BatchId,
}

#[derive(Debug)]
struct Batch {
    request: Arc<FleetRequest>,
    members: BTreeMap<Uid, Member>,
    size: watch::Sender<usize>,
    opened_at: Instant,
    stage: Stage,
    /// Whether EC2 may have launched it without our hearing of it.
    may_be_launched: bool,
}

#[derive(Debug)]
struct Member {
    claim: Name,
    waiting: Vec<oneshot::Sender<Answer>>,
}

#[derive(Debug)]
enum Stage {
    Open,
    Sent(Arc<FleetOrder>),
    Unanswered(Arc<FleetOrder>),
}

/// An instance that was launched for a claim.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub(crate) claim: Name,
    pub(crate) instance: Arc<Launched>,
    pub(crate) at: Instant,
    /// Whether its end was seen.
    pub(crate) is_gone: bool,
}

/// Where a claim stands.
#[derive(Debug)]
pub(crate) enum Place {
    /// It has its instance.
    Launched(Arc<Launched>),
    /// Its batch is under way.
    Waiting(Waiting),
    /// Its batch had no answer and must be sent again as it was.
    Again(Waiting, BatchId, Arc<FleetOrder>),
    /// It is the first of a new batch, which grows until it is sent.
    Opened(Waiting, BatchId, watch::Receiver<usize>),
}

impl Ledger {
    /// Where a claim stands that was launched before, if it was.
    pub(crate) fn find(&mut self, uid: &str) -> Option<Place> {
        if let Some(remembered) = self.launched.get(uid) {
            return Some(Place::Launched(remembered.instance.clone()));
        }
        let id = *self.batch_of.get(uid)?;
        let batch = self.batches.get_mut(&id)?;
        let (sender, waiting) = oneshot::channel();
        batch.members.get_mut(uid)?.waiting.push(sender);
        let Stage::Unanswered(order) = &batch.stage else { return Some(Place::Waiting(waiting)) };
        let order = order.clone();
        batch.stage = Stage::Sent(order.clone());
        Some(Place::Again(waiting, id, order))
    }

    /// Adds a claim to the open batch of its request, unless it has a place already.
    pub(crate) fn join(
        &mut self,
        uid: &Uid,
        claim: &Name,
        request: &Arc<FleetRequest>,
        most: usize,
        now: Instant,
    ) -> Place {
        if let Some(place) = self.find(uid) {
            return place;
        }
        self.forget_old(now);
        let (sender, waiting) = oneshot::channel();
        let member = Member { claim: claim.clone(), waiting: vec![sender] };
        let open = self.open.get(request).copied();
        if let Some((id, batch)) = open.and_then(|id| Some((id, self.batches.get_mut(&id)?)))
            && batch.members.len() < most
        {
            batch.members.insert(uid.clone(), member);
            batch.size.send_replace(batch.members.len());
            self.batch_of.insert(uid.clone(), id);
            return Place::Waiting(waiting);
        }
        let id = self.next;
        self.next += 1;
        let (size, growing) = watch::channel(1);
        self.open.insert(request.clone(), id);
        self.batch_of.insert(uid.clone(), id);
        let batch = Batch {
            request: request.clone(),
            members: [(uid.clone(), member)].into(),
            size,
            opened_at: now,
            stage: Stage::Open,
            may_be_launched: false,
        };
        self.batches.insert(id, batch);
        Place::Opened(waiting, id, growing)
    }

    /// What a batch is asked for.
    pub(crate) fn request(&self, id: BatchId) -> Option<Arc<FleetRequest>> {
        self.batches.get(&id).map(|batch| batch.request.clone())
    }

    /// Closes a batch: nobody joins any more, and what is sent is settled. How long it was open
    /// comes with it.
    pub(crate) fn close(
        &mut self,
        id: BatchId,
        place: impl FnOnce(&mut FleetOrder),
    ) -> Option<(Arc<FleetOrder>, Duration)> {
        let batch = self.batches.get_mut(&id)?;
        if self.open.get(&batch.request) == Some(&id) {
            self.open.remove(&batch.request);
        }
        let members: Vec<Uid> = batch.members.keys().cloned().collect();
        let failures = members.iter().map(|uid| self.failures.get(uid).map_or(0, |it| it.0));
        let mut order = FleetOrder {
            request: batch.request.clone(),
            token: token(&members, failures),
            members,
            subnets: BTreeMap::new(),
            deductions: BTreeMap::new(),
        };
        place(&mut order);
        let order = Arc::new(order);
        batch.stage = Stage::Sent(order.clone());
        Some((order, batch.opened_at.elapsed()))
    }

    /// The same order once more after EC2 has answered it: as another one.
    pub(crate) fn renew(&mut self, id: BatchId, now: Instant) -> Option<Arc<FleetOrder>> {
        let batch = self.batches.get_mut(&id)?;
        let Stage::Sent(order) = &batch.stage else { return None };
        for uid in &order.members {
            self.failures.entry(uid.clone()).or_insert((0, now)).0 += 1;
        }
        let failures = order.members.iter().map(|uid| self.failures.get(uid).map_or(0, |it| it.0));
        let token = token(&order.members, failures);
        let order = Arc::new(FleetOrder { token, ..FleetOrder::clone(order) });
        batch.stage = Stage::Sent(order.clone());
        Some(order)
    }

    /// Hands an answer to everybody it is for. Without one the batch stays, to be sent again.
    pub(crate) fn settle(
        &mut self,
        id: BatchId,
        answer: &Result<FleetAnswer, CallError>,
        now: Instant,
    ) {
        let Some(batch) = self.batches.get_mut(&id) else { return };
        if let (Stage::Sent(order), Err(error)) = (&batch.stage, answer)
            && is_in_doubt(error, batch.may_be_launched)
        {
            batch.stage = Stage::Unanswered(order.clone());
            batch.may_be_launched = true;
            let failure = failure_of_call(error);
            for member in batch.members.values_mut() {
                tell(member, &Err(failure.clone()));
            }
            return;
        }
        let Some(batch) = self.batches.remove(&id) else { return };
        if self.open.get(&batch.request) == Some(&id) {
            self.open.remove(&batch.request);
        }
        let mut launched = answer.iter().flat_map(|it| &it.instances);
        let failure = match answer {
            Ok(answer) => failure_of_fleet(&answer.errors),
            Err(error) => failure_of_call(error),
        };
        let is_answered = answer.is_ok() || matches!(answer, Err(CallError::Refused { .. }));
        for (uid, mut member) in batch.members {
            self.batch_of.remove(&uid);
            let Some(instance) = launched.next() else {
                if is_answered {
                    let failures = self.failures.entry(uid).or_insert((0, now));
                    *failures = (failures.0 + 1, now);
                }
                tell(&mut member, &Err(failure.clone()));
                continue;
            };
            let instance = Arc::new(instance.clone());
            tell(&mut member, &Ok(instance.clone()));
            let claim = member.claim;
            self.launched.insert(uid, Remembered { claim, instance, at: now, is_gone: false });
        }
    }

    /// Gives a claim an instance that another process has launched.
    pub(crate) fn adopt(
        &mut self,
        uid: &Uid,
        claim: &Name,
        instance: Launched,
        now: Instant,
    ) -> Arc<Launched> {
        let (claim, instance) = (claim.clone(), Arc::new(instance));
        let remembered = Remembered { claim, instance: instance.clone(), at: now, is_gone: false };
        self.launched.insert(uid.clone(), remembered);
        instance
    }

    /// Instances that were launched after a moment and whose end was not seen.
    pub(crate) fn launched_since(&self, then: Option<Instant>) -> Vec<Remembered> {
        let all = self.launched.values().filter(|it| !it.is_gone);
        all.filter(|it| then.is_none_or(|then| it.at >= then)).cloned().collect()
    }

    /// Whether there is a batch of which EC2 has not told what it launched.
    pub(crate) fn has_unanswered(&self) -> bool {
        self.batches.values().any(|batch| batch.may_be_launched)
    }

    /// The instance of that id, if it was launched here.
    pub(crate) fn instance(&self, id: &str) -> Option<&Remembered> {
        self.launched.values().find(|it| it.instance.id == id)
    }

    /// The uid of the claim of that name for which something may have been launched.
    pub(crate) fn uid_of(&self, claim: &str) -> Option<Uid> {
        let mut launched = self.launched.iter().filter(|(_, it)| !it.is_gone);
        if let Some((uid, _)) = launched.find(|(_, it)| *it.claim == *claim) {
            return Some(uid.clone());
        }
        let mut members = self.batches.values().flat_map(|batch| &batch.members);
        members.find(|(_, member)| *member.claim == *claim).map(|(uid, _)| uid.clone())
    }

    /// The end of an instance was seen.
    pub(crate) fn ended(&mut self, id: &str) {
        let mut all = self.launched.values_mut();
        if let Some(remembered) = all.find(|it| it.instance.id == id) {
            remembered.is_gone = true;
        }
    }

    fn forget_old(&mut self, now: Instant) {
        let is_new = |at: Instant| now.saturating_duration_since(at) < REMEMBERED_FOR;
        self.failures.retain(|_, (_, at)| is_new(*at));
        if self.launched.len() >= REMEMBERED_MAX {
            self.launched.clear();
        }
        self.launched.retain(|_, it| is_new(it.at));
        let is_kept =
            |batch: &Batch| !matches!(batch.stage, Stage::Unanswered(_)) || is_new(batch.opened_at);
        self.batches.retain(|_, batch| is_kept(batch));
        self.batch_of.retain(|_, id| self.batches.contains_key(id));
    }
}

/// Whether EC2 may have done what it was asked for although it gave no answer. Once it may have,
/// only an answer to the very same request tells.
fn is_in_doubt(error: &CallError, may_be_launched: bool) -> bool {
    match error {
        CallError::Unavailable { .. } => true,
        CallError::Throttled { .. } | CallError::Credentials { .. } | CallError::Denied { .. } => {
            may_be_launched
        }
        CallError::Refused { .. } | CallError::NoSuchQueue { .. } => false,
    }
}

fn tell(member: &mut Member, answer: &Answer) {
    for waiting in member.waiting.drain(..) {
        // Who no longer waits asks again.
        let _ = waiting.send(answer.clone());
    }
}

/// By which EC2 knows a request again: the uid of a single claim, or a hash of all of them.
fn token(members: &[Uid], failures: impl Iterator<Item = u32>) -> String {
    let failures: Vec<u32> = failures.collect();
    if let ([uid], [0]) = (members, failures.as_slice()) {
        return uid.to_string();
    }
    let hash = |seed: u64| {
        let mut hash = Fnv1a::seeded(seed);
        for (uid, failures) in members.iter().zip(&failures) {
            hash.write_field(uid.as_bytes());
            hash.write_field(&failures.to_le_bytes());
        }
        hash.finish()
    };
    format!("kerf-{:016x}{:016x}", hash(0x9e37_79b9_7f4a_7c15), hash(0xd1b5_4a32_d192_ed03))
}

#[cfg(test)]
mod tests;
