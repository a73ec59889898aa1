//! A stand-in for Application Recovery Controller, which the AWS stand-in lacks.
//!
//! It keeps zonal shifts in memory: they are started, changed and cancelled with the public calls
//! (`aws arc-zonal-shift start-zonal-shift` works), expire by themselves, and count as applied to
//! every resource from the moment they start.

mod shift;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::aws::http::{Reply, Request};
use crate::error::Result;
use crate::programs::listening::Listening;
use shift::Shift;

/// A running stand-in. Dropping it ends it.
#[derive(Debug)]
pub struct ArcStandIn {
    listening: Listening,
}

/// Shifts by id, and how many there ever were.
#[derive(Debug, Default)]
struct Shifts {
    by_id: BTreeMap<String, Shift>,
    started: u64,
}

impl ArcStandIn {
    /// Starts the stand-in; nothing is shifted.
    pub fn start() -> Result<Self> {
        let shifts = Arc::new(Mutex::new(Shifts::default()));
        let listening = Listening::start(move |mut stream| {
            if let Ok(Some(request)) = Request::read(&mut stream) {
                let _ = answer(&shifts, &request).write(&mut stream);
            }
        })?;
        Ok(Self { listening })
    }

    /// What to set `AWS_ENDPOINT_URL_ARC_ZONAL_SHIFT` to.
    pub fn endpoint_url(&self) -> String {
        self.listening.url()
    }

    /// The variable that leads any AWS client's calls for zonal shifts here.
    pub fn environment(&self) -> (&'static str, String) {
        ("AWS_ENDPOINT_URL_ARC_ZONAL_SHIFT", self.endpoint_url())
    }
}

/// The calls there are, by method and the first two parts of the path.
fn answer(shifts: &Mutex<Shifts>, request: &Request) -> Reply {
    let mut shifts = shifts.lock().expect("no holder panics");
    let now = unix_seconds();
    shifts.by_id.retain(|_, shift| now < shift.expiry);
    match (request.method.as_str(), request.parts()) {
        ("GET", ("managedresources", Some(arn))) => {
            Reply::ok(managed_resource(&arn, shifts.by_id.values()))
        }
        ("GET", ("zonalshifts", None)) => Reply::ok(listed(shifts.by_id.values())),
        ("GET", ("autoshifts", None)) => Reply::ok(json!({"items": []})),
        ("POST", ("zonalshifts", None)) => {
            let Some(shift) = Shift::asked_for(&request.body(), shifts.started, now) else {
                return Reply::invalid("resourceIdentifier, awayFrom and expiresIn are needed");
            };
            shifts.started += 1;
            let summary = shift.summary("ACTIVE");
            shifts.by_id.insert(shift.id.clone(), shift);
            Reply::created(summary)
        }
        ("PATCH", ("zonalshifts", Some(id))) => match shifts.by_id.get_mut(&id) {
            Some(shift) => {
                shift.change(&request.body(), now);
                Reply::ok(shift.summary("ACTIVE"))
            }
            None => Reply::not_found(&id),
        },
        ("DELETE", ("zonalshifts", Some(id))) => match shifts.by_id.remove(&id) {
            Some(shift) => Reply::ok(shift.summary("CANCELED")),
            None => Reply::not_found(&id),
        },
        (_, (other, _)) => Reply::not_found(other),
    }
}

fn managed_resource<'a>(arn: &str, shifts: impl Iterator<Item = &'a Shift>) -> Value {
    let of_it: Vec<_> = shifts.filter(|shift| shift.resource == arn).collect();
    let weights: BTreeMap<_, _> = of_it.iter().map(|shift| (&shift.away_from, 0)).collect();
    json!({
        "arn": arn,
        "name": arn.rsplit('/').next().unwrap_or(arn),
        "appliedWeights": weights,
        "zonalAutoshiftStatus": "DISABLED",
        "autoshifts": [],
        "zonalShifts": of_it.iter().map(|shift| shift.applied()).collect::<Vec<_>>(),
    })
}

fn listed<'a>(shifts: impl Iterator<Item = &'a Shift>) -> Value {
    json!({"items": shifts.map(|shift| shift.summary("ACTIVE")).collect::<Vec<_>>()})
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
