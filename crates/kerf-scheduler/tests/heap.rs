//! How much memory solving takes at most, beyond the problem itself.
//!
//! The allocator counts bytes asked for, so the peak is the same on every machine and in every
//! build. This file holds one test because there is one heap to look at.

use dhat::{Alloc, HeapStats, Profiler};

#[path = "../benches/hot_paths/workload/mod.rs"]
mod workload;

#[global_allocator]
static ALLOCATOR: Alloc = Alloc;

const MEBIBYTE: usize = 1 << 20;

/// A workload and the most that solving it may take.
const CEILINGS: [(&str, usize); 4] = [
    ("replicas-10000", 2 * MEBIBYTE),
    ("preferences-1000", 6 * MEBIBYTE),
    ("existing-2000", 6 * MEBIBYTE),
    ("mixed-5000", 8 * MEBIBYTE),
];
/// A peak below the ceiling by more than this factor means that the ceiling guards nothing.
const SLACK: usize = 3;

#[test]
fn solving_stays_below_its_ceilings_of_memory_and_the_ceilings_are_not_idle() {
    let mut complaints = Vec::new();
    for (name, ceiling) in CEILINGS {
        let peak = peak_bytes(name);
        if peak > ceiling {
            complaints.push(format!("{name} takes {peak} bytes, more than {ceiling}"));
        }
        if peak < ceiling / SLACK {
            complaints.push(format!("{name} takes only {peak} bytes: lower its {ceiling}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The most that is held at one time between the problem and its solution.
fn peak_bytes(name: &str) -> usize {
    let problem = workload::problem(name).expect("a workload of that name");
    let _profiler = Profiler::builder().testing().build();
    let solution = kerf_scheduler::solve(&problem);
    assert!(solution.unplaced.is_empty(), "{name}: every pod of a workload has a place");
    HeapStats::get().max_bytes
}
