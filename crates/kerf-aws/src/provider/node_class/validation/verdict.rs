//! What a verdict depends on, and what becomes of a failed try.

use kerf_engine::condition::Status;
use kerf_model::hash::Fnv1a;
use serde_json::json;

use super::Subject;
use crate::CallError;
use crate::provider::launch_template::TemplateError;
use crate::provider::node_class::part::{NotReady, PartError};

/// What EC2 says of a profile that it does not know (yet).
const INVALID_PROFILE: &str = "Invalid IAM Instance Profile name";
/// What it says of user data that is too long.
const USER_DATA_LIMIT: &str = "User data is limited to";
/// What it says right after a template was created, before it is known everywhere.
const NO_TEMPLATE: &str = "InvalidLaunchTemplateName.NotFoundException";

/// Why a class failed when it was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TryFailure {
    reason: &'static str,
    message: String,
    /// Whether the same try would fail again: the owner of the class must do something.
    pub(super) is_lasting: bool,
    /// Whether it says something about the class at all. A call that was not answered does not.
    call: Option<Box<CallError>>,
}

impl TryFailure {
    /// A template that cannot be written.
    pub(super) fn of_template(error: &TemplateError) -> Self {
        let reason = error.reason();
        Self { reason, message: error.to_string(), is_lasting: true, call: None }
    }

    /// A call that failed, with the reason of a missing permission. A profile that EC2 does not
    /// know is wrong if the class names it, and on its way if Kerf has just made it.
    pub(super) fn of_call(
        error: CallError,
        auth_reason: &'static str,
        names_profile: bool,
    ) -> Self {
        let message = error.to_string();
        let (reason, is_lasting) = match &error {
            CallError::Denied { .. } => (auth_reason, true),
            CallError::Refused { why, .. } if why.contains(USER_DATA_LIMIT) => {
                ("UserDataSizeLimitExceeded", true)
            }
            CallError::Refused { why, .. } if why.contains(INVALID_PROFILE) && names_profile => {
                let message = format!("spec.instanceProfile: {message}");
                let reason = "InstanceProfileNotFound";
                return Self { reason, message, is_lasting: false, call: None };
            }
            _ => (auth_reason, false),
        };
        let call = (!is_lasting).then(|| Box::new(error));
        Self { reason, message, is_lasting, call }
    }

    /// The condition it makes.
    pub(super) fn not_ready(&self) -> NotReady {
        let (reason, message) = (self.reason, self.message.clone());
        NotReady { status: Status::False, reason, message }
    }

    /// What it means for a class. What EC2 refused for a reason of its own says little: a class
    /// that was valid stays so, and of another it is not known.
    pub(super) fn into_part_error(self, was_valid: bool) -> PartError {
        match self.call {
            None => PartError::NotReady(self.not_ready()),
            Some(error) if was_valid || is_passing(&error) => PartError::Call(as_passing(*error)),
            Some(_) => PartError::unknown(self.reason, self.message),
        }
    }
}

/// Whether the same call may go well in a moment.
fn is_passing(error: &CallError) -> bool {
    let CallError::Refused { code, why, .. } = error else { return error.is_transient() };
    code == NO_TEMPLATE || why.contains(INVALID_PROFILE)
}

/// The same error as one that passes, so that the condition is left alone.
fn as_passing(error: CallError) -> CallError {
    match error {
        CallError::Refused { action, resource, why, .. } => {
            CallError::Unavailable { action, resource, why }
        }
        error => error,
    }
}

/// Everything a verdict depends on. Lists count as sets: subnets change their order by the minute.
pub(super) fn hash(subject: Subject<'_>) -> u64 {
    let status = subject.object.status.clone().unwrap_or_default();
    let mut subnets = status.subnets.unwrap_or_default();
    subnets.sort_by(|a, b| a.id.cmp(&b.id));
    let mut amis = status.amis.unwrap_or_default();
    amis.sort_by(|a, b| a.id.cmp(&b.id));
    let parts = json!({
        "subnets": subnets, "amis": amis, "securityGroups": status.security_groups,
        "instanceProfile": status.instance_profile, "spec": subject.object.spec,
        "annotations": subject.class.annotations, "group": subject.group.map(|group| &group.id),
    });
    let mut hash = Fnv1a::default();
    hash.write(parts.to_string().as_bytes());
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUTH: &str = "RunInstancesAuthCheckFailed";

    fn refused(code: &str, why: &str) -> CallError {
        CallError::Refused {
            action: "ec2:RunInstances",
            resource: "subnet/subnet-1".to_owned(),
            code: code.to_owned(),
            why: format!("{code}: {why}"),
        }
    }

    /// Reason and status of the condition; none where it is left alone.
    fn outcome(
        error: CallError,
        names_profile: bool,
        was_valid: bool,
    ) -> (Option<(String, Status)>, bool) {
        let failure = TryFailure::of_call(error, AUTH, names_profile);
        let is_lasting = failure.is_lasting;
        match failure.into_part_error(was_valid) {
            PartError::NotReady(it) => (Some((it.reason.to_owned(), it.status)), is_lasting),
            PartError::Call(error) => {
                assert!(error.is_transient(), "{error}");
                (None, is_lasting)
            }
        }
    }

    #[test]
    fn each_failure_of_a_try_has_its_consequence() {
        let (action, resource) = ("ec2:RunInstances", "subnet/subnet-1".to_owned());
        let denied = CallError::Denied { action, resource: resource.clone() };
        let throttled = CallError::Throttled { action, resource, retry_after: None };
        let profile =
            refused("InvalidParameterValue", "Invalid IAM Instance Profile name (demo_1)");
        let size = refused("InvalidParameterValue", "User data is limited to 16384 bytes");
        let template = refused(NO_TEMPLATE, "at the moment");
        let other = refused("InvalidParameter", "they belong to different networks");
        let not_there = |reason: &str| Some((reason.to_owned(), Status::False));
        let not_known = Some((AUTH.to_owned(), Status::Unknown));
        for (error, names_profile, was_valid, condition, is_lasting) in [
            (denied, false, true, not_there(AUTH), true),
            (throttled, false, false, None, false),
            (profile.clone(), true, true, not_there("InstanceProfileNotFound"), false),
            (profile, false, false, None, false),
            (size, false, false, not_there("UserDataSizeLimitExceeded"), true),
            (template, false, false, None, false),
            (other.clone(), false, false, not_known, false),
            (other, false, true, None, false),
        ] {
            let said = outcome(error.clone(), names_profile, was_valid);
            assert_eq!(said, (condition, is_lasting), "{error}");
        }
    }
}
