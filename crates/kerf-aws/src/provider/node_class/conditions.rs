//! The conditions of a node class.

/// Images were found.
pub(crate) const AMIS_READY: &str = "AMIsReady";
/// Capacity reservations were looked for; finding none is fine.
pub(crate) const CAPACITY_RESERVATIONS_READY: &str = "CapacityReservationsReady";
/// The placement group was found, or none is asked for.
pub(crate) const PLACEMENT_GROUP_READY: &str = "PlacementGroupReady";
/// Subnets were found.
pub(crate) const SUBNETS_READY: &str = "SubnetsReady";
/// Security groups were found.
pub(crate) const SECURITY_GROUPS_READY: &str = "SecurityGroupsReady";
/// There is an instance profile.
pub(crate) const INSTANCE_PROFILE_READY: &str = "InstanceProfileReady";
/// An instance can be launched with all that.
pub(crate) const VALIDATION_SUCCEEDED: &str = "ValidationSucceeded";
