//! Kubernetes Events.

use crate::event::Key;
use crate::time::Span;

/// One Event for a person to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubernetesEvent {
    /// The object it is shown at.
    pub about: Key,
    /// Whether it is a warning.
    pub tone: Tone,
    /// One word.
    pub reason: &'static str,
    /// A sentence or two.
    pub message: String,
    /// Said again only after so long: same object, reason and dedupe text.
    pub silence: Span,
    /// What makes it another Event than the last; the message if empty.
    pub dedupe: String,
    /// How often its reason may be given at most; the others are never said.
    pub rate: Option<Rate>,
}

/// How often something may be said, about whatever object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// In the long run.
    pub per_second: u32,
    /// After a pause.
    pub burst: u32,
}

/// Whether an Event is a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It is not.
    Normal,
    /// It is.
    Warning,
}

/// How long the same Event is not repeated, where nothing else is said.
pub const SILENCE_DEFAULT: Span = Span::from_minutes(2);

impl KubernetesEvent {
    /// A normal Event.
    #[must_use]
    pub fn normal(about: Key, reason: &'static str, message: impl Into<String>) -> Self {
        Self::new(about, Tone::Normal, reason, message.into())
    }

    /// A warning.
    #[must_use]
    pub fn warning(about: Key, reason: &'static str, message: impl Into<String>) -> Self {
        Self::new(about, Tone::Warning, reason, message.into())
    }

    /// Says that the node class of a claim or pool is not there.
    pub(crate) fn unresolved_node_class(about: Key) -> Self {
        Self::warning(about, "FailedResolvingNodeClass", "Failed resolving NodeClass")
    }

    /// Says that the account has no role for spot instances, in the words of the cloud's error.
    pub(crate) fn spot_role_missing(about: Key, error: &str) -> Self {
        let text = format!("Attempted to launch a spot instance but failed due to \"{error}\"");
        Self::warning(about, "SpotSLRCreationFailed", text)
    }

    /// Not repeated for so long.
    #[must_use]
    pub fn silent_for(mut self, silence: Span) -> Self {
        self.silence = silence;
        self
    }

    /// Said no faster than this.
    #[must_use]
    pub fn at_most(mut self, rate: Rate) -> Self {
        self.rate = Some(rate);
        self
    }

    fn new(about: Key, tone: Tone, reason: &'static str, message: String) -> Self {
        Self {
            about,
            tone,
            reason,
            message,
            silence: SILENCE_DEFAULT,
            dedupe: String::new(),
            rate: None,
        }
    }
}
