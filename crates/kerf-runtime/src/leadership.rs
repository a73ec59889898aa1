//! Leading: one process of many acts, until it is asked to end, loses the Lease or is broken.

use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use tracing::{error, info};

use crate::lease::{Candidate, Lost};
use crate::lease_term::LeaseTerm;
use crate::shutdown::{self, Shutdown};
use crate::tasks::{TaskEnded, Tasks};

/// A candidate's way from waiting to its end.
pub struct Leadership {
    candidate: Arc<Mutex<Candidate>>,
    term: LeaseTerm,
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
        let term = if is_given { LeaseTerm::unlimited() } else { candidate.term() };
        let candidate = Arc::new(Mutex::new(candidate));
        (Self { candidate, term, is_given, lead, broken: None }, leading)
    }

    /// Until when this process may act.
    #[must_use]
    pub fn term(&self) -> LeaseTerm {
        self.term.clone()
    }

    /// Gets the Lease and holds it, until the process is asked to end, another may lead, or a task
    /// ended that should not. The Lease is renewed by a task of its own: whoever waits here may be
    /// busy with something else.
    pub async fn until_end(&mut self, tasks: &mut Tasks) -> Shutdown {
        let Self { candidate, is_given, lead, broken, .. } = self;
        let mut holding = JoinSet::new();
        if !*is_given {
            let (candidate, lead) = (candidate.clone(), lead.clone());
            holding.spawn(async move {
                let mut candidate = candidate.lock().await;
                candidate.acquire().await;
                lead.send_replace(true);
                candidate.hold().await
            });
        }
        *broken = tokio::select! {
            () = shutdown::requested() => None,
            Some(lost) = holding.join_next() => Some(match lost {
                Ok(lost) => Broken::Lease(lost),
                Err(error) => Broken::Task(TaskEnded::of("lease", error)),
            }),
            ended = tasks.first_ended() => Some(Broken::Task(ended)),
        };
        // Once it has ended nobody else uses the candidate.
        holding.shutdown().await;
        if broken.is_some() { Shutdown::AtOnce } else { Shutdown::FinishFirst }
    }

    /// A part of the role that is no task of its own ended although it should not.
    pub fn broken_by(&mut self, ended: TaskEnded) {
        self.broken.get_or_insert(Broken::Task(ended));
    }

    /// Gives the Lease back if the end was asked for, which the exit code says.
    pub async fn conclude(self) -> ExitCode {
        match self.broken {
            Some(Broken::Lease(lost)) => error!(%lost, "leader election lost"),
            // Its last calls may still be under way: as after a crash, the next leader waits.
            Some(Broken::Task(ended)) => error!("{ended}"),
            None => {
                self.candidate.lock().await.release().await;
                info!("shut down");
                return ExitCode::SUCCESS;
            }
        }
        ExitCode::FAILURE
    }
}
