//! How long a spot notice waits in an engine that is busy: a solve runs beside it, and 500 changes of
//! pods come each second, each of which has the engine write something in the background.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kerf_engine::solve::SolveRequest;
use kerf_scheduler::{CancelFlag, SolverCache};

use crate::cluster::LargeCluster;

const CHANGES_PER_SECOND: u32 = 500;
/// One notice comes after so many changes.
const CHANGES_PER_NOTICE: u32 = 10;

/// From the moment each notice is due to the moment its first write is ordered, in microseconds:
/// median, 99th percentile and longest. What was due while the engine was at work waits for it.
pub(crate) fn notices(mut cluster: LargeCluster, seconds: u32) -> String {
    cluster.warm_up();
    cluster.pods_come();
    let request = cluster.solve_request();
    let is_over = AtomicBool::new(false);
    let mut waits: Vec<u128> = Vec::new();
    let mut solves = 0;
    thread::scope(|scope| {
        let _ends = EndsSolver(&is_over);
        let solver = scope.spawn(|| solve_until(&is_over, &request));
        let start = Instant::now();
        for number in 0..seconds * CHANGES_PER_SECOND {
            let due = start + Duration::from_secs(1) * number / CHANGES_PER_SECOND;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if number % CHANGES_PER_NOTICE == 0 {
                cluster.spot_notice();
                waits.push(due.elapsed().as_micros());
            } else {
                cluster.pod_changes();
            }
        }
        is_over.store(true, Ordering::Relaxed);
        solves = solver.join().expect("solving does not panic");
    });
    waits.sort_unstable();
    let at = |per_cent: usize| waits[(waits.len() - 1) * per_cent / 100];
    let (count, median, high, longest) = (waits.len(), at(50), at(99), at(100));
    format!(
        r#"{{"notices": {count}, "p50Micros": {median}, "p99Micros": {high}, "maxMicros": {longest}, "solves": {solves}}}"#
    )
}

/// Lets the solver end also where the other thread panics, so that the panic is seen.
struct EndsSolver<'a>(&'a AtomicBool);

impl Drop for EndsSolver<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Solves the same again and again; answers how often.
fn solve_until(is_over: &AtomicBool, request: &SolveRequest) -> u32 {
    let mut solves = 0;
    while !is_over.load(Ordering::Relaxed) {
        let outcome =
            request.clone().solve_with(&mut SolverCache::default(), &CancelFlag::default());
        std::hint::black_box(outcome);
        solves += 1;
    }
    solves
}
