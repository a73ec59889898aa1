//! Instances that EC2 finds unhealthy: looked at every minute, with or without a queue.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_ec2::operation::describe_instance_status::DescribeInstanceStatusOutput;
use aws_sdk_ec2::primitives::DateTime;
use aws_sdk_ec2::types::{
    EventCode, InstanceStatus, InstanceStatusDetails, InstanceStatusEvent, StatusType,
    SummaryStatus,
};
use kerf_engine::notice::NoticeKind;
use kerf_kube::NoticeDelivery;
use kerf_runtime::{FailureLog, clock};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::Instances;
use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::{AwsAction, CallError, Result};

/// How often EC2 is asked.
const EVERY: Duration = Duration::from_secs(60);
/// And while it must not be.
const EVERY_WHILE_DENIED: Duration = Duration::from_secs(600);
/// A check that fails for less than this may be about to recover.
const IMPAIRED_SECONDS_MIN: i64 = 120;
/// Pages read at once: a hundred thousand unhealthy instances.
const PAGES_MAX: usize = 100;
const PAGE: i32 = 1_000;
/// How EC2 begins the description of an event that is over.
const OVER: [&str; 2] = ["[Completed]", "[Canceled]"];
/// Events that an instance does not survive as it is.
const EVENTS: [EventCode; 5] = [
    EventCode::InstanceReboot,
    EventCode::SystemReboot,
    EventCode::SystemMaintenance,
    EventCode::InstanceRetirement,
    EventCode::InstanceStop,
];

/// What is wrong with an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Category {
    /// The instance itself fails its checks.
    Instance,
    /// The host or the network under it does.
    System,
    /// Something is planned.
    Event,
}

impl Category {
    const ALL: [Self; 3] = [Self::Instance, Self::System, Self::Event];

    /// As metrics name it.
    const fn label(self) -> &'static str {
        match self {
            Self::Instance => "InstanceStatus",
            Self::System => "SystemStatus",
            Self::Event => "EventStatus",
        }
    }

    const fn notice(self) -> NoticeKind {
        match self {
            Self::Instance => NoticeKind::InstanceStatus,
            Self::System => NoticeKind::SystemStatus,
            Self::Event => NoticeKind::EventStatus,
        }
    }

    /// The filter that finds what may be wrong in this way.
    fn filter(self) -> (&'static str, Vec<String>) {
        let impaired = || vec![SummaryStatus::Impaired.as_str().to_owned()];
        match self {
            Self::Instance => ("instance-status.status", impaired()),
            Self::System => ("system-status.status", impaired()),
            Self::Event => {
                ("event.code", EVENTS.iter().map(|code| code.as_str().to_owned()).collect())
            }
        }
    }

    /// Whether an instance is unhealthy in this way by now.
    fn is_met_by(self, status: &InstanceStatus, now_seconds: i64) -> bool {
        let is_failing = |it: &InstanceStatusDetails| {
            let since = it.impaired_since().map(DateTime::secs);
            it.status() == Some(&StatusType::Failed)
                && since.is_some_and(|since| now_seconds - since >= IMPAIRED_SECONDS_MIN)
        };
        match self {
            Self::Instance => {
                status.instance_status().is_some_and(|it| it.details().iter().any(is_failing))
            }
            Self::System => {
                status.system_status().is_some_and(|it| it.details().iter().any(is_failing))
            }
            Self::Event => status.events().iter().any(is_planned),
        }
    }
}

fn is_planned(event: &InstanceStatusEvent) -> bool {
    let description = event.description().unwrap_or_default();
    event.code().is_some_and(|code| EVENTS.contains(code))
        && !OVER.iter().any(|over| description.starts_with(over))
}

/// What was found wrong with the cluster's instances before, so that each is counted once.
#[derive(Debug, Default)]
struct Episodes(HashSet<(Category, Arc<str>)>);

impl Episodes {
    /// How many of these are new; those that are not among them are over.
    fn begin(&mut self, category: Category, ids: &[Arc<str>]) -> u64 {
        self.0.retain(|(of, id)| *of != category || ids.contains(id));
        let new = ids.iter().filter(|id| self.0.insert((category, (*id).clone())));
        u64::try_from(new.count()).unwrap_or(u64::MAX)
    }
}

impl Instances {
    /// Announces instances of the cluster that EC2 finds unhealthy, as long as it does. Ends when
    /// nobody listens any more.
    pub(crate) async fn announce_unhealthy(&self, notices: mpsc::Sender<NoticeDelivery>) {
        const WHAT: &str = "the status of instances";
        let (mut episodes, failures) = (Episodes::default(), FailureLog::default());
        while !notices.is_closed() {
            let wait = match self.look_for_unhealthy(&mut episodes, &notices).await {
                Ok(()) => {
                    failures.recovered(WHAT);
                    EVERY
                }
                Err(error) => {
                    let is_denied = matches!(error, CallError::Denied { .. });
                    let kind = if is_denied { "denied" } else { "unavailable" };
                    failures.failed(WHAT, kind, error.to_string());
                    if is_denied { EVERY_WHILE_DENIED } else { EVERY }
                }
            };
            tokio::select! {
                () = sleep(wait) => {}
                () = notices.closed() => {}
            }
        }
    }

    async fn look_for_unhealthy(
        &self,
        episodes: &mut Episodes,
        notices: &mpsc::Sender<NoticeDelivery>,
    ) -> Result<()> {
        for category in Category::ALL {
            let (name, values) = category.filter();
            let statuses = statuses(&self.context, name, values).await?;
            let now = clock::now().as_second();
            let ids = self.own_unhealthy(category, &statuses, now);
            let metric = "karpenter_interruption_instance_status_unhealthy_total";
            let labels = vec![("category", category.label().to_owned())];
            self.context.registry.count(metric, labels, episodes.begin(category, &ids));
            if !ids.is_empty() {
                // What is not carried out in time is announced again with the next look.
                let (notice, _outcome) = NoticeDelivery::new(category.notice(), ids);
                let _ = notices.send(notice).await;
            }
        }
        Ok(())
    }

    /// Those of the cluster's own instances that are unhealthy: of those listed last, and of those
    /// launched since.
    fn own_unhealthy(
        &self,
        category: Category,
        statuses: &[InstanceStatus],
        now_seconds: i64,
    ) -> Vec<Arc<str>> {
        let launched = self.batches.ledger().launched_since(None);
        let launched: HashSet<&str> = launched.iter().map(|it| it.instance.id.as_str()).collect();
        let own = self.own();
        let unhealthy = statuses.iter().filter(|it| category.is_met_by(it, now_seconds));
        let ids = unhealthy.filter_map(|it| it.instance_id());
        ids.filter(|id| own.contains(*id) || launched.contains(id)).map(Arc::from).collect()
    }
}

async fn statuses(
    context: &Context,
    name: &str,
    values: Vec<String>,
) -> Result<Vec<InstanceStatus>> {
    let filters = Filters::any_of(name, values).to_sdk();
    let mut found = Vec::new();
    let call = |token| {
        let call =
            context.clients.ec2.describe_instance_status().set_filters(Some(filters.clone()));
        call.max_results(PAGE).set_next_token(token).send()
    };
    let take = |page: DescribeInstanceStatusOutput| {
        found.extend(page.instance_statuses.unwrap_or_default());
        page.next_token
    };
    context.calls.pages(AwsAction::DescribeInstanceStatus, PAGES_MAX, call, take).await?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::InstanceStatusSummary;

    use super::*;

    const NOW: i64 = 1_000_000;

    fn summary(status: StatusType, for_seconds: i64) -> InstanceStatusSummary {
        let details = InstanceStatusDetails::builder()
            .status(status)
            .impaired_since(DateTime::from_secs(NOW - for_seconds))
            .build();
        InstanceStatusSummary::builder().details(details).build()
    }

    fn planned(code: &str, description: &str) -> InstanceStatus {
        let event = InstanceStatusEvent::builder()
            .code(EventCode::from(code))
            .description(description)
            .build();
        InstanceStatus::builder().events(event).build()
    }

    #[test]
    fn an_instance_is_unhealthy_once_a_check_has_failed_for_two_minutes() {
        for (status, seconds, expected) in [
            (StatusType::Failed, 120, true),
            (StatusType::Failed, 119, false),
            (StatusType::InsufficientData, 900, false),
            (StatusType::Passed, 900, false),
        ] {
            let it = InstanceStatus::builder()
                .instance_status(summary(status.clone(), seconds))
                .system_status(summary(StatusType::Passed, 0))
                .build();
            assert_eq!(Category::Instance.is_met_by(&it, NOW), expected, "{status:?} {seconds}");
            assert!(!Category::System.is_met_by(&it, NOW), "it is the instance's own fault");
        }
        let it = InstanceStatus::builder().system_status(summary(StatusType::Failed, 300)).build();
        assert!(Category::System.is_met_by(&it, NOW) && !Category::Instance.is_met_by(&it, NOW));
    }

    #[test]
    fn events_count_at_once_until_they_are_over() {
        for (code, description, expected) in [
            ("instance-retirement", "The instance is running on degraded hardware", true),
            ("instance-stop", "", true),
            ("system-maintenance", "[Completed] Scheduled maintenance", false),
            ("system-reboot", "[Canceled] Scheduled reboot", false),
            ("something-else", "", false),
        ] {
            let it = planned(code, description);
            assert_eq!(Category::Event.is_met_by(&it, NOW), expected, "{code} {description}");
        }
    }

    #[test]
    fn each_instance_is_counted_once_until_it_is_well_again() {
        let ids = |ids: &[&str]| ids.iter().map(|id| Arc::from(*id)).collect::<Vec<Arc<str>>>();
        let mut episodes = Episodes::default();
        assert_eq!(episodes.begin(Category::System, &ids(&["i-1", "i-2"])), 2);
        assert_eq!(episodes.begin(Category::System, &ids(&["i-1", "i-2", "i-3"])), 1);
        assert_eq!(episodes.begin(Category::Instance, &ids(&["i-1"])), 1, "in another way");
        assert_eq!(episodes.begin(Category::System, &ids(&["i-2"])), 0);
        assert_eq!(episodes.begin(Category::System, &ids(&["i-1"])), 1, "it was well meanwhile");
    }
}
