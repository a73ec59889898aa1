//! Zones that traffic is moved away from.

use serde::{Deserialize, Serialize};

use super::Name;
use crate::time::Time;

/// A zone the cluster is shifted away from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShiftedZone {
    /// Its name, as labels carry it.
    pub name: Name,
    /// Its id, the same for every account.
    pub id: Name,
    /// Who wants it avoided: `manual`, `autoshift`, `practice`, `fis`.
    pub origin: Name,
    /// When the shift began.
    pub since: Time,
}
