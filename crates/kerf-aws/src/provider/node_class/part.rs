//! What comes of looking at one part of a node class.

use kerf_engine::condition::Status;
use kerf_engine::event::ResolvedCondition;
use tracing::warn;

use crate::CallError;

/// A part that is as the class says, or why not.
pub(super) type PartResult<T> = Result<T, PartError>;

/// Why a part is not as its class says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PartError {
    /// The class asks for what is not there, or cannot be.
    NotReady(NotReady),
    /// A call gave no answer.
    Call(CallError),
}

/// A condition that does not hold, or of which it is not known whether it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotReady {
    pub(super) status: Status,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// The reason of a part that a missing permission keeps from being looked at.
const UNAUTHORIZED: &str = "Unauthorized";

impl PartError {
    /// A condition that does not hold.
    pub(super) fn not_ready(reason: &'static str, message: impl Into<String>) -> Self {
        Self::NotReady(NotReady { status: Status::False, reason, message: message.into() })
    }

    /// A condition of which it is not known whether it holds.
    pub(super) fn unknown(reason: &'static str, message: impl Into<String>) -> Self {
        Self::NotReady(NotReady { status: Status::Unknown, reason, message: message.into() })
    }
}

impl From<CallError> for PartError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

/// What a part becomes in the status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Taken<T> {
    /// This.
    Found(T),
    /// Nothing: it was looked for and is not there.
    Nothing,
    /// What it was: nobody could tell.
    AsBefore,
}

impl<T> Taken<T> {
    /// The part of the new status, given the old one.
    pub(super) fn or_before(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Found(part) => Some(part),
            Self::Nothing => None,
            Self::AsBefore => before,
        }
    }
}

/// The conditions of a class in the making.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) conditions: Vec<ResolvedCondition>,
    /// Calls that gave no answer for now.
    pub(super) unanswered: Vec<CallError>,
}

impl Parts {
    /// Takes in a part. One that could not be asked for is not named, and so stays as it was; one
    /// that we may not ask for is named, because only its owner can help.
    pub(super) fn take<T>(&mut self, class: &str, kind: &str, part: PartResult<T>) -> Taken<T> {
        match part {
            Ok(part) => {
                self.add(kind, Status::True, "", String::new());
                Taken::Found(part)
            }
            Err(PartError::NotReady(NotReady { status, reason, message })) => {
                self.add(kind, status, reason, message);
                Taken::Nothing
            }
            Err(PartError::Call(error)) if error.is_transient() => {
                warn!(node_class = class, condition = kind, %error, "not looked at for now");
                self.unanswered.push(error);
                Taken::AsBefore
            }
            Err(PartError::Call(error)) => {
                let reason = match error {
                    CallError::Denied { .. } => UNAUTHORIZED,
                    _ => "ResolutionFailed",
                };
                self.add(kind, Status::False, reason, error.to_string());
                Taken::AsBefore
            }
        }
    }

    /// What was found out about a condition just now.
    pub(super) fn status_of(&self, kind: &str) -> Option<Status> {
        self.conditions.iter().find(|it| it.kind == kind).map(|condition| condition.status)
    }

    fn add(&mut self, kind: &str, status: Status, reason: &str, message: String) {
        let (kind, reason) = (kind.to_owned(), reason.to_owned());
        self.conditions.push(ResolvedCondition { kind, status, reason, message });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> CallError {
        CallError::refused("ec2:DescribeSubnets", "*", "InvalidParameterValue: no")
    }

    #[test]
    fn a_part_that_gave_no_answer_is_not_named_and_stays_as_it_was() {
        let mut parts = Parts::default();
        let (action, resource) = ("ec2:DescribeSubnets", "*".to_owned());
        let throttled = CallError::Throttled { action, resource, retry_after: None };
        let taken = parts.take::<u8>("web", "SubnetsReady", Err(throttled.clone().into()));
        assert_eq!(taken.or_before(Some(7)), Some(7));
        assert_eq!((parts.conditions.len(), parts.unanswered), (0, vec![throttled]));
    }

    #[test]
    fn a_part_that_we_may_not_ask_for_says_which_permission_is_missing() {
        let mut parts = Parts::default();
        let (action, resource) = ("ec2:DescribeSubnets", "*".to_owned());
        let denied = CallError::Denied { action, resource };
        let taken = parts.take::<u8>("web", "SubnetsReady", Err(denied.into()));
        assert_eq!(taken, Taken::AsBefore);
        let condition = &parts.conditions[0];
        assert_eq!((condition.status, condition.reason.as_str()), (Status::False, "Unauthorized"));
        assert!(condition.message.contains("ec2:DescribeSubnets on *"), "{}", condition.message);
        parts.take::<u8>("web", "AMIsReady", Err(refused().into()));
        assert_eq!(parts.conditions[1].reason, "ResolutionFailed");
    }

    #[test]
    fn a_part_that_is_not_there_is_nothing_in_the_status() {
        let mut parts = Parts::default();
        let missing = PartError::not_ready("SubnetsNotFound", "spec.subnetSelectorTerms: none");
        assert_eq!(parts.take("web", "SubnetsReady", Err(missing)).or_before(Some(7)), None);
        assert_eq!(parts.take("web", "AMIsReady", Ok(8)).or_before(Some(7)), Some(8));
        assert_eq!(parts.status_of("SubnetsReady"), Some(Status::False));
        assert_eq!(parts.status_of("AMIsReady"), Some(Status::True));
        assert_eq!(parts.status_of("SecurityGroupsReady"), None);
    }
}
