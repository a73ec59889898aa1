//! What a running program takes, as Linux counts it.

use std::fs;

use crate::programs::program::Program;

/// In which Linux counts processor time.
const TICKS_PER_SECOND: f64 = 100.0;

impl Program {
    /// The most memory it held at once; nothing where the system does not tell.
    pub fn peak_memory_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
        Some(kib * 1024)
    }

    /// How long processors worked for it; nothing where the system does not tell.
    pub fn processor_seconds(&self) -> Option<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id())).ok()?;
        // Behind the name, which may have blanks: user and system time are the 14th and 15th field.
        let (_, fields) = stat.rsplit_once(')')?;
        let ticks = fields.split_whitespace().skip(11).take(2);
        let seconds = ticks.map(|ticks| Some(ticks.parse::<f64>().ok()? / TICKS_PER_SECOND));
        seconds.sum()
    }
}
