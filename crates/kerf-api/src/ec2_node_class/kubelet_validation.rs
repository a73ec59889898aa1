//! The rules for kubelet settings that only the controller checks.
//!
//! The schema repeats those it can express. They are checked here as well, because an object may
//! have been stored before Kerf's schema was installed.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::duration::GoDuration;
use kerf_model::quantity::Quantity;
use serde_json::Value;

use super::kubelet::{EVICTION_SIGNALS, RESERVABLE};
use super::kubelet_fields::Kind;
use super::{AmiFamily, EC2NodeClassSpec, Kubelet, MaxPods};

/// A setting the class cannot keep, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeletError {
    /// The path of the field, from `spec.kubelet` on.
    pub field: String,
    /// What is wrong with it and what would be right.
    pub message: String,
    /// The reason the class's condition carries.
    pub reason: KubeletErrorReason,
}

/// Why a class is refused, as its condition `ValidationSucceeded` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KubeletErrorReason {
    /// No kubelet would accept the setting.
    InvalidKubeletConfiguration,
    /// The image family has no way to pass the setting on.
    UnsupportedKubeletConfiguration,
}

impl KubeletErrorReason {
    /// The reason as the condition spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidKubeletConfiguration => "InvalidKubeletConfiguration",
            Self::UnsupportedKubeletConfiguration => "UnsupportedKubeletConfiguration",
        }
    }
}

/// Every problem of the class's kubelet settings, invalid ones before unsupported ones.
///
/// Expressions are not evaluated: that needs the instance types.
#[must_use]
pub fn validate_kubelet(spec: &EC2NodeClassSpec) -> Vec<KubeletError> {
    let Some(kubelet) = &spec.kubelet else { return Vec::new() };
    let mut found = Problems::default();
    found.other_fields(kubelet);
    found.eviction(kubelet);
    found.reserved("kubeReserved", kubelet.kube_reserved.as_ref());
    found.reserved("systemReserved", kubelet.system_reserved.as_ref());
    found.numbers(kubelet);
    if let Some(family) = spec.resolved_ami_family() {
        found.unsupported(kubelet, family);
    }
    found.list
}

#[derive(Default)]
struct Problems {
    list: Vec<KubeletError>,
}

impl Problems {
    fn invalid(&mut self, field: &str, message: impl Into<String>) {
        self.add(KubeletErrorReason::InvalidKubeletConfiguration, field, message.into());
    }

    fn add(&mut self, reason: KubeletErrorReason, field: &str, message: String) {
        let field = format!("spec.kubelet.{field}");
        self.list.push(KubeletError { field, message, reason });
    }

    fn other_fields(&mut self, kubelet: &Kubelet) {
        for (name, value) in &kubelet.other {
            match Kind::of(name) {
                _ if name == "registerWithTaints" => {
                    if !value.is_null() {
                        self.invalid(
                            name,
                            "cannot be set: Kerf writes it; use taints in the NodePool",
                        );
                    }
                }
                None => self.invalid(name, "is not a setting of the kubelet"),
                Some(kind) if !kind.admits(value) => {
                    self.invalid(name, format!("must be {}, not {value}", kind.expectation()));
                }
                Some(_) => {}
            }
        }
    }

    fn eviction(&mut self, kubelet: &Kubelet) {
        let reclaim = text_map(kubelet.other.get("evictionMinimumReclaim"));
        self.signals("evictionHard", kubelet.eviction_hard.as_ref(), threshold_problem);
        self.signals("evictionSoft", kubelet.eviction_soft.as_ref(), threshold_problem);
        self.signals(
            "evictionSoftGracePeriod",
            kubelet.eviction_soft_grace_period.as_ref(),
            grace_period_problem,
        );
        self.signals("evictionMinimumReclaim", reclaim.as_ref(), reclaim_problem);
        self.soft_pairs(kubelet);
    }

    fn signals(
        &mut self,
        name: &str,
        map: Option<&BTreeMap<String, String>>,
        problem_of: fn(&str) -> Option<String>,
    ) {
        for (signal, value) in map.into_iter().flatten() {
            let field = format!("{name}[{signal}]");
            if !EVICTION_SIGNALS.contains(&signal.as_str()) {
                let known = EVICTION_SIGNALS.join(", ");
                self.invalid(&field, format!("is not an eviction signal; known are {known}"));
            }
            if let Some(message) = problem_of(value) {
                self.invalid(&field, message);
            }
        }
    }

    fn soft_pairs(&mut self, kubelet: &Kubelet) {
        let soft = keys(kubelet.eviction_soft.as_ref());
        let grace = keys(kubelet.eviction_soft_grace_period.as_ref());
        for signal in soft.difference(&grace) {
            let field = format!("evictionSoft[{signal}]");
            self.invalid(&field, "has no counterpart in evictionSoftGracePeriod");
        }
        for signal in grace.difference(&soft) {
            let field = format!("evictionSoftGracePeriod[{signal}]");
            self.invalid(&field, "has no counterpart in evictionSoft");
        }
    }

    fn reserved(&mut self, name: &str, map: Option<&BTreeMap<String, String>>) {
        for (resource, amount) in map.into_iter().flatten() {
            let field = format!("{name}[{resource}]");
            if !RESERVABLE.contains(&resource.as_str()) {
                let known = RESERVABLE.join(", ");
                self.invalid(&field, format!("cannot be reserved; only {known} can"));
            }
            if amount.starts_with('-') {
                self.invalid(&field, format!("cannot be negative, but is {amount:?}"));
            }
        }
    }

    fn numbers(&mut self, kubelet: &Kubelet) {
        let high = kubelet.image_gc_high_threshold_percent;
        let low = kubelet.image_gc_low_threshold_percent;
        self.percent("imageGCHighThresholdPercent", high);
        self.percent("imageGCLowThresholdPercent", low);
        if let (Some(high), Some(low)) = (high, low)
            && high <= low
        {
            self.invalid(
                "imageGCHighThresholdPercent",
                format!("must be greater than imageGCLowThresholdPercent, but {high} <= {low}"),
            );
        }
        let max_pods = match kubelet.max_pods {
            Some(MaxPods::Count(count)) => Some(count),
            Some(MaxPods::Expression(_)) | None => None,
        };
        self.not_negative("maxPods", max_pods);
        if max_pods.is_some_and(|count| count > i64::from(i32::MAX)) {
            self.invalid("maxPods", format!("cannot be more than {}", i32::MAX));
        }
        self.not_negative("podsPerCore", kubelet.pods_per_core.map(i64::from));
        let grace = kubelet.eviction_max_pod_grace_period.map(i64::from);
        self.not_negative("evictionMaxPodGracePeriod", grace);
    }

    fn percent(&mut self, field: &str, value: Option<i32>) {
        if let Some(value) = value.filter(|value| !(0..=100).contains(value)) {
            self.invalid(field, format!("must be between 0 and 100, but is {value}"));
        }
    }

    fn not_negative(&mut self, field: &str, value: Option<i64>) {
        if let Some(value) = value.filter(|value| *value < 0) {
            self.invalid(field, format!("cannot be negative, but is {value}"));
        }
    }

    fn unsupported(&mut self, kubelet: &Kubelet, family: AmiFamily) {
        if matches!(family, AmiFamily::AL2023 | AmiFamily::Custom) {
            return;
        }
        let reason = KubeletErrorReason::UnsupportedKubeletConfiguration;
        let family_name = family.name();
        for name in kubelet.other.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name)
        {
            let message = format!("cannot be passed on to {family_name}; AL2023 and Custom can");
            self.add(reason, name, message);
        }
        if family == AmiFamily::Bottlerocket && kubelet.pods_per_core.is_some() {
            let message = "cannot be passed on to Bottlerocket; use maxPods".to_owned();
            self.add(reason, "podsPerCore", message);
        }
        if kubelet.cluster_dns.as_ref().is_some_and(|servers| servers.len() > 1) {
            let message = format!("can name one address with {family_name}; AL2023 takes more");
            self.add(reason, "clusterDNS", message);
        }
    }
}

fn keys(map: Option<&BTreeMap<String, String>>) -> BTreeSet<&str> {
    map.into_iter().flatten().map(|(key, _)| key.as_str()).collect()
}

/// The entries of a JSON object that are text; others are reported as a wrong type.
fn text_map(value: Option<&Value>) -> Option<BTreeMap<String, String>> {
    let entries = value?.as_object()?;
    let texts =
        entries.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.into())));
    Some(texts.collect())
}

/// A threshold is a share in percent, in the form the schema has, or an amount.
fn threshold_problem(text: &str) -> Option<String> {
    match text.strip_suffix('%') {
        None => amount_problem(text),
        Some(share) if is_threshold_share(share) => None,
        Some(_) => Some(format!(
            "must be a share between 0% and 100% with at most two decimals, but is {text:?}"
        )),
    }
}

fn is_threshold_share(share: &str) -> bool {
    let (whole, decimals) = share.split_once('.').unwrap_or((share, "0"));
    let is_digits = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    is_digits(decimals, 2)
        && (is_digits(whole, 2) || whole == "100" && decimals.bytes().all(|byte| byte == b'0'))
}

/// What is reclaimed at least is a share in percent or an amount.
fn reclaim_problem(text: &str) -> Option<String> {
    let Some(share) = text.strip_suffix('%') else {
        return amount_problem(text);
    };
    let plain = share.chars().all(|c| c.is_ascii_digit() || c == '.');
    let share = Quantity::parse(share).ok().filter(|_| plain);
    match share {
        Some(share) if share <= Quantity::from_int(100) => None,
        _ => Some(format!("must be a share between 0% and 100%, but is {text:?}")),
    }
}

fn amount_problem(text: &str) -> Option<String> {
    match Quantity::parse(text) {
        Ok(amount) if amount.is_negative() => Some(format!("cannot be negative, but is {text:?}")),
        Ok(_) => None,
        Err(error) => Some(format!("must be a share such as 5% or a quantity: {error}")),
    }
}

fn grace_period_problem(text: &str) -> Option<String> {
    match GoDuration::parse(text) {
        Ok(period) if period < GoDuration::ZERO => {
            Some(format!("cannot be negative, but is {text:?}"))
        }
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}
