//! One zonal shift.

use serde_json::{Value, json};

/// A zonal shift that goes on.
#[derive(Debug)]
pub(super) struct Shift {
    pub(super) id: String,
    pub(super) resource: String,
    pub(super) away_from: String,
    comment: String,
    /// `ZONAL_SHIFT`, or what a test asked for, such as `PRACTICE_RUN`.
    shift_type: String,
    start: u64,
    /// Seconds since 1970, like the start.
    pub(super) expiry: u64,
}

impl Shift {
    /// The shift that the body of `StartZonalShift` asks for.
    pub(super) fn asked_for(body: &Value, number: u64, now: u64) -> Option<Self> {
        let text = |field: &str| body.get(field).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            id: format!("00000000-0000-4000-8000-{number:012}"),
            resource: text("resourceIdentifier")?,
            away_from: text("awayFrom")?,
            comment: text("comment").unwrap_or_default(),
            shift_type: text("shiftType").unwrap_or_else(|| "ZONAL_SHIFT".to_owned()),
            start: now,
            expiry: now + seconds(&text("expiresIn")?)?,
        })
    }

    /// Takes over what the body of `UpdateZonalShift` says.
    pub(super) fn change(&mut self, body: &Value, now: u64) {
        let text = |field: &str| body.get(field).and_then(Value::as_str);
        if let Some(seconds) = text("expiresIn").and_then(seconds) {
            self.expiry = now + seconds;
        }
        if let Some(comment) = text("comment") {
            self.comment = comment.to_owned();
        }
    }

    /// As the calls about shifts answer.
    pub(super) fn summary(&self, status: &str) -> Value {
        let mut item = self.item();
        item["status"] = json!(status);
        item
    }

    /// As the resource lists it.
    pub(super) fn applied(&self) -> Value {
        let mut item = self.item();
        item["appliedStatus"] = json!("APPLIED");
        item
    }

    fn item(&self) -> Value {
        json!({
            "zonalShiftId": self.id, "resourceIdentifier": self.resource,
            "awayFrom": self.away_from, "startTime": self.start, "expiryTime": self.expiry,
            "comment": self.comment, "shiftType": self.shift_type,
        })
    }
}

/// `30m` or `72h`: the two units the service takes.
fn seconds(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = number.parse().ok()?;
    match unit {
        "m" => number.checked_mul(60),
        "h" => number.checked_mul(3600),
        _ => None,
    }
}
