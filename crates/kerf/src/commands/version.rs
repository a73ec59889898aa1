//! `kerf version`: what this build is, and what it is compatible with.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::terminal;

/// Arguments of `kerf version`.
#[derive(Args)]
pub(crate) struct Version {
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    output: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Yaml,
}

/// What is said, by the names that programs read.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    version: &'static str,
    commit: &'static str,
    commit_date: &'static str,
    platform: String,
    compatible_with: Vec<Compatible>,
}

/// Something Kerf takes the place of, or works with.
#[derive(Serialize)]
struct Compatible {
    name: &'static str,
    version: &'static str,
}

/// What Kerf takes the place of, and the API server whose verdicts it knows.
const COMPATIBLE_WITH: [(&str, &str); 4] = [
    ("Karpenter", "1.15"),
    ("Karpenter AWS provider", "1.14"),
    ("AWS Node Termination Handler", "1.25"),
    ("Kubernetes", "1.36"),
];

impl Version {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let facts = Facts::of_this_build();
        terminal::print(&match self.output {
            Format::Text => facts.text(),
            Format::Json => format!("{:#}\n", serde_json::to_value(&facts)?),
            Format::Yaml => serde_saphyr::to_string(&facts)?,
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Facts {
    fn of_this_build() -> Self {
        let compatible = COMPATIBLE_WITH.into_iter();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("KERF_COMMIT"),
            commit_date: env!("KERF_COMMIT_DATE"),
            platform: format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
            compatible_with: compatible
                .map(|(name, version)| Compatible { name, version })
                .collect(),
        }
    }

    fn text(&self) -> String {
        let Self { version, commit, commit_date, platform, compatible_with } = self;
        let each: Vec<String> =
            compatible_with.iter().map(|it| format!("{} {}", it.name, it.version)).collect();
        format!(
            "kerf {version}\n\
             commit           {commit}, {commit_date}\n\
             platform         {platform}\n\
             compatible with  {}\n",
            each.join("\n                 ")
        )
    }
}
