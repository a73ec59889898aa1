//! What a Lambda function is handed: a batch of queue messages, or one event.

use serde::Deserialize;

use super::Unreadable;
use super::field::{Field, List, Object, TextField};

/// One queue message: what identifies it to the queue, and its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The id to report a failure under; empty where a malformed batch gave none.
    pub id: String,
    /// The text of the message.
    pub body: String,
}

/// An invocation's payload, recognised by its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A batch from a queue: failures are reported per record.
    Batch(Vec<Record>),
    /// One event straight from a rule: a failure is an error, and the sender retries.
    Event(Record),
}

#[derive(Deserialize, Default)]
struct Payload<'a> {
    #[serde(borrow, default, rename = "Records")]
    records: Field<List<Object<WireRecord<'a>>>>,
    #[serde(borrow, default)]
    id: TextField<'a>,
}

#[derive(Deserialize, Default)]
struct WireRecord<'a> {
    #[serde(borrow, default, rename = "messageId")]
    id: TextField<'a>,
    #[serde(borrow, default)]
    body: TextField<'a>,
}

/// Tells a batch from a bare event.
pub fn recognise(payload: &str) -> Result<Input, Unreadable> {
    let read = serde_json::from_str::<Field<Object<Payload<'_>>>>(payload);
    let Field::Is(Object(payload_fields)) = read.map_err(|_| Unreadable::NotJson)? else {
        return Err(Unreadable::NotAnObject);
    };
    match payload_fields.records {
        Field::Is(records) => Ok(Input::Batch(records.0.into_iter().map(record).collect())),
        Field::Other => Err(Unreadable::Wrong("Records")),
        Field::Absent => {
            let id = payload_fields.id.text().unwrap_or_default().to_owned();
            Ok(Input::Event(Record { id, body: payload.to_owned() }))
        }
    }
}

/// A record without a body is kept: it is counted as a message that cannot be read.
fn record(Object(wire): Object<WireRecord<'_>>) -> Record {
    Record { id: owned(wire.id), body: owned(wire.body) }
}

fn owned(field: TextField<'_>) -> String {
    match field {
        Field::Is(text) => text.0.into_owned(),
        Field::Absent | Field::Other => String::new(),
    }
}
