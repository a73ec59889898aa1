//! The instance profile of a node class: the one it names, or one made for its role.
//!
//! The name of a profile follows from region, class and role alone. Whoever makes it twice, because
//! the process died before anything was stored, makes the same one; and one that lacks its role,
//! because the process died in between, is found and gets it.

use std::sync::Arc;
use std::time::Duration;

use kerf_api::ec2_node_class::EC2NodeClassSpec;
use kerf_engine::observed::NodeClass;
use kerf_model::hash::fnv1;

use super::cached::Cached;
use super::part::{PartError, PartResult};
use super::profile_calls::{Profile, ProfileCalls};
use crate::provider::context::Context;
use crate::provider::{Cluster, tags};
use crate::{CallError, Result};

/// How long it is believed that a profile has its role.
const PROFILE: Duration = Duration::from_mins(15);
/// How long a role that is not there is not asked for again.
const MISSING_ROLE: Duration = Duration::from_mins(1);
/// How long a profile is kept that a class has left: launches under way may name it.
const PROTECTED: Duration = Duration::from_hours(1);

/// The reason of a class whose role is not there.
const ROLE_NOT_FOUND: &str = "RoleNotFound";

/// Instance profiles that Kerf makes.
#[derive(Debug)]
pub(super) struct InstanceProfiles {
    cluster: Arc<Cluster>,
    calls: ProfileCalls,
    known: Cached<String, Profile>,
    missing_roles: Cached<(String, Arc<str>), String>,
    protected: Cached<String, ()>,
}

impl InstanceProfiles {
    pub(super) fn new(context: &Context) -> Self {
        Self {
            cluster: context.cluster.clone(),
            calls: ProfileCalls::new(context),
            known: Cached::new(PROFILE),
            missing_roles: Cached::new(MISSING_ROLE),
            protected: Cached::new(PROTECTED),
        }
    }

    /// The profile of a class, made if need be. `before` is the one it had.
    pub(super) async fn find(
        &self,
        class: &NodeClass,
        spec: &EC2NodeClassSpec,
        before: Option<&str>,
    ) -> PartResult<String> {
        if let Some(named) = &spec.instance_profile {
            return Ok(named.clone());
        }
        let Some(role) = spec.role.as_deref().map(bare_role) else {
            let message = "neither spec.role nor spec.instanceProfile is set";
            return Err(PartError::unknown(ROLE_NOT_FOUND, message));
        };
        if let Some(before) = before
            && self.serves(before, class, role).await?
        {
            return Ok(before.to_owned());
        }
        let missing = (role.to_owned(), class.meta.uid.clone());
        if let Some(message) = self.missing_roles.get(&missing) {
            return Err(PartError::unknown(ROLE_NOT_FOUND, message));
        }
        let name = profile_name(&self.cluster, class, role);
        if let Some(before) = before {
            self.protected.put(before.to_owned(), ());
        }
        match self.make(&name, class, spec, role).await {
            Ok(()) => Ok(name),
            Err(error) if is_missing_role(&error, role) => {
                let message = format!("spec.role: there is no role {role}");
                self.missing_roles.put(missing, message.clone());
                Err(PartError::unknown(ROLE_NOT_FOUND, message))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a profile was made for this class and has this role.
    async fn serves(&self, name: &str, class: &NodeClass, role: &str) -> Result<bool> {
        let path = path_of_class(&self.cluster, class);
        let profile = match self.known.get(&name.to_owned()) {
            Some(profile) => Some(profile),
            None => self.calls.get(name).await?,
        };
        let profile = profile.filter(|profile| profile.path == path && profile.has_only(role));
        if let Some(profile) = &profile {
            self.known.put(name.to_owned(), profile.clone());
        }
        Ok(profile.is_some())
    }

    /// Makes the profile, or what is missing of it.
    async fn make(
        &self,
        name: &str,
        class: &NodeClass,
        spec: &EC2NodeClassSpec,
        role: &str,
    ) -> Result<()> {
        let path = path_of_class(&self.cluster, class);
        let before = self.calls.get(name).await?;
        if before.is_none() {
            let own = spec.tags.as_ref();
            let tags = tags::of_instance_profile(&self.cluster, &class.meta.name, own);
            self.calls.create(name, &path, &tags).await?;
        }
        let has = before.as_ref().map_or(&[][..], |profile| &profile.roles);
        for other in has.iter().filter(|other| *other != role) {
            self.calls.remove_role(name, other).await?;
        }
        if !has.iter().any(|it| it == role)
            && let Err(error) = self.calls.add_role(name, role).await
        {
            if is_missing_role(&error, role) {
                // Best effort: one that stays is found by the next attempt, or collected.
                let _ = self.calls.delete(&Profile::new(name, &path)).await;
            }
            return Err(error);
        }
        let roles = vec![role.to_owned()];
        self.known.put(name.to_owned(), Profile { roles, ..Profile::new(name, &path) });
        Ok(())
    }

    /// The profiles of this cluster that no class has left a moment ago.
    pub(super) async fn unprotected(&self) -> Result<Vec<Profile>> {
        let mut profiles = self.calls.list(&path_of_cluster(&self.cluster)).await?;
        profiles.retain(|it| self.protected.get(&it.name).is_none());
        Ok(profiles)
    }

    /// Removes every profile that was made for a class, also by versions that used one name only.
    pub(super) async fn release(&self, class: &NodeClass) -> Result<()> {
        let made = self.calls.list(&path_of_class(&self.cluster, class)).await?;
        self.delete_all(&made).await?;
        let legacy = legacy_name(&self.cluster, class);
        if is_legal(&legacy)
            && let Some(profile) = self.calls.get(&legacy).await?
        {
            self.delete_all(&[profile]).await?;
        }
        self.missing_roles.retain(|(_, uid)| *uid != class.meta.uid);
        Ok(())
    }

    /// Removes profiles, with their roles taken from them.
    pub(super) async fn delete_all(&self, all: &[Profile]) -> Result<()> {
        for profile in all {
            self.known.forget(&profile.name);
            self.calls.delete(profile).await?;
        }
        Ok(())
    }
}

/// The last segment of a role: its path plays no part in profiles.
fn bare_role(role: &str) -> &str {
    role.rsplit('/').next().unwrap_or(role)
}

fn profile_name(cluster: &Cluster, class: &NodeClass, role: &str) -> String {
    let Cluster { name, region, .. } = cluster;
    let text = format!("{region}{}{}{role}", class.meta.name, class.meta.uid);
    format!("{name}_{}", fnv1(text.as_bytes()))
}

/// The name that older versions gave to a class's only profile.
fn legacy_name(cluster: &Cluster, class: &NodeClass) -> String {
    let Cluster { name, region, .. } = cluster;
    format!("{name}_{}", fnv1(format!("{region}{}", class.meta.name).as_bytes()))
}

fn path_of_cluster(Cluster { name, region, .. }: &Cluster) -> String {
    format!("/karpenter/{region}/{name}/")
}

fn path_of_class(cluster: &Cluster, class: &NodeClass) -> String {
    format!("{}{}/", path_of_cluster(cluster), class.meta.uid)
}

/// IAM's rule for names: 1 to 128 letters of a kind.
fn is_legal(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_+=,.@-".contains(letter);
    (1..=128).contains(&name.len()) && name.chars().all(is_letter)
}

/// Whether it is the role that is not there, and not the profile.
fn is_missing_role(error: &CallError, role: &str) -> bool {
    let CallError::Refused { code, why, .. } = error else { return false };
    let why = why.to_lowercase();
    let role = role.to_lowercase();
    code == "NoSuchEntity"
        && (why.contains(&format!("role {role}"))
            || why.contains(&format!("role with name {role}")))
}

#[cfg(test)]
mod tests {
    use kerf_engine::observed::{Meta, Revision};
    use kerf_engine::time::Time;
    use kerf_model::node_spec::NodeClassRef;

    use super::*;
    use crate::provider::KubernetesVersion;

    fn cluster() -> Cluster {
        Cluster {
            name: "demo".to_owned(),
            region: "us-west-2".to_owned(),
            endpoint: String::new(),
            ca_bundle: String::new(),
            version: KubernetesVersion { major: 1, minor: 36 },
            service_cidr: None,
            dns_ip: None,
        }
    }

    fn class(uid: &str) -> NodeClass {
        let meta = Meta {
            name: "default".into(),
            uid: uid.into(),
            revision: Revision(1),
            generation: 1,
            created_at: Time::from_seconds(0),
            deleting_since: None,
        };
        let (group, kind) = ("karpenter.k8s.aws".to_owned(), "EC2NodeClass".to_owned());
        NodeClass::new(meta, NodeClassRef { group, kind, name: "default".to_owned() })
    }

    #[test]
    fn a_profile_has_the_same_name_whenever_it_is_made_for_a_class_and_role() {
        let name = |uid, role| profile_name(&cluster(), &class(uid), role);
        assert_eq!(name("1", "nodes"), name("1", "nodes"));
        assert_ne!(name("1", "nodes"), name("2", "nodes"), "a class made anew");
        assert_ne!(name("1", "nodes"), name("1", "others"));
        assert!(is_legal(&name("1", "nodes")));
        assert_eq!(legacy_name(&cluster(), &class("1")), "demo_4067990795380418201");
        assert_eq!(path_of_class(&cluster(), &class("1")), "/karpenter/us-west-2/demo/1/");
    }

    #[test]
    fn names_that_iam_does_not_take_are_never_asked_for() {
        assert!(is_legal("demo_1+=,.@-"));
        assert!(!is_legal(""));
        assert!(!is_legal("dem o"));
        assert!(!is_legal(&"d".repeat(129)));
    }

    #[test]
    fn the_path_of_a_role_plays_no_part() {
        assert_eq!(bare_role("nodes"), "nodes");
        assert_eq!(bare_role("teams/web/nodes"), "nodes");
    }

    #[test]
    fn a_missing_role_is_told_from_a_missing_profile() {
        let error = |why: &str| CallError::Refused {
            action: "iam:AddRoleToInstanceProfile",
            resource: String::new(),
            code: "NoSuchEntity".to_owned(),
            why: format!("NoSuchEntity: {why}"),
        };
        assert!(is_missing_role(&error("The role with name Nodes cannot be found."), "nodes"));
        assert!(is_missing_role(&error("Role nodes not found"), "nodes"));
        assert!(!is_missing_role(&error("Instance Profile demo_1 cannot be found."), "nodes"));
        let other = CallError::refused("iam:AddRoleToInstanceProfile", "", "role nodes");
        assert!(!is_missing_role(&other, "nodes"));
    }
}
