//! What is logged of NodePool mode.

use std::fmt;

use kerf_notices::zonal_shift::{
    CopyEdit, Disposal, NodeAction, Note, Origin, PoolEdit, Received, Step, UnixSeconds, Verdict,
    ZoneId, ZoneTable,
};

use crate::observed::Name;

/// One thing to log, once.
#[derive(Clone, Debug, PartialEq)]
pub enum ShiftReport {
    /// The state that another process stored was read.
    StateRead {
        /// The zones to avoid.
        away: Vec<ZoneId>,
    },
    /// The stored state cannot be read; what is known holds and is stored again.
    StateDamaged,
    /// A message was understood and its effect is stored.
    Received {
        /// What was made of it.
        received: Box<Received>,
        /// Ids and names of zones, to name them by.
        zones: ZoneTable,
    },
    /// The zones to avoid changed without a message.
    Corrected {
        /// As they were.
        before: Vec<ZoneId>,
        /// As they are.
        away: Vec<ZoneId>,
    },
    /// A zone is avoided for long, and ARC cannot be asked whether that still holds.
    LongLasting {
        /// The zone.
        zone: ZoneId,
        /// Who wanted it avoided.
        origin: Origin,
        /// Since when.
        since: UnixSeconds,
    },
    /// Something a plan came upon.
    Noted(Note),
    /// A pool or a stand-in was changed.
    Applied(Box<Step>),
    /// A node was changed.
    NodeChanged {
        /// The node.
        node: Name,
        /// What for.
        action: NodeAction,
    },
}

impl ShiftReport {
    /// Whether somebody should look.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        match self {
            Self::StateDamaged | Self::LongLasting { .. } => true,
            Self::Received { received, .. } => {
                matches!(received.verdict, Verdict::Unusable(_))
                    || received.disposal == Disposal::LeaveForRedelivery
                    || !received.foreign_resources.is_empty()
            }
            Self::Noted(note) => !matches!(note, Note::ZoneNotUsed(_)),
            Self::StateRead { .. }
            | Self::Corrected { .. }
            | Self::Applied(_)
            | Self::NodeChanged { .. } => false,
        }
    }
}

impl fmt::Display for ShiftReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StateRead { away } => {
                write!(f, "the stored state was read; zones to avoid: {}", list(away))
            }
            Self::StateDamaged => f.write_str(
                "the stored state cannot be read and is kept as state.damaged; what is known holds",
            ),
            Self::Received { received, zones } => write_received(f, received, zones),
            Self::Corrected { before, away } => {
                let (before, away) = (list(before), list(away));
                write!(f, "the zones to avoid were corrected: {away}, before: {before}")
            }
            Self::LongLasting { zone, origin, since } => write!(
                f,
                "zone {zone} is avoided since {since} ({origin}), and ARC cannot be asked whether \
                 that still holds; if not: kerf zonal-shift end {zone}"
            ),
            Self::Noted(note) => write_note(f, note),
            Self::Applied(step) => write_step(f, step),
            Self::NodeChanged { node, action } => {
                write!(f, "changed node {node}: {}", action.label())
            }
        }
    }
}

fn write_received(
    f: &mut fmt::Formatter<'_>,
    received: &Received,
    zones: &ZoneTable,
) -> fmt::Result {
    let result = received.verdict.label();
    let Some(event) = &received.event else {
        return match &received.verdict {
            Verdict::Unusable(why) => write!(f, "deleted a message ({result}): {why}"),
            _ => write!(f, "received a message: {result}"),
        };
    };
    let (kind, id, away_from) = (event.kind.detail_type(), &event.id, &event.away_from);
    write!(f, "received \"{kind}\" {id} about zone {away_from}")?;
    if let Some(name) = zones.resolve(away_from).and_then(|id| zones.name(id)) {
        write!(f, " ({name})")?;
    }
    write!(f, ": {result}")?;
    if received.disposal == Disposal::LeaveForRedelivery {
        f.write_str("; this account does not have such a zone, and the message is left")?;
    }
    if !received.foreign_resources.is_empty() {
        write!(
            f,
            "; the zone is avoided though the shift names only other resources ({}), which \
             --zonal-shift-match=cluster ignores",
            received.foreign_resources.join(", ")
        )?;
    }
    Ok(())
}

fn write_note(f: &mut fmt::Formatter<'_>, note: &Note) -> fmt::Result {
    match note {
        Note::Skipped { pool, zones, reason } => {
            write!(f, "{pool} is not kept out of {}: {}", list(zones), reason.label())
        }
        Note::ZoneNotUsed(zone) => {
            write!(f, "zone {zone} is avoided, which this cluster does not use")
        }
        Note::ZoneUnnamed(zone) => {
            write!(f, "zone {zone} is avoided, but its name is not known; nothing can be done")
        }
        Note::MemoryDamaged(pool) => {
            write!(f, "annotations of {pool} were damaged; zones are given back without them")
        }
    }
}

fn write_step(f: &mut fmt::Formatter<'_>, step: &Step) -> fmt::Result {
    match step {
        Step::Pool(PoolEdit { pool, action, away_before, away, .. }) => {
            let (action, before, away) = (action.label(), list(away_before), list(away));
            write!(f, "changed {pool}: {action}; kept out of {away}, before: {before}")
        }
        Step::Copy(edit) => {
            let name = match edit {
                CopyEdit::Delete { pool } => Some(pool.name.as_str()),
                CopyEdit::Create { object } | CopyEdit::Replace { object, .. } => {
                    object.pointer("/metadata/name").and_then(|name| name.as_str())
                }
            };
            write!(f, "changed stand-in {}: {}", name.unwrap_or_default(), edit.action().label())
        }
        Step::Node(edit) => write!(f, "changed node {}: {}", edit.node, edit.action.label()),
    }
}

/// Zones with commas between, or `none`.
fn list<'a, T: fmt::Display + 'a>(zones: impl IntoIterator<Item = &'a T>) -> String {
    let zones: Vec<String> = zones.into_iter().map(ToString::to_string).collect();
    if zones.is_empty() { "none".to_owned() } else { zones.join(",") }
}
