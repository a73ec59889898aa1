//! What a program takes, seen from outside: memory at most, time on a processor.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// How often to look. The system keeps the peak itself, so only what happens after the last look
/// before the end is missed.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The unit in which Linux tells processor times, on every architecture Kerf runs on.
const TICK: Duration = Duration::from_millis(10);

/// Runs a program to its end and gives its largest resident size, where the system tells.
pub(super) fn peak_bytes(command: &mut Command) -> Result<Option<u64>> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("could not start {}", command.get_program().display()))?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        let seen = fs::read_to_string(&status_file).ok().and_then(|text| high_water(&text));
        peak = peak.max(seen);
        if let Some(status) = child.try_wait()? {
            if !status.success() {
                bail!("{} failed ({status})", command.get_program().display());
            }
            return Ok(peak);
        }
        sleep(LOOK_EVERY);
    }
}

/// The processor time of all programs that this one started and that have ended, where the system
/// tells. Unlike the time on the clock it hardly depends on what else the machine does.
pub(super) fn children_used() -> Option<Duration> {
    children_ticks(&fs::read_to_string("/proc/self/stat").ok()?).map(|ticks| TICK * ticks)
}

/// Reads the 16th and 17th field, the second of which is a name in brackets that may hold anything.
fn children_ticks(stat: &str) -> Option<u32> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(13).map_while(|it| it.parse::<u32>().ok());
    fields.next()?.checked_add(fields.next()?)
}

/// Reads `VmHWM:  1234 kB`, the peak so far.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::{children_ticks, high_water};

    #[test]
    fn the_time_of_ended_children_is_found_behind_any_name() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 0 1 2 3 4 50 60 12 30 20 0 1 0 99";
        assert_eq!(children_ticks(stat), Some(42));
        assert_eq!(children_ticks("7 (short) S 1"), None);
    }

    #[test]
    fn the_peak_is_read_off_the_status_of_a_process() {
        assert_eq!(high_water("Name:\tkerf\nVmHWM:\t    2048 kB\nVmRSS: 1 kB\n"), Some(2 << 20));
    }

    #[test]
    fn a_process_that_has_ended_has_no_peak_any_more() {
        assert_eq!(high_water("Name:\tkerf\nState:\tZ (zombie)\n"), None);
    }
}
