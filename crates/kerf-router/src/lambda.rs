//! The function: one invocation, recognised by its shape.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kerf_notices::message::{Input, recognise};
use serde_json::{Value, json};
use tracing::error;

use crate::metrics::embedded;
use crate::{Routing, log};

/// A single event could not be delivered: the sender has to try again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DirectFailure(String);

/// The router behind a Lambda function.
#[derive(Debug)]
pub struct Function {
    routing: Routing,
}

impl Function {
    /// A function that remembers nothing yet.
    pub fn new(routing: Routing) -> Self {
        Self { routing }
    }

    /// Handles one invocation. A batch never fails as a whole: the answer names the messages to
    /// deliver again. What cannot be recognised at all is logged and done with, for it would only
    /// circle.
    pub async fn handle(
        &mut self,
        payload: &str,
        at_most: Duration,
    ) -> Result<Value, DirectFailure> {
        let (records, is_batch) = match recognise(payload) {
            Ok(Input::Batch(records)) => (records, true),
            Ok(Input::Event(record)) => (vec![record], false),
            Err(why) => {
                error!("cannot parse the invocation: {why}");
                return Ok(json!({ "batchItemFailures": [] }));
            }
        };
        let started = std::time::Instant::now();
        let report = self.routing.route(records, at_most).await;
        let took = started.elapsed();
        log::report(&report, took);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        println!("{}", embedded(&report, took, now.as_millis()));
        if !is_batch {
            let failed = report.outcomes.iter().find(|outcome| outcome.verdict.is_failure());
            return match failed {
                Some(outcome) => Err(DirectFailure(outcome.verdict.to_string())),
                None => Ok(Value::Null),
            };
        }
        let failures: Vec<_> = report
            .failures()
            .filter(|id| !id.is_empty())
            .map(|id| json!({ "itemIdentifier": id }))
            .collect();
        Ok(json!({ "batchItemFailures": failures }))
    }
}
