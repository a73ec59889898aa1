//! Leading: one process of many acts, until it is asked to end, loses the Lease or is broken.

use std::process::ExitCode;

use tokio::sync::watch;
use tracing::{error, info};

use crate::lease::{Candidate, Lost};
use crate::shutdown::{self, Shutdown};
use crate::tasks::{TaskEnded, Tasks};

/// A candidate's way from waiting to its end.
pub struct Leadership {
    candidate: Candidate,
    /// Whether it leads without asking for the Lease.
    is_given: bool,
    lead: watch::Sender<bool>,
    broken: Option<Broken>,
}

/// Why a process ends that was not asked to.
enum Broken {
    Lease(Lost),
    Task(TaskEnded),
}

impl Leadership {
    /// A candidate, or one that leads without holding the Lease. What is returned turns true once
    /// it leads.
    pub fn new(candidate: Candidate, is_given: bool) -> (Self, watch::Receiver<bool>) {
        let (lead, leading) = watch::channel(is_given);
        (Self { candidate, is_given, lead, broken: None }, leading)
    }

    /// Gets the Lease and holds it, until the process is asked to end, another may lead, or a task
    /// ended that should not.
    pub async fn until_end(&mut self, tasks: &mut Tasks) -> Shutdown {
        let Self { candidate, is_given, lead, broken } = self;
        let holding = async {
            if *is_given {
                return std::future::pending().await;
            }
            candidate.acquire().await;
            lead.send_replace(true);
            candidate.hold().await
        };
        *broken = tokio::select! {
            () = shutdown::requested() => None,
            lost = holding => Some(Broken::Lease(lost)),
            ended = tasks.first_ended() => Some(Broken::Task(ended)),
        };
        if broken.is_some() { Shutdown::AtOnce } else { Shutdown::FinishFirst }
    }

    /// A part of the role that is no task of its own ended although it should not.
    pub fn broken_by(&mut self, ended: TaskEnded) {
        self.broken.get_or_insert(Broken::Task(ended));
    }

    /// Gives the Lease back if the end was asked for, which the exit code says.
    pub async fn conclude(mut self) -> ExitCode {
        match self.broken {
            Some(Broken::Lease(lost)) => error!(%lost, "leader election lost"),
            // Its last calls may still be under way: as after a crash, the next leader waits.
            Some(Broken::Task(ended)) => error!("{ended}"),
            None => {
                self.candidate.release().await;
                info!("shut down");
                return ExitCode::SUCCESS;
            }
        }
        ExitCode::FAILURE
    }
}
