//! Records as lines.
//!
//! ```text
//!  {"kerf_journal":1,"kerf_version":"0.1.0","segment":1,"settings":{…}}
//!  {"define":[0,{"namespace":"web","labels":{…},…}]}
//!  {"event":{"Seen":{"Pod":{"key":"web/a","shape":{"$":0},…}}},"at":1767225600000}
//!  {"decide":1767225600000,"actions":[{"id":1,"kind":{"Launch":{…}},…}]}
//! ```

use kerf_engine::action::{Action, ActionKind};
use serde::Serialize;
use serde_json::{Error, Value, json};

use crate::digest::digest;
use crate::header::Header;
use crate::record::Record;
use crate::shared::Written;

/// Turns records into lines, one segment after the other.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    written: Written,
}

impl Encoder {
    /// Starts a segment: its first line. Nothing in it refers to an earlier segment.
    ///
    /// # Errors
    /// See [`Encoder::encode`].
    pub fn start(&mut self, header: &Header) -> Result<String, Error> {
        self.written = Written::default();
        let mut text = serde_json::to_string(header)?;
        text.push('\n');
        Ok(text)
    }

    /// The lines of a record: definitions of what it shares with others, then its own.
    ///
    /// # Errors
    /// A value of a record has no JSON form. None is known of; it would be a mistake in its type.
    pub fn encode(&mut self, record: &Record) -> Result<String, Error> {
        let mut value = value(record)?;
        let mut lines = String::new();
        self.written.replace(&mut value, &mut |number, text| {
            lines.push_str(&format!("{{\"define\":[{number},{text}]}}\n"));
        });
        lines.push_str(&value.to_string());
        lines.push('\n');
        Ok(lines)
    }
}

fn value(record: &Record) -> Result<Value, Error> {
    Ok(match record {
        Record::Event { at, event } => json!({ "event": to_value(event)?, "at": at.millis() }),
        Record::Decision { at, actions, withdrawn, settled } => {
            let mut decision = json!({ "decide": at.millis() });
            if !actions.is_empty() {
                decision["actions"] = actions.iter().map(action_value).collect::<Result<_, _>>()?;
            }
            if !withdrawn.is_empty() {
                decision["withdrawn"] = to_value(withdrawn)?;
            }
            if !settled.is_empty() {
                decision["settled"] = to_value(settled)?;
            }
            decision
        }
        Record::StandBy { at, settled } => {
            let mut standby = json!({ "stand_by": at.millis() });
            if !settled.is_empty() {
                standby["settled"] = to_value(settled)?;
            }
            standby
        }
        Record::State(engine) => json!({ "state": to_value(engine)? }),
        Record::Gap { records } => json!({ "gap": records }),
    })
}

/// An action as journals have it. The problem of a solve is a digest: its answer is in the outcome,
/// and a replay makes the problem anew.
pub(crate) fn action_value(action: &Action) -> Result<Value, Error> {
    let Action { id, at, class: _, reason, kind } = action;
    let kind = match kind {
        ActionKind::Solve(problem) => json!({ "Solve": { "digest": digest(problem)? } }),
        kind => to_value(kind)?,
    };
    Ok(json!({ "id": id, "at": at, "reason": to_value(reason)?, "kind": kind }))
}

fn to_value(value: &(impl Serialize + ?Sized)) -> Result<Value, Error> {
    serde_json::to_value(value)
}
