//! The version of the cluster while it is upgraded.

use std::sync::{Mutex, PoisonError};

use tracing::info;

use super::KubernetesVersion;

/// A new version counts once it was told so often in a row: while a control plane is upgraded,
/// servers of both versions answer, and nodes must not be newer than any of them.
const TOLD_AT_LEAST: u32 = 3;

/// The version that images are chosen for.
#[derive(Debug)]
pub struct ClusterVersion(Mutex<Known>);

#[derive(Clone, Copy, Debug)]
struct Known {
    version: KubernetesVersion,
    /// Another that was told last, and how often in a row.
    next: Option<(KubernetesVersion, u32)>,
}

impl ClusterVersion {
    /// The version at the start.
    pub(crate) fn new(version: KubernetesVersion) -> Self {
        Self(Mutex::new(Known { version, next: None }))
    }

    /// The version as far as is certain.
    pub(crate) fn get(&self) -> KubernetesVersion {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).version
    }

    /// A server told its version, such as `v1.36.3`; what cannot be read is passed over.
    pub fn note(&self, told: &str) {
        if let Some(told) = KubernetesVersion::parse(told) {
            self.take(told);
        }
    }

    fn take(&self, told: KubernetesVersion) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = match known.next {
            Some((next, times)) if next == told => times + 1,
            _ => 1,
        };
        known.next = (told != known.version).then_some((told, times));
        if known.next.is_some() && times >= TOLD_AT_LEAST {
            info!(from = %known.version, to = %told, "the cluster has another version now");
            *known = Known { version: told, next: None };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_counts_once_servers_agree_on_it() {
        let minor = |minor| KubernetesVersion { major: 1, minor };
        let version = ClusterVersion::new(minor(35));
        for (told, known) in
            [(36, 35), (36, 35), (35, 35), (36, 35), (36, 35), (36, 36), (36, 36), (35, 36)]
        {
            version.note(&format!("v1.{told}.3-eks"));
            assert_eq!(version.get(), minor(known), "{told} was told");
        }
    }
}
