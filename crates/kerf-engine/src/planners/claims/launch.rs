//! From a stored claim to an instance.

use super::work::Work;
use crate::action::ActionKind;
use crate::condition::claim::LAUNCHED;
use crate::event::{Failure, Instance};
use crate::reason::Reason;

/// Longer error texts are cut, so that objects stay small; the original cuts here too.
const MESSAGE_CHARS_MAX: usize = 300;

/// Launches an instance, or stores what is known of one.
///
/// The instance is remembered until the status that names it is stored. If the process dies
/// before, the launch is asked for again and the cloud answers with the same instance.
pub(super) fn advance(work: &mut Work<'_>) {
    if work.claim.status.provider_id.is_some() {
        work.conditions.set_true(LAUNCHED);
        return;
    }
    if !work.claim.is_guarded() {
        return;
    }
    let memory = &work.world.memory;
    if let Some(instance) = memory.launched.get(&work.claim.meta.uid) {
        take_over(work, instance);
        return;
    }
    match memory.launch_failures.get(&work.claim.meta.name) {
        Some(failure) => {
            let (reason, message) = in_words(failure);
            work.conditions.set_unknown(LAUNCHED, &reason, &message);
        }
        None => work.has_no_news = true,
    }
    let kind = ActionKind::Launch(Box::new(work.claim.clone()));
    work.decision.act(kind, Reason::NotLaunched);
}

/// The claim's own labels win over the instance's; annotations are the other way round.
fn take_over(work: &mut Work<'_>, instance: &Instance) {
    let spec = &work.claim.spec;
    for (key, value) in &instance.labels {
        if !spec.labels.contains_key(key) {
            work.patch.labels.insert(key.clone(), value.clone());
        }
    }
    for (key, value) in &instance.annotations {
        if spec.annotations.get(key) != Some(value) {
            work.patch.annotations.insert(key.clone(), value.clone());
        }
    }
    let status = work.status.to_mut();
    status.provider_id = Some(instance.provider_id.clone());
    status.image_id.clone_from(&instance.image_id);
    status.capacity = instance.capacity.clone();
    status.allocatable = instance.allocatable.clone();
    work.conditions.set_true(LAUNCHED);
}

/// Reason and message for people.
pub(super) fn in_words(failure: &Failure) -> (String, String) {
    match failure {
        Failure::LaunchRefused { reason, message } => (reason.clone(), message.clone()),
        Failure::Conflict => ("LaunchFailed".to_owned(), "the claim changed meanwhile".to_owned()),
        Failure::Refused { message }
        | Failure::InsufficientCapacity { message }
        | Failure::NodeClassNotReady { message }
        | Failure::Invalid { message }
        | Failure::Unavailable { message } => ("LaunchFailed".to_owned(), cut(message)),
    }
}

fn cut(message: &str) -> String {
    match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &message[..end]),
        None => message.to_owned(),
    }
}
