//! The kinds of Kubernetes itself: which are read, which matter not, which do not exist.

/// What to do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It is read.
    Read,
    /// It exists and has no say in where pods stand.
    Idle,
    /// No such kind in the group.
    Unknown,
    /// The kind is served in another version; this one.
    Version(&'static str),
    /// Another group, of which nothing is known.
    Foreign,
}

struct Group {
    /// As in `apiVersion`, without the version; empty for the core group.
    name: &'static str,
    api_version: &'static str,
    read: &'static [&'static str],
    idle: &'static [&'static str],
}

const GROUPS: [Group; 6] = [
    Group {
        name: "",
        api_version: "v1",
        read: &[
            "Namespace",
            "Node",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
            "PodTemplate",
            "ReplicationController",
            "Service",
        ],
        idle: &[
            "Binding",
            "ComponentStatus",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "ResourceQuota",
            "Secret",
            "ServiceAccount",
        ],
    },
    Group {
        name: "apps",
        api_version: "apps/v1",
        read: &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
        idle: &["ControllerRevision"],
    },
    Group { name: "batch", api_version: "batch/v1", read: &["Job"], idle: &["CronJob"] },
    Group {
        name: "policy",
        api_version: "policy/v1",
        read: &["PodDisruptionBudget"],
        idle: &["Eviction", "PodSecurityPolicy"],
    },
    Group {
        name: "storage.k8s.io",
        api_version: "storage.k8s.io/v1",
        read: &["CSINode", "StorageClass"],
        idle: &["CSIDriver", "CSIStorageCapacity", "VolumeAttachment", "VolumeAttributesClass"],
    },
    Group {
        name: "scheduling.k8s.io",
        api_version: "scheduling.k8s.io/v1",
        read: &[],
        idle: &["PriorityClass"],
    },
];

/// A group whose kinds have long moved on; here only to say where to.
const RETIRED_GROUP: &str = "extensions";

/// Kinds of any version that say how many pods there are; of their groups nothing else is known.
const SCALING: [(&str, &str); 3] = [
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("keda.sh", "ScaledObject"),
    ("argoproj.io", "Rollout"),
];

/// Looks a kind up.
pub(super) fn look_up(api_version: &str, kind: &str) -> Known {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if SCALING.contains(&(group, kind)) {
        return Known::Read;
    }
    if group == RETIRED_GROUP {
        let moved = GROUPS.iter().find(|group| group.read.contains(&kind));
        return moved.map_or(Known::Foreign, |group| Known::Version(group.api_version));
    }
    let Some(found) = GROUPS.iter().find(|known| known.name == group) else {
        return Known::Foreign;
    };
    let (read, idle) = (found.read.contains(&kind), found.idle.contains(&kind));
    match (read, idle, found.api_version == api_version) {
        (false, false, _) => Known::Unknown,
        (true, _, false) => Known::Version(found.api_version),
        (true, _, true) => Known::Read,
        (_, true, _) => Known::Idle,
    }
}

/// Every kind that is read, for advice.
pub(super) fn readable() -> String {
    let built_in = GROUPS.iter().flat_map(|group| group.read).copied();
    let kinds: Vec<&str> = built_in.chain(SCALING.map(|(_, kind)| kind)).collect();
    kinds.join(", ")
}
