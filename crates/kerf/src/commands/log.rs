//! Flags of the log, the same for every role.

use clap::{Args, ValueEnum};
use kerf_runtime::log::{self, LogError, LogSettings};
use tracing::Level;

/// How the log is written.
#[derive(Args)]
pub(crate) struct LogFlags {
    /// The least important lines to log
    #[arg(long, env = "LOG_LEVEL", default_value = "info", value_parser = ["debug", "info", "error", ""])]
    log_level: String,
    /// Where to log: stdout, stderr or files, separated by commas
    #[arg(long, env = "LOG_OUTPUT_PATHS", default_value = "stdout", value_delimiter = ',')]
    log_output_paths: Vec<String>,
    /// Accepted for compatibility: failures of the log itself go to stderr
    #[arg(long, env = "LOG_ERROR_OUTPUT_PATHS", default_value = "stderr", value_delimiter = ',')]
    log_error_output_paths: Vec<String>,
    /// For machines, or for people at a terminal
    #[arg(long, env = "KERF_LOG_FORMAT", value_enum, default_value = "json")]
    log_format: LogFormat,
}

impl LogFlags {
    /// Starts logging under the name of a role.
    pub(crate) fn start(&self, logger: &'static str) -> Result<(), LogError> {
        log::start(&LogSettings {
            logger,
            level: match self.log_level.as_str() {
                "debug" => Level::DEBUG,
                "error" => Level::ERROR,
                _ => Level::INFO,
            },
            outputs: self.log_output_paths.clone(),
            format: match self.log_format {
                LogFormat::Json => kerf_runtime::log::LogFormat::Json,
                LogFormat::Console => kerf_runtime::log::LogFormat::Console,
                LogFormat::Legacy => kerf_runtime::log::LogFormat::Legacy,
            },
        })
    }
}

/// How lines of the log look.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// One JSON object a line
    Json,
    /// Words
    Console,
    /// As Karpenter's log of 2021, for runbooks that look for its lines
    Legacy,
}
