//! The state of shifts and pools, for a screen or a script.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::event::Origin;
use super::instant::UnixSeconds;
use super::pool::{AWAY_ZONES, Pool};
use super::pool_record::read_zones;
use super::state::{EndedBy, ShiftState};
use super::zone::{ZoneId, ZoneName, ZoneTable};

/// What is avoided and what that did to pools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The moment it describes.
    pub at: UnixSeconds,
    /// The zones avoided.
    pub away_zones: BTreeSet<ZoneId>,
    /// Every shift, also those lately over.
    pub shifts: Vec<ShiftStatus>,
    /// Pools kept out of zones.
    pub pools: Vec<PoolStatus>,
}

/// One shift.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShiftStatus {
    /// The zone's id.
    pub zone_id: ZoneId,
    /// The zone's name, if known.
    pub zone: Option<ZoneName>,
    /// On whose behalf.
    pub origin: Origin,
    /// When it began.
    pub since: UnixSeconds,
    /// When it ends by itself.
    pub expiry: Option<UnixSeconds>,
    /// When it was over, and what told so.
    pub ended: Option<(UnixSeconds, EndedBy)>,
}

/// A pool kept out of zones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolStatus {
    /// The pool's name.
    pub name: String,
    /// The zones it is kept out of.
    pub away_zones: BTreeSet<ZoneName>,
    /// Whether it stands in for this built-in pool.
    pub copy_of: Option<String>,
}

impl Status {
    /// Describes the state and these pools.
    pub fn new(state: &ShiftState, zones: &ZoneTable, pools: &[Value], now: UnixSeconds) -> Status {
        let shifts = state.shifts().map(|(zone, origin, shift)| ShiftStatus {
            zone_id: zone.clone(),
            zone: zones.name(zone).cloned(),
            origin,
            since: shift.since,
            expiry: shift.expiry,
            ended: shift.ended.as_ref().map(|ended| (ended.noted_at, ended.by)),
        });
        let readable = pools.iter().filter_map(|pool| Pool::read(pool).ok());
        let kept_out = readable.filter_map(|pool| {
            let away = pool.annotations.get(AWAY_ZONES)?;
            Some(PoolStatus {
                away_zones: read_zones(away, zones),
                copy_of: pool.copy_of().map(str::to_owned),
                name: pool.key.name,
            })
        });
        Status {
            at: now,
            away_zones: state.away(),
            shifts: shifts.collect(),
            pools: kept_out.collect(),
        }
    }

    /// For scripts.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain values always print")
    }

    /// For a screen.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.away_zones.is_empty() {
            text.push_str("No zone is avoided.\n");
        }
        if !self.shifts.is_empty() {
            text.push_str(&table(&["ZONE", "ID", "ORIGIN", "SINCE", "STATE"], self.shift_rows()));
        }
        if !self.pools.is_empty() {
            text.push('\n');
            text.push_str(&table(&["POOL", "KEPT OUT OF", "STANDS IN FOR"], self.pool_rows()));
        }
        text
    }

    fn shift_rows(&self) -> Vec<Vec<String>> {
        let row = |shift: &ShiftStatus| {
            let name = shift.zone.as_ref().map_or("-".to_owned(), ToString::to_string);
            let id = shift.zone_id.to_string();
            vec![name, id, shift.origin.to_string(), shift.since.to_string(), self.stand(shift)]
        };
        self.shifts.iter().map(row).collect()
    }

    fn stand(&self, shift: &ShiftStatus) -> String {
        match (shift.ended, shift.expiry) {
            (Some((at, by)), _) => format!("over for {}, {}", span(self.at.since(at)), by.phrase()),
            (None, Some(expiry)) => {
                let (age, left) = (self.at.since(shift.since), expiry.since(self.at));
                format!("away for {}, {} left", span(age), span(left))
            }
            (None, None) => format!("away for {}", span(self.at.since(shift.since))),
        }
    }

    fn pool_rows(&self) -> Vec<Vec<String>> {
        let row = |pool: &PoolStatus| {
            let zones: Vec<_> = pool.away_zones.iter().map(ZoneName::as_str).collect();
            let copy_of = pool.copy_of.clone().unwrap_or("-".to_owned());
            vec![pool.name.clone(), zones.join(", "), copy_of]
        };
        self.pools.iter().map(row).collect()
    }
}

/// Columns as wide as their widest cell; no blanks at the end of lines.
fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let head = head.iter().map(|&cell| cell.to_owned()).collect();
    let rows: Vec<Vec<String>> = [vec![head], rows].concat();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..rows[0].len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            write!(line, "{cell:width$}  ").expect("writing to text cannot fail");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A length of time in its two largest units.
fn span(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m"),
        (0, ..) => format!("{hours}h{minutes:02}m"),
        _ => format!("{days}d{hours}h"),
    }
}

impl EndedBy {
    fn phrase(self) -> &'static str {
        match self {
            EndedBy::Event => "said AWS",
            EndedBy::Expiry => "expired",
            EndedBy::Listing => "no longer listed by ARC",
            EndedBy::Age => "older than it can be",
            EndedBy::Cli => "ended by hand",
        }
    }
}
