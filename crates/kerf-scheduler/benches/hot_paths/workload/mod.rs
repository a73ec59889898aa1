//! The problems that benches, heap ceilings and scale figures share.
//!
//! `FAMILY-PODS` names one: `mixed-1000` is the mixed family with a thousand pods. `bench/peer`
//! describes families of the same names; drawn by another rng, they have other pods in the same
//! mix.

mod catalogue;
mod existing;
mod mixed;
mod pods;
mod rng;
mod running;

use kerf_scheduler::PlacementProblem;

/// Problems that differ in the number of their pods alone.
struct Family {
    name: &'static str,
    build: fn(usize) -> PlacementProblem,
}

const FAMILIES: [Family; 7] = [
    Family { name: "replicas", build: pods::replicas },
    Family { name: "preferences", build: pods::preferences },
    Family { name: "mixed", build: mixed::mixed },
    Family { name: "min-values", build: mixed::min_values },
    Family { name: "existing", build: existing::existing },
    Family { name: "running", build: running::running },
    Family { name: "packed", build: running::packed },
];

/// The problem of a name such as `mixed-1000`.
pub(crate) fn problem(name: &str) -> Option<PlacementProblem> {
    let (family, pods) = name.rsplit_once('-')?;
    let family = FAMILIES.iter().find(|known| known.name == family)?;
    Some((family.build)(pods.parse().ok()?))
}
