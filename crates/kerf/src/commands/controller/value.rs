//! Values of settings that have a grammar of their own; each refusal says what is allowed.

use kerf_kube::SchedulerConfig;
use kerf_model::duration::GoDuration;

/// True or false, in the words that have always been accepted.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("allowed are true and false".to_owned()),
    }
}

/// A duration such as `10s` or `1m30s`, above nothing.
pub(super) fn duration(text: &str) -> Result<GoDuration, String> {
    let duration = GoDuration::parse(text)
        .map_err(|error| format!("{error}; allowed are durations such as 10s or 1m30s"))?;
    if duration.nanos() <= 0 {
        return Err("allowed are durations above zero, such as 10s or 1m30s".to_owned());
    }
    Ok(duration)
}

/// The scheduler's settings, in YAML, of which JSON is a part; empty means none.
pub(super) fn scheduler_config(text: &str) -> Result<SchedulerConfig, String> {
    if text.trim().is_empty() {
        return Ok(SchedulerConfig::default());
    }
    let value = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    SchedulerConfig::from_value(value)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}
