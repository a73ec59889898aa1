//! Leading: one process of many acts, until it is asked to end or loses the lead.

use std::process::ExitCode;

use kerf_kube::{Candidate, Lost, Shutdown};
use tokio::sync::watch;
use tracing::{error, info};

/// A candidate's way from waiting to its end.
pub(crate) struct Leadership {
    candidate: Candidate,
    /// Whether it leads without asking anybody.
    is_given: bool,
    lead: watch::Sender<bool>,
    lost: Option<Lost>,
}

impl Leadership {
    /// A candidate, or one who leads without holding the Lease. What is returned turns true once
    /// it leads.
    pub(crate) fn new(candidate: Candidate, is_given: bool) -> (Self, watch::Receiver<bool>) {
        let (lead, leading) = watch::channel(is_given);
        (Self { candidate, is_given, lead, lost: None }, leading)
    }

    /// Gets the lead and holds it, until the process is asked to end or another may lead.
    pub(crate) async fn until_end(&mut self) -> Shutdown {
        let Self { candidate, is_given, lead, lost } = self;
        let holding = async {
            if *is_given {
                return std::future::pending().await;
            }
            candidate.acquire().await;
            lead.send_replace(true);
            candidate.hold().await
        };
        tokio::select! {
            () = asked_to_end() => Shutdown::FinishFirst,
            reason = holding => {
                *lost = Some(reason);
                Shutdown::AtOnce
            }
        }
    }

    /// Gives the Lease back, unless it was lost; that is a failure.
    pub(crate) async fn conclude(mut self) -> ExitCode {
        if let Some(lost) = &self.lost {
            error!(%lost, "leader election lost");
            return ExitCode::FAILURE;
        }
        self.candidate.release().await;
        info!("ended");
        ExitCode::SUCCESS
    }
}

/// Waits for the signals that ask a process to end.
pub(crate) async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => info!("asked to end"),
        _ = tokio::signal::ctrl_c() => info!("interrupted"),
    }
}
