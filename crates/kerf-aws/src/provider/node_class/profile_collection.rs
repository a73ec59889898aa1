//! Which instance profiles nobody uses any more.
//!
//! A profile is removed only if no class names it, no instance of the cluster has it, it is not
//! young, and all that was so half an hour before as well: a class that was not looked at yet, as
//! when this process has just begun to lead, must not lose its profile.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::cached::Cached;
use super::profile_calls::Profile;
use crate::Result;
use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::provider::instances::describe::describe;
use crate::provider::tags;

/// How often unused profiles are collected.
pub(super) const EVERY: Duration = Duration::from_mins(30);
/// How long a class counts that was looked at: it is looked at every minute.
const NAMED: Duration = Duration::from_mins(10);
/// How long a profile is young, in seconds: launches under way may name it.
const YOUNG_SECONDS: i64 = 60 * 60;
/// The states of instances that are there.
const STATES: [&str; 5] = ["pending", "running", "stopping", "stopped", "shutting-down"];

/// What is known of profiles in use.
#[derive(Debug)]
pub(super) struct ProfileCollection {
    /// Profiles that classes name.
    named: Cached<String, ()>,
    /// Profiles that were not in use last time.
    unused_before: Mutex<BTreeSet<String>>,
}

impl ProfileCollection {
    /// Nothing is known.
    pub(super) fn new() -> Self {
        Self { named: Cached::new(NAMED), unused_before: Mutex::default() }
    }

    /// A class names a profile.
    pub(super) fn name(&self, profile: &str) {
        self.named.put(profile.to_owned(), ());
    }

    /// Whether any class was looked at lately: else this process does not lead, and knows nothing.
    pub(super) fn is_informed(&self) -> bool {
        !self.named.is_empty()
    }

    /// Of these profiles, those to remove now.
    pub(super) fn choose(
        &self,
        profiles: Vec<Profile>,
        of_instances: &BTreeSet<String>,
        now: i64,
    ) -> Vec<Profile> {
        let is_unused = |it: &Profile| {
            self.named.get(&it.name).is_none()
                && !of_instances.contains(&it.name)
                && now - it.created_at >= YOUNG_SECONDS
        };
        let unused: Vec<Profile> = profiles.into_iter().filter(is_unused).collect();
        let names = unused.iter().map(|it| it.name.clone()).collect();
        let mut before = self.unused_before.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *before, names);
        unused.into_iter().filter(|it| before.contains(&it.name)).collect()
    }
}

/// The profiles that instances of the cluster have.
pub(super) async fn of_instances(context: &Context) -> Result<BTreeSet<String>> {
    let states = STATES.map(str::to_owned).into();
    let filters = Filters::any_of("instance-state-name", states);
    let filters = filters.with(&format!("tag:{}", tags::CLUSTER_NAME), &context.cluster.name);
    let instances = describe(context, filters).await?;
    let arns = instances.iter().filter_map(|it| it.iam_instance_profile()?.arn());
    Ok(arns.filter_map(|arn| arn.rsplit('/').next()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_780_000_000;

    fn profile(name: &str, age_seconds: i64) -> Profile {
        Profile { created_at: NOW - age_seconds, ..Profile::new(name, "/karpenter/") }
    }

    fn chosen(collection: &ProfileCollection, profiles: &[Profile]) -> Vec<String> {
        let of_instances = BTreeSet::from(["of-instance".to_owned()]);
        let chosen = collection.choose(profiles.to_vec(), &of_instances, NOW);
        chosen.into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn a_profile_goes_once_it_was_unused_twice() {
        let collection = ProfileCollection::new();
        assert!(!collection.is_informed(), "no class was looked at");
        collection.name("of-class");
        assert!(collection.is_informed());
        let all = ["of-class", "of-instance", "unused"].map(|name| profile(name, 4_000));
        assert_eq!(chosen(&collection, &all), [""; 0]);
        assert_eq!(chosen(&collection, &all), ["unused"]);
        collection.name("unused");
        assert_eq!(chosen(&collection, &all), [""; 0], "it is named again");
    }

    #[test]
    fn a_young_profile_stays_whoever_made_it() {
        let collection = ProfileCollection::new();
        collection.name("of-class");
        let all = [profile("young", 3_599), profile("old", 3_600)];
        chosen(&collection, &all);
        assert_eq!(chosen(&collection, &all), ["old"]);
    }
}
