//! What the controller's role may do.

use kerf_aws::AwsAction;
use serde_json::Value;

use super::identity::is_like;
use crate::commands::doctor::facts::{Account, Facts};
use crate::commands::doctor::finding::Finding;

/// Needed beside the calls: the queue's, and to give instances their role.
const OTHERS: [&str; 4] =
    ["sqs:GetQueueUrl", "sqs:ReceiveMessage", "sqs:DeleteMessage", "iam:PassRole"];
/// Needed only where zonal shifts are followed.
const ZONAL: &str = "arc-zonal-shift:";
/// Permissions that are named in one line.
const NAMED_MAX: usize = 5;

/// Whether some policy of the role allows each call. On which resources and under which conditions
/// is not judged: that the policies are meant for this cluster is.
pub(super) fn allowed(facts: &Facts) -> Vec<Finding> {
    let Some(Account { controller_policies, queue, .. }) = &facts.account else {
        return Vec::new();
    };
    let documents = match controller_policies {
        None => return Vec::new(),
        Some(Err(why)) => return vec![Finding::unknown("permissions", why)],
        Some(Ok(documents)) => documents,
    };
    let patterns: Vec<String> = documents.iter().flat_map(|text| allowing(text)).collect();
    let is_needed = |name: &&str| {
        (queue.is_some() || !name.starts_with("sqs:"))
            && (follows_shifts(facts) || !name.starts_with(ZONAL))
    };
    let calls = AwsAction::ALL.iter().map(|action| action.permission());
    let mut lacking: Vec<&str> = calls
        .chain(OTHERS)
        .filter(is_needed)
        .filter(|name| !patterns.iter().any(|pattern| is_like(pattern, &name.to_lowercase())))
        .collect();
    lacking.sort_unstable();
    lacking.dedup();
    if lacking.is_empty() {
        return Vec::new();
    }
    let more = lacking.len().saturating_sub(NAMED_MAX);
    lacking.truncate(NAMED_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let evidence = format!("no policy of the role allows {}{more}", lacking.join(", "));
    let fix =
        "kerf install --cluster CLUSTER updates the stack; or attach what kerf policies writes";
    vec![Finding::failure("permissions", evidence, fix)]
}

fn follows_shifts(facts: &Facts) -> bool {
    facts.setting("ENABLE_ZONAL_SHIFT") == Some("true")
}

/// The actions that a policy allows, with stars, in small letters.
fn allowing(policy: &str) -> Vec<String> {
    let policy = serde_json::from_str::<Value>(policy).unwrap_or_default();
    let listed = |value: &Value| match value {
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    let statements = listed(&policy["Statement"]).into_iter();
    let allowing = statements.filter(|one| one["Effect"] == "Allow");
    let actions = allowing.flat_map(|one| listed(&one["Action"]));
    actions.filter_map(|action| action.as_str().map(str::to_lowercase)).collect()
}
