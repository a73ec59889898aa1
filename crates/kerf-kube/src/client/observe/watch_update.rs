//! What watches tell.

use k8s_openapi::api::apps::v1::{DaemonSet, ReplicaSet, StatefulSet};
use k8s_openapi::api::core::v1::{
    Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, ReplicationController, Service,
};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1::{CSINode, StorageClass, VolumeAttachment};
use kerf_api::node_claim::NodeClaim;
use kerf_api::node_overlay::NodeOverlay;
use kerf_api::node_pool::NodePool;
use kerf_engine::observed::Revision;
use kube::api::{ApiResource, DynamicObject};
pub use kube::core::DeserializeGuard as Guarded;

use super::shift_update::ShiftUpdate;
use crate::client::legacy::LegacyUpdate;

/// A change to the objects of one kind.
#[derive(Clone, Debug)]
pub enum Change<K> {
    /// All objects are about to be listed anew.
    Relisting,
    /// An object as it is now.
    Is(Box<K>),
    /// An object as it was when it went.
    Was(Box<K>),
    /// All objects have been listed, as they were at that version where it is known; those not among
    /// them are gone.
    Listed(Option<Revision>),
    /// Everything that happened until now has been told.
    Heard,
}

/// A watch event of one kind. Objects of Karpenter's kinds may have been stored under an older or
/// newer definition and not be what ours are made of: then only their metadata can be read.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the kind it is named after")]
pub enum WatchUpdate {
    Pod(Change<Pod>),
    Node(Change<Node>),
    Claim(Change<Guarded<NodeClaim>>),
    Pool(Change<Guarded<NodePool>>),
    Overlay(Change<Guarded<NodeOverlay>>),
    NodeClass(ApiResource, Change<DynamicObject>),
    ZonalShift(ShiftUpdate),
    Legacy(LegacyUpdate),
    PodDisruptionBudget(Change<PodDisruptionBudget>),
    DaemonSet(Change<DaemonSet>),
    Namespace(Change<Namespace>),
    VolumeAttachment(Change<VolumeAttachment>),
    CsiNode(Change<CSINode>),
    VolumeClaim(Change<PersistentVolumeClaim>),
    Volume(Change<PersistentVolume>),
    StorageClass(Change<StorageClass>),
    Service(Change<Service>),
    ReplicationController(Change<ReplicationController>),
    ReplicaSet(Change<ReplicaSet>),
    StatefulSet(Change<StatefulSet>),
}
