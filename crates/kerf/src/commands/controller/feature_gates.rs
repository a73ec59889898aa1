//! Features that are turned on or off by name.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::value::switch;

/// Which features are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FeatureGates(BTreeMap<&'static str, bool>);

/// The features there are, and whether each is on unless told otherwise.
const DEFAULTS: [(&str, bool); 8] = [
    ("NodeRepair", false),
    ("ReservedCapacity", true),
    ("SpotToSpotConsolidation", false),
    ("NodeOverlay", false),
    ("StaticCapacity", false),
    ("CapacityBuffer", false),
    ("TerminateFirstDrift", false),
    ("TerminateFirstRepair", false),
];
/// The features that are built.
const BUILT: [&str; 7] = [
    "NodeRepair",
    "ReservedCapacity",
    "SpotToSpotConsolidation",
    "NodeOverlay",
    "StaticCapacity",
    "TerminateFirstDrift",
    "TerminateFirstRepair",
];

impl FeatureGates {
    /// Whether the feature of that name is on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|on| *on)
    }

    /// Features that are on and do nothing yet.
    pub(super) fn without_effect(&self) -> Vec<&'static str> {
        let on = self.0.iter().filter(|(_, on)| **on);
        on.map(|(name, _)| *name).filter(|name| !BUILT.contains(name)).collect()
    }
}

impl FromStr for FeatureGates {
    type Err = String;

    /// `Name=bool,…`. Names nobody knows are passed over: gates come and go between versions.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut gates = BTreeMap::from(DEFAULTS);
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| format!("{part:?} is not Name=true or Name=false"))?;
            let on = switch(value.trim()).map_err(|why| format!("{}: {why}", name.trim()))?;
            if let Some(gate) = gates.get_mut(name.trim()) {
                *gate = on;
            }
        }
        Ok(Self(gates))
    }
}
