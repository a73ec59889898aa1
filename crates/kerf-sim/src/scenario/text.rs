//! The short forms scenario files use for requirements, taints, topology keys and delays.

use kerf_engine::time::Span;
use kerf_model::duration::GoDuration;
use kerf_model::labels::well_known;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::taint::{Taint, TaintEffect, Toleration, TolerationOperator};

use super::workload::Share;
use crate::rng::Delay;

/// Words for keys that everybody uses.
const SHORT_KEYS: [(&str, &str); 6] = [
    ("zone", well_known::ZONE),
    ("hostname", well_known::HOSTNAME),
    ("arch", well_known::ARCH),
    ("os", well_known::OS),
    ("capacity", well_known::CAPACITY_TYPE),
    ("type", well_known::INSTANCE_TYPE),
];

/// `zone` or a full key.
pub(super) fn key(text: &str) -> String {
    let short = SHORT_KEYS.iter().find(|(short, _)| *short == text);
    short.map_or(text, |(_, full)| full).to_owned()
}

/// `zone in a, b`, `key not in c`, `key exists`, `key absent`, `key > 3`.
pub(super) fn requirement(text: &str) -> Result<RequirementEntry, String> {
    let wrong = || {
        format!(
            "{text:?} is no requirement; write KEY in A, B or KEY not in A, B, KEY exists, KEY \
             absent, KEY > N, KEY < N, KEY >= N, KEY <= N"
        )
    };
    let (name, rest) = text.trim().split_once(' ').ok_or_else(wrong)?;
    let rest = rest.trim();
    let values = |list: &str| list.split(',').map(|value| value.trim().to_owned()).collect();
    let (operator, values): (Operator, Vec<String>) = match rest {
        "exists" => (Operator::Exists, Vec::new()),
        "absent" => (Operator::DoesNotExist, Vec::new()),
        _ if rest.starts_with("in ") => (Operator::In, values(&rest[3..])),
        _ if rest.starts_with("not in ") => (Operator::NotIn, values(&rest[7..])),
        _ if rest.starts_with(">=") => (Operator::Gte, values(&rest[2..])),
        _ if rest.starts_with("<=") => (Operator::Lte, values(&rest[2..])),
        _ if rest.starts_with('>') => (Operator::Gt, values(&rest[1..])),
        _ if rest.starts_with('<') => (Operator::Lt, values(&rest[1..])),
        _ => return Err(wrong()),
    };
    Ok(RequirementEntry { key: key(name), operator, values, min_values: None })
}

/// `key=value:Effect` or `key:Effect`.
pub(super) fn taint(text: &str) -> Result<Taint, String> {
    let wrong = || format!("{text:?} is no taint; write KEY=VALUE:EFFECT or KEY:EFFECT");
    let (head, effect) = text.rsplit_once(':').ok_or_else(wrong)?;
    let (key, value) = head.split_once('=').unwrap_or((head, ""));
    let effect: TaintEffect = effect.parse().map_err(|_| wrong())?;
    Ok(Taint::new(key, value, effect))
}

/// As a taint; `everything` tolerates all.
pub(super) fn toleration(text: &str) -> Result<Toleration, String> {
    if text == "everything" {
        return Ok(Toleration::of_everything());
    }
    let Taint { key, value, effect } = taint(text)?;
    let operator =
        if value.is_empty() { TolerationOperator::Exists } else { TolerationOperator::Equal };
    Ok(Toleration { key, operator, value, effect: Some(effect) })
}

/// `90s`, `5m`, `1h30m`.
pub(super) fn span(text: &str) -> Result<Span, String> {
    GoDuration::parse(text).map(Span::from).map_err(|error| error.to_string())
}

/// `20s` or `20s..40s`.
pub(super) fn delay(text: &str) -> Result<Delay, String> {
    let Some((least, most)) = text.split_once("..") else { return span(text).map(Delay::exactly) };
    let (least, most) = (span(least)?, span(most)?);
    if most < least {
        return Err(format!("{text:?} ends before it begins"));
    }
    Ok(Delay { least, most })
}

/// `2` or `50%`.
pub(super) fn share(text: &str) -> Result<Share, String> {
    let wrong = || format!("{text:?} is neither a count such as 2 nor a share such as 50%");
    match text.strip_suffix('%') {
        Some(percent) => percent.parse().map(Share::Percent).map_err(|_| wrong()),
        None => text.parse().map(Share::Count).map_err(|_| wrong()),
    }
}
