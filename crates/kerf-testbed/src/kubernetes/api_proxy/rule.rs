//! Which calls have which faults.

use std::sync::mpsc;
use std::time::Duration;

use super::call::ApiCall;

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiFault {
    /// The server answers with this code. A watch that is running is told of it in its stream, as
    /// the server does with 410.
    Answer {
        /// As in 429.
        code: u16,
        /// How long it asks to be left alone.
        retry_after_seconds: Option<u32>,
    },
    /// Nothing is answered, and nobody says so: the other end is gone. A watch that is running falls
    /// silent for good, whatever the rules are later.
    Silence,
    /// It is passed on late.
    Slow(Duration),
    /// The connection closes without an answer.
    HangUp,
    /// The server does as it is asked, and the connection closes without an answer.
    LostAnswer,
    /// The answer says that it was given at this time, as a header does.
    Dated(&'static str),
}

impl ApiFault {
    /// An answer without a word about when to come again.
    pub fn code(code: u16) -> Self {
        Self::Answer { code, retry_after_seconds: None }
    }
}

/// Which calls a fault happens to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRule {
    /// What kind of calls.
    pub calls: Calls,
    /// The kind of object by its plural; all if none is named.
    pub resource: Option<&'static str>,
    /// Every how many matching calls: 1 is each.
    pub every: u64,
    /// What happens.
    pub fault: ApiFault,
}

/// Kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// All there are.
    All,
    /// Those that change something other than Leases and Events.
    Writes,
    /// Those that change an object that is there, other than Leases and Events.
    Changes,
    /// Those whose answer is a stream.
    Watches,
}

impl ApiRule {
    /// A fault of every call of a kind.
    pub fn each(calls: Calls, fault: ApiFault) -> Self {
        Self { calls, resource: None, every: 1, fault }
    }

    /// The same for one kind of object.
    #[must_use]
    pub fn of(mut self, resource: &'static str) -> Self {
        self.resource = Some(resource);
        self
    }

    /// The same for every so many calls.
    #[must_use]
    pub fn every(mut self, every: u64) -> Self {
        self.every = every;
        self
    }

    fn matches(&self, call: &ApiCall) -> bool {
        let is_kind = match self.calls {
            Calls::All => true,
            Calls::Writes => call.is_write(),
            Calls::Changes => {
                call.is_write() && matches!(call.method.as_str(), "PUT" | "PATCH" | "DELETE")
            }
            Calls::Watches => call.is_watch,
        };
        is_kind && self.resource.is_none_or(|resource| resource == call.resource)
    }
}

/// When a write is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The server never sees it.
    Before,
    /// The server did it; the answer never comes.
    After,
}

/// What to do with calls now.
#[derive(Debug, Default)]
pub(super) struct Rules {
    rules: Vec<(ApiRule, u64)>,
    hold: Option<Hold>,
    is_frozen: bool,
}

#[derive(Debug)]
struct Hold {
    writes_left: u64,
    held: Held,
    told: mpsc::Sender<ApiCall>,
}

/// What happens to one call.
#[derive(Debug)]
pub(super) enum Verdict {
    Pass,
    Fault(ApiFault),
    /// Nothing of it or of what follows reaches the server.
    Drop,
    /// The server does it, and nobody is told.
    DoAndDrop(mpsc::Sender<ApiCall>),
}

impl Rules {
    pub(super) fn set(&mut self, rules: Vec<ApiRule>) {
        self.rules = rules.into_iter().map(|rule| (rule, 0)).collect();
    }

    pub(super) fn hold(&mut self, nth: u64, held: Held) -> mpsc::Receiver<ApiCall> {
        let (told, receiver) = mpsc::channel();
        self.hold = Some(Hold { writes_left: nth, held, told });
        receiver
    }

    pub(super) fn freeze(&mut self, is_frozen: bool) {
        self.is_frozen = is_frozen;
        self.hold = None;
    }

    /// What happens to a call that comes now.
    pub(super) fn judge(&mut self, call: &ApiCall) -> Verdict {
        if self.is_frozen {
            return Verdict::Drop;
        }
        for (rule, seen) in &mut self.rules {
            if rule.matches(call) {
                *seen += 1;
                if seen.is_multiple_of(rule.every.max(1)) {
                    return Verdict::Fault(rule.fault.clone());
                }
            }
        }
        let Some(hold) = self.hold.as_mut().filter(|_| call.is_write()) else {
            return Verdict::Pass;
        };
        hold.writes_left = hold.writes_left.saturating_sub(1);
        if hold.writes_left > 0 {
            return Verdict::Pass;
        }
        let Some(Hold { held, told, .. }) = self.hold.take() else { return Verdict::Pass };
        self.is_frozen = true;
        match held {
            Held::After => Verdict::DoAndDrop(told),
            Held::Before => {
                // Whoever asked may have gone.
                let _ = told.send(call.clone());
                Verdict::Drop
            }
        }
    }

    /// What happens to a stream that is running: rules for every so many calls spare it.
    pub(super) fn of_running(&self, call: &ApiCall) -> Option<ApiFault> {
        if self.is_frozen {
            return Some(ApiFault::HangUp);
        }
        let mut rules = self.rules.iter().map(|(rule, _)| rule);
        rules.find(|rule| rule.every <= 1 && rule.matches(call)).map(|rule| rule.fault.clone())
    }
}
