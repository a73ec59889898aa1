//! What the provider is, in the engine's terms. Every name is Karpenter's.

use kerf_engine::condition::{READY, Status};
use kerf_engine::provider::{
    ManagedNodeClass, NodeClassKind, ProviderInfo, RegistrationHook, RepairAction, RepairPolicies,
    RepairPolicy, ReservationLabels, Tagging,
};
use kerf_engine::time::Span;
use kerf_model::labels::aws::{
    CAPACITY_RESERVATION_ID, CAPACITY_RESERVATION_INTERRUPTIBLE, CAPACITY_RESERVATION_TYPE,
    CLUSTER_NAME_TAGGED_ANNOTATION, PLACEMENT_GROUP_PARTITION, TAGGED_ANNOTATION,
};

use super::launch::NO_SPOT_ROLE;
use super::node_class::conditions::{self, CAPACITY_RESERVATIONS_READY};
use super::{AwsSettings, hash};

/// The finalizer of node classes.
const FINALIZER: &str = "karpenter.k8s.aws/termination";
/// The annotation of classes and claims with the hash of the class.
pub(super) const HASH: &str = "karpenter.k8s.aws/ec2nodeclass-hash";
const HASH_VERSION: &str = "karpenter.k8s.aws/ec2nodeclass-hash-version";
/// Subnets are looked up every minute, which is the most often anything is.
const RESOLVED_EVERY: Span = Span::from_minutes(1);

/// What makes a node class ready together, in the order it is found out.
const CONDITIONS: [&str; 7] = [
    conditions::AMIS_READY,
    CAPACITY_RESERVATIONS_READY,
    conditions::PLACEMENT_GROUP_READY,
    conditions::SUBNETS_READY,
    conditions::SECURITY_GROUPS_READY,
    conditions::INSTANCE_PROFILE_READY,
    conditions::VALIDATION_SUCCEEDED,
];

/// Any reason.
const ANY: &str = ".*";
/// Conditions of nodes that make them unhealthy whatever their reason, and for how many minutes
/// they may hold. One policy must be for reasons that no other is for.
const UNHEALTHY: [(&str, Status, &str, u64); 7] = [
    (READY, Status::False, "", 30),
    (READY, Status::Unknown, ANY, 30),
    ("AcceleratedHardwareReady", Status::False, ANY, 10),
    ("StorageReady", Status::False, ANY, 30),
    ("NetworkingReady", Status::False, ANY, 30),
    ("KernelReady", Status::False, ANY, 30),
    ("ContainerRuntimeReady", Status::False, ANY, 30),
];

/// The provider, as the engine knows it.
#[must_use]
pub fn info(settings: &AwsSettings) -> ProviderInfo {
    let is_used =
        |name: &&str| *name != CAPACITY_RESERVATIONS_READY || settings.uses_reserved_capacity;
    let unhealthy =
        |(condition, status, reason, minutes): (&str, Status, &str, u64)| RepairPolicy {
            condition: condition.to_owned(),
            status,
            reason: reason.to_owned(),
            toleration: Span::from_minutes(minutes),
            // Pods on such a node do not end by themselves.
            drain_within: Some(Span::default()),
            priority: 0,
            action: RepairAction::ReplaceNode,
        };
    ProviderInfo {
        name: "aws".to_owned(),
        node_classes: vec![NodeClassKind {
            group: "karpenter.k8s.aws".to_owned(),
            version: "v1".to_owned(),
            kind: "EC2NodeClass".to_owned(),
            plural: "ec2nodeclasses".to_owned(),
            managed: Some(ManagedNodeClass {
                finalizer: FINALIZER.to_owned(),
                hash_annotation: HASH.to_owned(),
                hash_version_annotation: HASH_VERSION.to_owned(),
                hash_version: hash::VERSION.to_owned(),
                conditions: CONDITIONS.into_iter().filter(is_used).map(str::to_owned).collect(),
                resolve_every: RESOLVED_EVERY,
            }),
        }],
        termination_grace_default: None,
        repair_policies: RepairPolicies::new(UNHEALTHY.map(unhealthy).into())
            .expect("they make sense together"),
        registration_hooks: vec![RegistrationHook {
            name: "placement-group-partition".to_owned(),
            label: PLACEMENT_GROUP_PARTITION.to_owned(),
        }],
        tagging: Some(Tagging {
            annotations: [TAGGED_ANNOTATION, CLUSTER_NAME_TAGGED_ANNOTATION]
                .map(str::to_owned)
                .into(),
            node_tag: "Name".to_owned(),
            claim_tag: "karpenter.sh/nodeclaim".to_owned(),
        }),
        reservation_labels: settings.uses_reserved_capacity.then(|| ReservationLabels {
            id: CAPACITY_RESERVATION_ID.to_owned(),
            more: [CAPACITY_RESERVATION_TYPE, CAPACITY_RESERVATION_INTERRUPTIBLE]
                .map(str::to_owned)
                .into(),
        }),
        spot_role_error: Some(NO_SPOT_ROLE.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_count_for_readiness_with_their_gate_only() {
        let conditions = |uses_reserved_capacity| {
            let settings = AwsSettings { uses_reserved_capacity, ..AwsSettings::default() };
            let kind = info(&settings).node_classes.remove(0);
            kind.managed.map(|managed| managed.conditions).unwrap_or_default()
        };
        assert!(conditions(true).iter().any(|it| it == CAPACITY_RESERVATIONS_READY));
        assert!(!conditions(false).iter().any(|it| it == CAPACITY_RESERVATIONS_READY));
    }
}
