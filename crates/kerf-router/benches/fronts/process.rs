//! What the system tells about a process.

use std::fs;
use std::time::Duration;

/// The unit in which Linux tells processor times, on every architecture Kerf runs on.
const TICK: Duration = Duration::from_millis(10);

/// Time on a processor, all threads together.
pub(crate) fn used(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The second field is a name in brackets that may hold anything; times are the 14th and 15th.
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    let fields = after_name.split_whitespace().skip(11).take(2);
    fields.map(|ticks| TICK * ticks.parse::<u32>().unwrap()).sum()
}

/// Time that the main thread spent on a processor, to the nanosecond.
pub(crate) fn main_thread_used(pid: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

/// The largest resident size so far.
pub(crate) fn peak_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() * 1_024
}
