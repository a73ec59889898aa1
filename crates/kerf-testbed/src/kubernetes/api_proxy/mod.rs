//! A proxy in front of the API server that breaks calls by rule while they are made, and remembers
//! the writes it saw.
//!
//! It listens in plain HTTP on loopback and passes on what it is sent with the caller's own
//! credentials, so rights are those of the caller.

mod call;
mod carry;
mod rule;
mod stream;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::kubernetes::control_plane::ControlPlane;
use crate::programs::work_dir::random_hex;

pub use call::ApiCall;
pub use rule::{ApiFault, ApiRule, Calls, Held};

/// A running proxy. Dropping it ends it.
#[derive(Debug)]
pub struct ApiProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    kubeconfig: PathBuf,
    /// Ends with all connections when dropped.
    runtime: Option<Runtime>,
}

pub(super) struct Shared {
    upstream: Client,
    rules: Mutex<Rules>,
    /// Watches that run, and what has become of them. Rules of a moment decide for good.
    running: Mutex<Vec<(ApiCall, watch::Sender<Option<ApiFault>>)>>,
    writes: Mutex<Vec<ApiCall>>,
}

use rule::Rules;

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl ApiProxy {
    /// Starts a proxy for a user of the control plane; for the administrator if none is named.
    pub fn start(control_plane: &ControlPlane, user: Option<&str>) -> Result<Self> {
        let direct = match user {
            Some(user) => control_plane.kubeconfig_of(user)?,
            None => control_plane.kubeconfig(),
        };
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(Error::io("start", "the proxy"))?;
        let (shared, listener) = runtime.block_on(open(direct))?;
        let address = listener.local_addr().map_err(Error::io("listen on", "127.0.0.1"))?;
        runtime.spawn(serve(listener, Arc::clone(&shared)));
        let kubeconfig = direct.with_file_name(format!("kubeconfig-{}", &random_hex()[..8]));
        let text = std::fs::read_to_string(direct).map_err(Error::io("read", direct))?;
        let text = text.replace(control_plane.server_url(), &format!("http://{address}"));
        std::fs::write(&kubeconfig, text).map_err(Error::io("write", &kubeconfig))?;
        Ok(Self { address, shared, kubeconfig, runtime: Some(runtime) })
    }

    /// The user's kubeconfig, with this proxy in the place of the server.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts these rules in the place of all others, for calls to come and for watches that run.
    pub fn set_rules(&self, rules: Vec<ApiRule>) {
        self.shared.rules().set(rules);
        self.shared.decide_on_running();
    }

    /// Lets nothing through from the `nth` write on, which is told once it is there.
    pub fn hold(&self, nth: u64, held: Held) -> mpsc::Receiver<ApiCall> {
        self.shared.rules().hold(nth, held)
    }

    /// Lets nothing through at all, or everything again.
    pub fn freeze(&self, is_frozen: bool) {
        self.shared.rules().freeze(is_frozen);
        self.shared.decide_on_running();
    }

    /// The writes so far, in the order of their answers.
    pub fn writes(&self) -> Vec<ApiCall> {
        self.shared.writes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ApiProxy {
    fn drop(&mut self) {
        // Calls that hang on purpose are not waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Shared {
    fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A watch starts to run: what will become of it.
    fn started(&self, call: ApiCall) -> watch::Receiver<Option<ApiFault>> {
        let (fate, receiver) = watch::channel(None);
        self.running.lock().unwrap_or_else(PoisonError::into_inner).push((call, fate));
        // Rules may have changed since it was let through.
        self.decide_on_running();
        receiver
    }

    fn decide_on_running(&self) {
        let rules = self.rules();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|(_, fate)| !fate.is_closed());
        for (call, fate) in running.iter() {
            if let Some(fault) = rules.of_running(call)
                && fate.borrow().is_none()
            {
                fate.send_replace(Some(fault));
            }
        }
    }

    fn note(&self, call: ApiCall) {
        if call.is_write() {
            self.writes.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        }
    }
}

async fn open(kubeconfig: &Path) -> Result<(Arc<Shared>, TcpListener)> {
    let file = Kubeconfig::read_from(kubeconfig).map_err(|why| Error::Client(why.into()))?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    let mut config = config.map_err(|why| Error::Client(why.into()))?;
    // Callers bring their own.
    config.auth_info = AuthInfo::default();
    config.default_retry = false;
    let upstream = Client::try_from(config).map_err(|why| Error::Client(why.into()))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.map_err(Error::io("listen on", "127.0.0.1"))?;
    let shared = Shared {
        upstream,
        rules: Mutex::default(),
        running: Mutex::default(),
        writes: Mutex::default(),
    };
    Ok((Arc::new(shared), listener))
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| carry::carry(request, Arc::clone(&shared)));
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new());
            // A connection that broke broke for its caller.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
