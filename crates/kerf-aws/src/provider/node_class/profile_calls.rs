//! The calls to IAM about instance profiles. Each can be made again.

use crate::provider::context::Context;
use crate::provider::tags::{self, Tags};
use crate::{AwsAction, Result};

/// The most results a page has.
const PAGE: i32 = 1_000;
/// Pages read for one answer: an account has a thousand profiles unless somebody asks for more.
const PAGES_MAX: usize = 10;
/// How IAM says that there is no such thing, and that there is one already.
const NOT_FOUND: &str = "NoSuchEntity";
const EXISTS: &str = "EntityAlreadyExists";
/// How it says that a profile has a role already.
const FULL: &str = "LimitExceeded";

/// An instance profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) name: String,
    pub(super) path: String,
    /// When it was made, in seconds since 1970.
    pub(super) created_at: i64,
    /// The names of its roles; IAM allows one.
    pub(super) roles: Vec<String>,
}

/// Calls about instance profiles.
#[derive(Clone, Debug)]
pub(super) struct ProfileCalls {
    context: Context,
}

impl Profile {
    /// One without a role.
    pub(super) fn new(name: &str, path: &str) -> Self {
        let (name, path) = (name.to_owned(), path.to_owned());
        Self { name, path, created_at: 0, roles: Vec::new() }
    }

    /// Whether it has this role and no other.
    pub(super) fn has_only(&self, role: &str) -> bool {
        self.roles.iter().map(String::as_str).eq([role])
    }
}

impl ProfileCalls {
    pub(super) fn new(context: &Context) -> Self {
        Self { context: context.clone() }
    }

    /// The profile of that name, if there is one.
    pub(super) async fn get(&self, name: &str) -> Result<Option<Profile>> {
        let call = self.iam().get_instance_profile().instance_profile_name(name).send();
        let answer = self.make(AwsAction::GetInstanceProfile, name, call).await;
        Ok(unless(NOT_FOUND, answer)?.and_then(|answer| answer.instance_profile().map(described)))
    }

    /// The profiles below a path. What the answer has beside them is left out: their removal must
    /// not rest on a filter alone.
    pub(super) async fn list(&self, path: &str) -> Result<Vec<Profile>> {
        let (mut found, mut marker) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.iam().list_instance_profiles().path_prefix(path).max_items(PAGE);
            let call = call.set_marker(marker).send();
            let page = self.context.calls.make(AwsAction::ListInstanceProfiles, path, call).await?;
            let below = page.instance_profiles().iter().filter(|it| it.path().starts_with(path));
            found.extend(below.map(described));
            marker = page.marker().filter(|_| page.is_truncated()).map(str::to_owned);
            if marker.is_none() {
                break;
            }
        }
        Ok(found)
    }

    /// Creates a profile; one that is there already will do.
    pub(super) async fn create(&self, name: &str, path: &str, tags: &Tags) -> Result<()> {
        let call = self.iam().create_instance_profile().instance_profile_name(name).path(path);
        let call = call.set_tags(Some(tags::for_iam(tags))).send();
        unless(EXISTS, self.make(AwsAction::CreateInstanceProfile, name, call).await).map(drop)
    }

    /// Gives a profile its role. Its name is that of one role only, so that a role it has already
    /// is this one: descriptions are behind what was done.
    pub(super) async fn add_role(&self, name: &str, role: &str) -> Result<()> {
        let call = self.iam().add_role_to_instance_profile();
        let call = call.instance_profile_name(name).role_name(role).send();
        let resource = format!("instance-profile/{name} (and iam:PassRole on role/{role})");
        let answer =
            self.context.calls.make(AwsAction::AddRoleToInstanceProfile, &resource, call).await;
        unless(FULL, answer).map(drop)
    }

    /// Takes a role from a profile.
    pub(super) async fn remove_role(&self, name: &str, role: &str) -> Result<()> {
        let call = self.iam().remove_role_from_instance_profile();
        let call = call.instance_profile_name(name).role_name(role).send();
        let answer = self.make(AwsAction::RemoveRoleFromInstanceProfile, name, call).await;
        unless(NOT_FOUND, answer).map(drop)
    }

    /// Deletes a profile with its roles taken from it.
    pub(super) async fn delete(&self, profile: &Profile) -> Result<()> {
        for role in &profile.roles {
            self.remove_role(&profile.name, role).await?;
        }
        let call = self.iam().delete_instance_profile().instance_profile_name(&profile.name);
        let answer = self.make(AwsAction::DeleteInstanceProfile, &profile.name, call.send()).await;
        unless(NOT_FOUND, answer).map(drop)
    }

    fn iam(&self) -> &aws_sdk_iam::Client {
        &self.context.clients.iam
    }

    async fn make<T, E>(
        &self,
        action: AwsAction,
        name: &str,
        call: impl Future<
            Output = std::result::Result<
                T,
                aws_sdk_iam::error::SdkError<E, aws_sdk_iam::config::http::HttpResponse>,
            >,
        > + Send,
    ) -> Result<T>
    where
        T: Send,
        E: aws_sdk_iam::error::ProvideErrorMetadata + std::error::Error + Send + 'static,
    {
        self.context.calls.make(action, &format!("instance-profile/{name}"), call).await
    }
}

/// The answer, or none where the service refused for this reason.
fn unless<T>(code: &str, answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.code() == Some(code) => Ok(None),
        Err(error) => Err(error),
    }
}

fn described(profile: &aws_sdk_iam::types::InstanceProfile) -> Profile {
    Profile {
        name: profile.instance_profile_name().to_owned(),
        path: profile.path().to_owned(),
        created_at: profile.create_date().secs(),
        roles: profile.roles().iter().map(|role| role.role_name().to_owned()).collect(),
    }
}
