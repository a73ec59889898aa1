//! How the scheduler is to decide: flags and the file of the scheduler's settings.

use std::path::Path;

use clap::{Args, ValueEnum};
use kerf_engine::Settings;
use kerf_kube::SchedulerConfig;
use kerf_lint::FILE_BYTES_MAX;
use kerf_model::labels::LabelRules;
use kerf_scheduler::{MinValuesPolicy, PreferencePolicy, SchedulerSettings};
use serde_json::Value;

use super::input::Refusals;

/// The flags, named as the controller's are.
#[derive(Args)]
pub(super) struct Policy {
    /// Whether preferred affinities and ScheduleAnyway spreads count until they cannot be met, or not
    /// at all
    #[arg(long, value_enum, ignore_case = true, default_value = "Respect")]
    preference_policy: Preferences,
    /// What to do where fewer values are left than a pool's minValues asks for: make no node, or
    /// make it with what there is
    #[arg(long, value_enum, ignore_case = true, default_value = "Strict")]
    min_values_policy: MinValues,
    /// Settings of the scheduler: podTopologySpread.defaultConstraints, for pods that have no
    /// spreads of their own
    #[arg(long, value_name = "FILE")]
    scheduler_config: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "PascalCase")]
enum Preferences {
    Respect,
    Ignore,
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "PascalCase")]
enum MinValues {
    Strict,
    BestEffort,
}

impl Policy {
    /// How the engine decides: as the controller's does by default, but for the flags.
    pub(super) fn settings(&self, label_rules: LabelRules) -> Settings {
        let settings = Settings::default();
        let scheduler = SchedulerSettings {
            label_rules,
            preferences: match self.preference_policy {
                Preferences::Respect => PreferencePolicy::Respect,
                Preferences::Ignore => PreferencePolicy::Ignore,
            },
            min_values: match self.min_values_policy {
                MinValues::Strict => MinValuesPolicy::Strict,
                MinValues::BestEffort => MinValuesPolicy::BestEffort,
            },
            ..settings.scheduler
        };
        Settings { scheduler, ..settings }
    }

    /// What the file says; without one, nothing.
    pub(super) fn scheduler_config(&self) -> Result<SchedulerConfig, Refusals> {
        let Some(path) = self.scheduler_config.as_deref() else {
            return Ok(SchedulerConfig::default());
        };
        let refuse = |reason: String| Refusals(vec![format!("{path}  {reason}")]);
        let text = read_bounded(Path::new(path)).map_err(refuse)?;
        let value: Value = match text.trim().is_empty() {
            true => Value::Null,
            false => serde_saphyr::from_str(&text).map_err(|error| refuse(error.to_string()))?,
        };
        SchedulerConfig::from_value(value).map_err(|problems| {
            let line = |problem: &kerf_api::FieldError| {
                format!("{path}  {}  {}", problem.field, problem.message)
            };
            Refusals(problems.iter().map(line).collect())
        })
    }
}

fn read_bounded(path: &Path) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    if std::fs::metadata(path).map_err(cannot)?.len() > FILE_BYTES_MAX {
        return Err(format!("cannot be read: larger than {} MiB", FILE_BYTES_MAX / (1024 * 1024)));
    }
    std::fs::read_to_string(path).map_err(cannot)
}
