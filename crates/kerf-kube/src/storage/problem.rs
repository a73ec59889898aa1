//! Why the volumes of a pod keep it from being placed.

use thiserror::Error;

/// Why a claim keeps its pod from being placed. Each resolves itself, or is resolved by its owner,
/// outside Kerf; looking again then helps.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VolumeProblem {
    /// There is no claim of that name.
    #[error("PersistentVolumeClaim {claim} does not exist; create it")]
    ClaimMissing {
        /// The claim, as `namespace/name`.
        claim: String,
    },
    /// The claim is being deleted.
    #[error("PersistentVolumeClaim {claim} is being deleted; use another")]
    ClaimDeleting {
        /// The claim, as `namespace/name`.
        claim: String,
    },
    /// The volume behind the claim is gone.
    #[error("PersistentVolumeClaim {claim} has lost its volume; restore or replace it")]
    ClaimLost {
        /// The claim, as `namespace/name`.
        claim: String,
    },
    /// The claim names a volume that has not accepted it yet.
    #[error("PersistentVolumeClaim {claim} names a volume but is not bound to it yet")]
    NotYetBound {
        /// The claim, as `namespace/name`.
        claim: String,
    },
    /// There is no volume of the name the claim is bound to.
    #[error("PersistentVolume {volume} of claim {claim} does not exist")]
    VolumeMissing {
        /// The claim, as `namespace/name`.
        claim: String,
        /// The volume.
        volume: String,
    },
    /// The volume is being deleted.
    #[error("PersistentVolume {volume} of claim {claim} is being deleted")]
    VolumeDeleting {
        /// The claim, as `namespace/name`.
        claim: String,
        /// The volume.
        volume: String,
    },
    /// The claim is unbound and has no class that could make a volume.
    #[error(
        "PersistentVolumeClaim {claim} is unbound and has no storage class; set storageClassName \
         or mark a StorageClass as the default"
    )]
    NoClass {
        /// The claim, as `namespace/name`.
        claim: String,
    },
    /// There is no class of the name the claim gives.
    #[error("StorageClass {class} of claim {claim} does not exist; create it")]
    ClassMissing {
        /// The claim, as `namespace/name`.
        claim: String,
        /// The class.
        class: String,
    },
    /// The volume will be made wherever its driver likes, so the pod has to wait for it.
    #[error(
        "PersistentVolumeClaim {claim} is unbound and StorageClass {class} binds immediately, so \
         its zone is not known yet; wait, or set volumeBindingMode: WaitForFirstConsumer"
    )]
    ImmediateUnbound {
        /// The claim, as `namespace/name`.
        claim: String,
        /// The class.
        class: String,
    },
    /// Where the volume can be reached is given in terms nobody knows.
    #[error("{object}: {problem}")]
    Topology {
        /// The object, with its kind.
        object: String,
        /// What is wrong.
        problem: kerf_api::FieldError,
    },
}
