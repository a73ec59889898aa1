//! The router as a Lambda function: `bootstrap` of the runtime `provided.al2023`.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kerf_aws::{Session, TimeOuts};
use kerf_notices::routing::{RoutingSettings, Scope};
use kerf_router::{Executor, ExecutorSettings, Function, Routing};
use kerf_runtime::log::{self, LogFormat, LogSettings};
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::Mutex;
use tracing::Level;

/// Kept back from the time there is, to write the answer.
const MARGIN: Duration = Duration::from_millis(500);

/// Lambda sets the variable; a person who starts the program by hand wants another.
const OUTSIDE: &str = "this program runs inside AWS Lambda, which sets AWS_LAMBDA_RUNTIME_API; \
                       elsewhere use `kerf router run`";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let get = |name: &str| std::env::var(name).ok();
    if get("AWS_LAMBDA_RUNTIME_API").is_none() {
        return Err(OUTSIDE.into());
    }
    log::start(&log_settings(get))?;
    let mut settings = RoutingSettings::from_lookup(get)?;
    let region = get("AWS_REGION").unwrap_or_default();
    settings.home = Scope::new(&get("ROUTER_ACCOUNT").unwrap_or_default(), &region);
    let executor_settings = ExecutorSettings::from_lookup(get, settings.home.clone());
    let session = Session::from_env(TimeOuts::default()).await;
    let routing = Routing::new(settings, Executor::new(session, executor_settings));
    let function = Arc::new(Mutex::new(Function::new(routing)));
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Box<RawValue>>| {
        let function = Arc::clone(&function);
        async move {
            let deadline = UNIX_EPOCH + Duration::from_millis(event.context.deadline);
            let left = deadline.duration_since(SystemTime::now()).unwrap_or_default();
            let mut function = function.lock().await;
            let answer = function.handle(event.payload.get(), left.saturating_sub(MARGIN)).await;
            answer.map_err(Error::from) as Result<Value, Error>
        }
    }))
    .await
}

/// The variables of `kerf router run`. Lines go to standard error: on standard output CloudWatch
/// looks for metrics.
fn log_settings(get: impl Fn(&str) -> Option<String>) -> LogSettings {
    LogSettings {
        logger: "router",
        level: match get("LOG_LEVEL").as_deref() {
            Some("debug") => Level::DEBUG,
            Some("error") => Level::ERROR,
            _ => Level::INFO,
        },
        outputs: vec!["stderr".to_owned()],
        format: match get("KERF_LOG_FORMAT").as_deref() {
            Some("console") => LogFormat::Console,
            _ => LogFormat::Json,
        },
    }
}
