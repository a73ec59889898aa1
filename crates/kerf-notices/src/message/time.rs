//! When an event happened.

use serde::Deserialize;

use super::field::TextField;
use super::reading::parse;
use crate::zonal_shift::UnixSeconds;

#[derive(Default, Deserialize)]
struct Timed<'a> {
    #[serde(borrow, default)]
    time: TextField<'a>,
}

/// When the event of a body happened, if it says so in a way that can be read.
pub fn time_of(body: &str) -> Option<UnixSeconds> {
    let Timed { time } = parse(body).ok()?;
    UnixSeconds::parse(time.text()?)
}
