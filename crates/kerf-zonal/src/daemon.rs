//! The role `ZonalAutoshift` as a process: the common controller with a queue and a page of its own.

use std::net::SocketAddr;
use std::sync::Arc;

use kerf_aws::Queues;
use kerf_engine::zonal_shift::ShiftSettings;
use kerf_engine::{Role, Settings};
use kerf_kube::{
    Controller, Health, JournalFiles, Metrics, NoProvider, Pace, Scrape, Shows, ZonalShifts,
};
use kerf_runtime::clock::Clock;
use kerf_runtime::http::{BindError, Pages};
use kerf_runtime::metrics::Registry;
use kerf_runtime::queue::{MESSAGES_PER_CALL, QueueHealth};
use kerf_runtime::{LeaseTerm, Shutdown, TaskEnded, Tasks};
use kube::Client;
use tokio::sync::{mpsc, watch};

use crate::account::{Account, ClusterAccount};
use crate::announcements::Announcements;
use crate::served::discover_kinds;

/// Requests for metrics that may wait; a scraper asks every few seconds.
const SCRAPES_WAITING_MAX: usize = 4;

/// What the daemon needs.
pub struct Daemon {
    /// How shifts are carried out.
    pub settings: ShiftSettings,
    /// How to reach the API server.
    pub client: Client,
    /// The AWS account.
    pub account: Account,
    /// The account's queues.
    pub queues: Queues,
    /// The queue that announcements come from; nobody else may read it.
    pub queue_url: String,
    /// How fast to call the API server.
    pub pace: Pace,
    /// Where `/metrics` and `/healthz` are; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where the engine's events and actions are kept for a replay, if anywhere.
    pub journal: Option<JournalFiles>,
    /// What time it is.
    pub clock: Clock,
}

/// A daemon whose port is open.
pub struct StartedDaemon {
    controller: Controller<NoProvider>,
    address: SocketAddr,
}

impl Daemon {
    /// Opens the port and starts what feeds the controller. Nothing is received before `leading`
    /// turns true.
    ///
    /// # Errors
    /// The port is taken or may not be used.
    pub async fn start(
        self,
        leading: watch::Receiver<bool>,
        lease: LeaseTerm,
        tasks: &mut Tasks,
    ) -> Result<StartedDaemon, BindError> {
        let health = Health::default();
        let (notice_sender, notices) = mpsc::channel(MESSAGES_PER_CALL);
        let queue = Announcements::new(self.queues, self.queue_url, notice_sender, &health);
        let (scrape_sender, scrapes) = mpsc::channel(SCRAPES_WAITING_MAX);
        let pages = pages(scrape_sender, health.clone(), queue.queue_health());
        let server = pages.bind(self.listen).await?;
        let address = server.address();
        tasks.spawn("web server", server.run(tasks.stopping()));
        tasks.spawn("zonal shift queue", queue.run(leading.clone(), tasks.stopping()));
        let shifts = ShiftsOf { settings: &self.settings, client: &self.client, health: &health };
        let zonal_shifts = shifts.start(self.account, leading, tasks);
        let settings = Settings {
            role: Role::ZonalAutoshift,
            zonal_shift: Some(self.settings),
            ..Settings::default()
        };
        let controller = Controller {
            client: self.client,
            provider: Arc::new(NoProvider),
            shifted_zones: None,
            settings,
            default_spreads: Vec::new(),
            pace: self.pace,
            health,
            metrics: Metrics::new(Registry::default(), Shows::Totals),
            scrapes,
            notices,
            journal: self.journal,
            zonal_shifts: Some(zonal_shifts),
            legacy: None,
            clock: self.clock,
            lease,
        };
        Ok(StartedDaemon { controller, address })
    }
}

impl StartedDaemon {
    /// Where `/metrics` and `/healthz` are.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs until `stop` ends. Watches from the start and decides once `leading` is true.
    ///
    /// # Errors
    /// A watch ended, which none does by itself.
    pub async fn run(
        self,
        leading: watch::Receiver<bool>,
        stop: impl Future<Output = Shutdown>,
    ) -> Result<(), TaskEnded> {
        self.controller.run(leading, stop).await
    }
}

/// What a controller is given for NodePool mode, whatever else it does.
pub struct ShiftsOf<'a> {
    /// How shifts are carried out.
    pub settings: &'a ShiftSettings,
    /// How to reach the API server.
    pub client: &'a Client,
    /// Where failures are reported.
    pub health: &'a Health,
}

impl ShiftsOf<'_> {
    /// Starts to look for the kinds that are served; the rest is for the controller.
    pub fn start(
        self,
        account: Account,
        leading: watch::Receiver<bool>,
        tasks: &mut Tasks,
    ) -> ZonalShifts {
        let failures = self.health.failures().clone();
        let (served_sender, served) = watch::channel(None);
        let (client, stop) = (self.client.clone(), tasks.stopping());
        let discovery = discover_kinds(client, failures.clone(), served_sender, stop);
        tasks.spawn("served kinds", discovery);
        let account = ClusterAccount {
            account,
            cluster_name: self.settings.cluster_name.clone(),
            matching: self.settings.matching.clone(),
            failures,
        };
        ZonalShifts { account: Arc::new(account), served, leading }
    }
}

/// `/metrics` and `/healthz`.
fn pages(scrapes: mpsc::Sender<Scrape>, health: Health, queue: QueueHealth) -> Pages {
    let metrics = move || {
        let scrapes = scrapes.clone();
        async move {
            let (scrape, answer) = Scrape::new();
            scrapes.send(scrape).await.ok()?;
            answer.await.ok()
        }
    };
    // A missing permission is shown, and so is a queue that gives no answer, but neither makes the
    // process ill: a restart would not help.
    let (alive, living) = (health.clone(), queue.clone());
    let healthz = move || {
        let lines = alive.failures().lines().into_iter().chain(living.check().err());
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        match alive.liveness() {
            Ok(()) => Ok(format!("ok\n{lines}")),
            Err(why) => Err(format!("{why}\n{lines}")),
        }
    };
    let readyz = move || match queue.check().and_then(|()| health.readiness()) {
        Ok(()) => Ok("ok\n".to_owned()),
        Err(why) => Err(format!("not ready: {why}\n")),
    };
    Pages::default().metrics(metrics).probe("/healthz", healthz).probe("/readyz", readyz)
}
