//! `kerf controller`: the running product. Settings in, one process wired; no decisions.

mod aws;
mod aws_flags;
mod feature_gates;
mod flags;
mod global_settings;
mod interruption;
pub(crate) mod one_dash;
mod value;
mod zonal_autoshift;
mod zonal_offering;

use std::cell::Cell;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use kerf_api::legacy::Options as LegacyOptions;
use kerf_engine::Settings;
use kerf_engine::settings::TerminateFirst;
use kerf_engine::time::Span;
use kerf_interruption::MESSAGES_AT_ONCE;
use kerf_kube::{
    Controller as Running, Health, Metrics, NoticeDelivery, Pace, Provider, Scrape, Shows, connect,
    connect_leading,
};
use kerf_kwok::Kwok;
use kerf_runtime::clock::Clock;
use kerf_runtime::http::{Pages, all_addresses};
use kerf_runtime::metrics::Registry;
use kerf_runtime::{Candidate, Leadership, Shutdown, Tasks, identity};
use kube::{Client, Config};
use tokio::sync::{mpsc, watch};
use tracing::warn;

use flags::CloudName;
pub(crate) use flags::Controller;
use zonal_autoshift::Autoshift;

/// Requests for metrics that may wait; a scraper asks every few seconds.
const SCRAPES_WAITING_MAX: usize = 4;
/// Threads for calls and watches. Solving has threads of its own.
const WORKER_THREADS: usize = 2;

/// What everything needs that brings messages to the controller.
#[derive(Clone)]
struct Sources {
    /// Where they go.
    notices: mpsc::Sender<NoticeDelivery>,
    /// Nothing is received before this turns true.
    leading: watch::Receiver<bool>,
    /// Where failures are reported, and what has been listed.
    health: Health,
}

/// The way to the lead.
struct Lead {
    leadership: Leadership,
    leading: watch::Receiver<bool>,
    lease_client: Client,
    /// Of the Lease.
    namespace: String,
}

/// The page of metrics.
async fn scrape(scrapes: mpsc::Sender<Scrape>) -> Option<String> {
    let (scrape, answer) = Scrape::new();
    scrapes.send(scrape).await.ok()?;
    answer.await.ok()
}

/// Work without an end of its own, until everything stops.
async fn until(mut stopping: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        _ = stopping.wait_for(|stops| *stops) => {}
    }
}

impl Controller {
    /// Runs until it is asked to end or loses the lead.
    pub(crate) fn run(self) -> Result<ExitCode> {
        self.log.start("controller")?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKER_THREADS)
            .enable_all()
            .build()
            .context("the threads cannot be started")?;
        let code = runtime.block_on(self.serve());
        // A search that is still under way is nobody's any more.
        runtime.shutdown_background();
        code
    }

    async fn serve(self) -> Result<ExitCode> {
        self.warn_of_what_is_to_come();
        if self.cloud == CloudName::Aws {
            aws::check(&self)?;
        }
        let config = Config::infer().await.context("no way to reach an API server was found")?;
        let namespace = self.lease_namespace(&config);
        // Leading has a client of its own, so that a flood of calls cannot cost the lead.
        let lease_client = connect(config.clone())?;
        let this = match self.cloud {
            CloudName::Aws => self.with_global_settings(&lease_client, &namespace).await?,
            CloudName::Kwok => self,
        };
        let (name, identity) = (&this.leader_election_name, identity::of_this_process());
        let candidate = Candidate::new(lease_client.clone(), &namespace, name, identity);
        let (leadership, leading) = Leadership::new(candidate, this.disable_leader_election);
        let client = connect_leading(config.clone(), leadership.term())?;
        let lead = Lead { leadership, leading, lease_client, namespace };
        let registry = Registry::default();
        let mut tasks = Tasks::default();
        match this.cloud {
            CloudName::Aws => {
                let aws =
                    aws::provider(&this, &config, &lead.lease_client, registry.clone()).await?;
                tasks.spawn("AWS offers", until(tasks.stopping(), aws.keep_up()));
                let following = aws::follow_version(lead.lease_client.clone(), aws.version());
                tasks.spawn("cluster version", until(tasks.stopping(), following));
                let legacy = aws::legacy_options(&this, &lead.lease_client).await?;
                this.lead(client, lead, aws, registry, Some(legacy), tasks).await
            }
            CloudName::Kwok => {
                let kwok = Kwok::new(client.clone(), this.kwok_types()?);
                this.lead(client, lead, kwok, registry, None, tasks).await
            }
        }
    }

    async fn lead<P: Provider>(
        self,
        client: Client,
        lead: Lead,
        provider: P,
        registry: Registry,
        legacy: Option<LegacyOptions>,
        mut tasks: Tasks,
    ) -> Result<ExitCode> {
        let Lead { mut leadership, leading, lease_client, namespace } = lead;
        let metrics = Metrics::new(registry, self.shows());
        let shifted_zones = match self.enable_zonal_shift {
            true => {
                let registry = metrics.registry();
                Some(zonal_offering::shifted_zones(&self.cluster_name, registry, &mut tasks).await?)
            }
            false => None,
        };
        let health = Health::default();
        let (notice_sender, notices) = mpsc::channel(MESSAGES_AT_ONCE);
        let sources =
            Sources { notices: notice_sender, leading: leading.clone(), health: health.clone() };
        interruption::start(&self, &sources, &metrics, &mut tasks).await;
        let (mut led, work) = (leading.clone(), provider.lead(sources.notices.clone()));
        let work = async move {
            // Nobody leads any more once the lease is lost for good; then the process ends.
            if led.wait_for(|leads| *leads).await.is_ok() {
                work.await;
            }
        };
        tasks.spawn("the provider's own work", until(tasks.stopping(), work));
        let autoshift = Autoshift::of(&self, &namespace).await?;
        let shift_settings = autoshift.as_ref().map(|autoshift| autoshift.settings.clone());
        let zonal_shifts =
            autoshift.map(|autoshift| autoshift.start(&client, lease_client, sources, &mut tasks));
        let (scrape_sender, scrapes) = mpsc::channel(SCRAPES_WAITING_MAX);
        self.open_ports(scrape_sender, &health, &mut tasks).await?;
        let controller = Running {
            client,
            provider: Arc::new(provider),
            shifted_zones,
            settings: Settings { zonal_shift: shift_settings, ..self.settings() },
            default_spreads: self.scheduler_config.default_spreads.clone(),
            pace: Pace::new(self.kube_client_qps, self.kube_client_burst),
            health,
            metrics,
            scrapes,
            notices,
            journal: self.journal.open()?,
            zonal_shifts,
            legacy,
            clock: Clock::default(),
            lease: leadership.term(),
        };
        let shutdown = Cell::new(Shutdown::AtOnce);
        let stop = async {
            shutdown.set(leadership.until_end(&mut tasks).await);
            shutdown.get()
        };
        if let Err(ended) = controller.run(leading, stop).await {
            leadership.broken_by(ended);
        }
        tasks.finish(shutdown.get()).await;
        Ok(leadership.conclude().await)
    }

    async fn open_ports(
        &self,
        scrapes: mpsc::Sender<Scrape>,
        health: &Health,
        tasks: &mut Tasks,
    ) -> Result<()> {
        let scrape = move || scrape(scrapes.clone());
        let metrics = Pages::default().metrics(scrape);
        let metrics = metrics.bind(all_addresses(self.metrics_port)).await;
        let (health, living) = (health.clone(), health.clone());
        let alive = move || match living.liveness() {
            Ok(()) => Ok("ok".to_owned()),
            Err(why) => Err(format!("not alive: {why}\n")),
        };
        let ready = move || match health.readiness() {
            Ok(()) => Ok("ok".to_owned()),
            Err(why) => Err(format!("not ready: {why}\n")),
        };
        let probes = Pages::default().probe("/healthz", alive);
        let probes = probes.probe("/readyz", ready).bind(all_addresses(self.health_probe_port));
        tasks.spawn("metrics server", metrics.context("--metrics-port")?.run(tasks.stopping()));
        let probes = probes.await.context("--health-probe-port")?;
        tasks.spawn("probe server", probes.run(tasks.stopping()));
        Ok(())
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings {
            batch_max: Span::from(self.batch_max_duration),
            batch_idle: Span::from(self.batch_idle_duration),
            node_overlays: self.feature_gates.is_on("NodeOverlay"),
            node_repair: self.feature_gates.is_on("NodeRepair"),
            spot_to_spot: self.feature_gates.is_on("SpotToSpotConsolidation"),
            static_capacity: self.feature_gates.is_on("StaticCapacity"),
            terminate_first: TerminateFirst {
                drift: self.feature_gates.is_on("TerminateFirstDrift"),
                repair: self.feature_gates.is_on("TerminateFirstRepair"),
            },
            interruption_percent_per_minute: self.interruption_percent_per_minute,
            rebalance: self.rebalance_policy.into(),
            ..Settings::default()
        };
        settings.scheduler.preferences = self.preference_policy.into();
        settings.scheduler.min_values = self.min_values_policy.into();
        settings
    }

    fn shows(&self) -> Shows {
        if self.disable_cluster_state_observability { Shows::Totals } else { Shows::Everything }
    }

    fn kwok_types(&self) -> Result<Vec<kerf_model::instance_type::InstanceType>> {
        let Some(path) = &self.instance_types_file_path else { return Ok(kerf_catalog::kwok()) };
        let named = || format!("--instance-types-file-path {}", path.display());
        let text = std::fs::read_to_string(path).with_context(named)?;
        kerf_catalog::from_json(&text).with_context(named)
    }

    /// The namespace of the Lease: the one given, or the one this process lives in.
    fn lease_namespace(&self, config: &Config) -> String {
        let given = Some(&self.leader_election_namespace).filter(|given| !given.is_empty());
        let own = || std::env::var("SYSTEM_NAMESPACE").ok().filter(|own| !own.is_empty());
        given.cloned().or_else(own).unwrap_or_else(|| config.default_namespace.clone())
    }

    /// What is accepted for the sake of existing manifests and has no effect yet.
    fn warn_of_what_is_to_come(&self) {
        let gates = self.feature_gates.without_effect();
        if !gates.is_empty() {
            warn!(gates = gates.join(","), "feature gates that have no effect yet are on");
        }
        if !self.ignore_dra_requests {
            warn!("--ignore-dra-requests=false has no effect yet: such requests are ignored");
        }
    }
}
