//! What an operator may set.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::static_map::{StaticMap, is_url};
use super::verdict::Unrouted;
use super::{MemorySize, Scope};
use crate::message::Kind;

/// A thousand a second: more than AWS has to say of one cluster, and what one core routes in a
/// fraction of that time.
const MESSAGES_PER_MINUTE_MAX: u32 = 60_000;

/// The kinds that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forwarding {
    /// Rebalance recommendations.
    pub rebalance: bool,
    /// Auto Scaling lifecycle actions.
    pub asg: bool,
    /// Zonal shifts.
    pub zonal_shift: bool,
}

impl Default for Forwarding {
    fn default() -> Self {
        Self { rebalance: true, asg: true, zonal_shift: true }
    }
}

impl Forwarding {
    pub(super) fn allows(self, kind: Kind) -> bool {
        match kind {
            Kind::Rebalance => self.rebalance,
            Kind::AsgTerminate | Kind::AsgLaunch => self.asg,
            Kind::ZonalShift => self.zonal_shift,
            _ => true,
        }
    }
}

/// The names a cluster's queue may have: each with `{cluster}` where the cluster's name goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameTemplate(Vec<String>);

/// What SQS allows in the name of a standard queue.
const QUEUE_NAME_BYTES_MAX: usize = 80;

impl Default for NameTemplate {
    fn default() -> Self {
        Self(vec!["{cluster}".to_owned(), "Karpenter-{cluster}".to_owned()])
    }
}

impl NameTemplate {
    /// Reads one template, or several between commas, tried in their order.
    pub fn from_text(text: &str) -> Result<Self, SettingsError> {
        let templates: Vec<_> = text.split(',').map(|part| part.trim().to_owned()).collect();
        match templates.iter().find(|template| !template.contains("{cluster}")) {
            None => Ok(Self(templates)),
            Some(template) => Err(SettingsError::new(
                "QUEUE_NAME_TEMPLATE",
                format!("\"{template}\" must contain {{cluster}}, or all clusters share a queue"),
            )),
        }
    }

    /// The names to try for a cluster. Names that no queue can have are left out.
    pub(super) fn names(&self, cluster: &str) -> Vec<String> {
        let names = self.0.iter().map(|template| template.replace("{cluster}", cluster));
        names.filter(|name| is_queue_name(name)).collect()
    }
}

fn is_queue_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    !name.is_empty() && name.len() <= QUEUE_NAME_BYTES_MAX && name.bytes().all(allowed)
}

/// Everything that changes how messages are routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingSettings {
    /// Queues by cluster, as the operator lists them. They come first.
    pub static_map: StaticMap,
    /// Whether there is a table of clusters to ask next.
    pub has_table: bool,
    /// The names to try last.
    pub template: NameTemplate,
    /// Whether queues may be searched by tag for events that go to every cluster.
    pub discover_by_tag: bool,
    /// Where messages go that belong to no cluster, if anywhere.
    pub unrouted_queue: Option<Arc<str>>,
    /// What is forwarded.
    pub forwarding: Forwarding,
    /// The bound of one batch of messages, in bytes.
    pub batch_bytes_max: usize,
    /// The most messages a queue gets within a minute; what goes beyond fails and comes again.
    pub messages_per_minute_max: u32,
    /// Whether a message that cannot be read is reported as failed.
    pub poison_to_dlq: bool,
    /// The account and region of the router itself; empty where unknown.
    pub home: Scope,
    /// Whether the router may look into other accounts.
    pub has_account_role: bool,
    /// The other accounts whose events are taken; with an account role, none means all.
    pub accounts: BTreeSet<String>,
    /// The other regions whose events are taken; with an account role, none means all.
    pub regions: BTreeSet<String>,
    /// Whether a queue that is found by its name must be tagged as the cluster's.
    pub require_queue_tag: bool,
    /// How much is remembered, and for how long.
    pub memory: MemorySize,
}

impl Default for RoutingSettings {
    fn default() -> Self {
        Self {
            static_map: StaticMap::default(),
            has_table: false,
            template: NameTemplate::default(),
            discover_by_tag: true,
            unrouted_queue: None,
            forwarding: Forwarding::default(),
            batch_bytes_max: 262_144,
            messages_per_minute_max: MESSAGES_PER_MINUTE_MAX,
            poison_to_dlq: false,
            home: Scope::default(),
            has_account_role: false,
            accounts: BTreeSet::new(),
            regions: BTreeSet::new(),
            require_queue_tag: true,
            memory: MemorySize::default(),
        }
    }
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {why}")]
pub struct SettingsError {
    /// The environment variable.
    pub setting: &'static str,
    /// What is wrong with it.
    pub why: String,
}

impl SettingsError {
    /// What is wrong with a setting.
    pub fn new(setting: &'static str, why: impl Into<String>) -> Self {
        Self { setting, why: why.into() }
    }
}

impl RoutingSettings {
    /// Reads settings by name, as the environment of a process or a function gives them.
    pub fn from_lookup(get: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let mut settings = Self {
            has_table: get("CLUSTER_TABLE").is_some(),
            has_account_role: get("ACCOUNT_ROLE_NAME").is_some(),
            unrouted_queue: get("UNROUTED_QUEUE_URL").map(queue_url).transpose()?,
            ..Self::default()
        };
        if let Some(map) = get("CLUSTER_QUEUES") {
            settings.static_map = StaticMap::from_json(&map)?;
        }
        if let Some(template) = get("QUEUE_NAME_TEMPLATE") {
            settings.template = NameTemplate::from_text(&template)?;
        }
        settings.accounts = names(get("ALLOWED_ACCOUNTS"));
        settings.regions = names(get("ALLOWED_REGIONS"));
        let flag = |name, default| get(name).map_or(Ok(default), |value| boolean(name, &value));
        settings.forwarding = Forwarding {
            rebalance: flag("FORWARD_REBALANCE", true)?,
            asg: flag("FORWARD_ASG", true)?,
            zonal_shift: flag("FORWARD_ZONAL_SHIFT", true)?,
        };
        settings.poison_to_dlq = flag("POISON_TO_DLQ", false)?;
        settings.discover_by_tag = flag("DISCOVER_BY_TAG", true)?;
        settings.require_queue_tag = flag("REQUIRE_QUEUE_TAG", true)?;
        let is_bounded = get("ACCOUNT_EXTERNAL_ID").is_some() || get("ORGANIZATION_ID").is_some();
        if settings.has_account_role && !is_bounded {
            let why = "a role in other accounts needs ORGANIZATION_ID or ACCOUNT_EXTERNAL_ID, so that \
                       an event cannot make the router assume a role of any account it names";
            return Err(SettingsError::new("ACCOUNT_ROLE_NAME", why));
        }
        let number = |name, bounds, default| {
            get(name).map_or(Ok(default), |value| whole_number(name, &value, bounds))
        };
        // A batch must hold one message of EventBridge's size; SQS takes no more than 1 MiB.
        settings.batch_bytes_max = number("MAX_BATCH_BYTES", (1_024, 1 << 20), 262_144)? as usize;
        let most = number("MESSAGES_PER_MINUTE_MAX", (1, u64::from(u32::MAX)), 60_000)?;
        settings.messages_per_minute_max = u32::try_from(most).unwrap_or(u32::MAX);
        settings.memory.instances =
            number("CACHE_SIZE", (1, 10_000_000), settings.memory.instances as u64)? as usize;
        settings.memory.instance_ttl_ms =
            number("CACHE_TTL_SECONDS", (1, 604_800), 7_200)?.saturating_mul(1_000);
        Ok(settings)
    }
}

impl RoutingSettings {
    /// Why events of that account and region are none of this router's, if so. Where the router
    /// does not know its own place, every place is its own.
    pub(super) fn other_place(&self, scope: &Scope) -> Option<Unrouted> {
        let Scope { account, region } = &self.home;
        let is_hub = self.has_account_role;
        let is_taken = |own: &str, named: &str, others: &BTreeSet<String>| {
            own.is_empty()
                || named.is_empty()
                || own == named
                || others.contains(named)
                || is_hub && others.is_empty()
        };
        // Without a role there nobody can say whose the instances of another account are.
        if !account.is_empty() && !scope.account.is_empty() && *account != scope.account && !is_hub
            || !is_taken(account, &scope.account, &self.accounts)
        {
            return Some(Unrouted::OtherAccount);
        }
        (!is_taken(region, &scope.region, &self.regions)).then_some(Unrouted::OtherRegion)
    }
}

/// Names between commas.
fn names(text: Option<String>) -> BTreeSet<String> {
    let text = text.unwrap_or_default();
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

fn queue_url(text: String) -> Result<Arc<str>, SettingsError> {
    match is_url(&text) {
        true => Ok(text.into()),
        false => {
            let why = format!("\"{text}\" is not the URL of a queue");
            Err(SettingsError::new("UNROUTED_QUEUE_URL", why))
        }
    }
}

fn boolean(setting: &'static str, value: &str) -> Result<bool, SettingsError> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(SettingsError::new(setting, format!("\"{value}\" is neither true nor false"))),
    }
}

fn whole_number(
    setting: &'static str,
    value: &str,
    (least, most): (u64, u64),
) -> Result<u64, SettingsError> {
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        let why = format!("\"{value}\" is not a whole number from {least} to {most}");
        SettingsError::new(setting, why)
    })
}
