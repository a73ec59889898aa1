//! Lines as Karpenter wrote them in 2021: time, level, logger, message and the rest in JSON, with
//! tabs between.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::{Fields, commit};
use crate::clock;

/// The target of lines that only this format writes.
pub const RUNBOOK: &str = "runbook";

/// Whether anybody reads them.
static TELLS_RUNBOOK: AtomicBool = AtomicBool::new(false);

/// Whether lines of old runbooks are written.
pub fn tells_runbook() -> bool {
    TELLS_RUNBOOK.load(Ordering::Relaxed)
}

pub(super) fn tell_runbook() {
    TELLS_RUNBOOK.store(true, Ordering::Relaxed);
}

pub(super) struct Legacy {
    pub(super) logger: &'static str,
}

impl<S, N> FormatEvent<S, N> for Legacy
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let time = clock::now().strftime("%FT%H:%M:%S%.3fZ").to_string();
        let level = event.metadata().level().as_str();
        writeln!(writer, "{}", line(&time, level, self.logger, Fields::of(event), commit()))
    }
}

fn line(time: &str, level: &str, logger: &str, fields: Fields, commit: &str) -> String {
    let Fields { message, mut others } = fields;
    let controller = match others.remove("controller") {
        Some(Value::String(name)) => format!("{logger}.{name}"),
        _ => logger.to_owned(),
    };
    let mut rest = Map::from_iter([("commit".to_owned(), Value::from(commit))]);
    rest.extend(others.into_iter().filter(|(_, value)| value != ""));
    let rest: Vec<String> =
        rest.iter().map(|(key, value)| format!("{}: {value}", Value::from(key.as_str()))).collect();
    format!("{time}\t{level}\t{controller}\t{message}\t{{{}}}", rest.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_five_columns_and_the_commit_first_in_the_last() {
        let others = [("controller", "provisioning"), ("node", ""), ("provisioner", "default")];
        let others = others.map(|(key, value)| (key.to_owned(), Value::from(value)));
        let fields = Fields {
            message: "Found 2 provisionable pods".to_owned(),
            others: others.into_iter().collect(),
        };
        assert_eq!(
            line("2021-12-12T18:36:21.153Z", "INFO", "controller", fields, "7e79a67"),
            "2021-12-12T18:36:21.153Z\tINFO\tcontroller.provisioning\tFound 2 provisionable pods\t\
             {\"commit\": \"7e79a67\", \"provisioner\": \"default\"}"
        );
    }
}
