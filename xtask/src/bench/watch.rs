//! How much memory a program takes at most, seen from outside.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// How often to look. The system keeps the peak itself, so only what happens after the last look
/// before the end is missed.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Runs a program to its end and gives its largest resident size, where the system tells.
/// The exit code is the caller's to know: `kerf plan` exits with 2 when it plans nodes.
pub(super) fn peak_bytes(command: &mut Command, success: &[i32]) -> Result<Option<u64>> {
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
            if !status.code().is_some_and(|code| success.contains(&code)) {
                bail!("{} failed ({status})", command.get_program().display());
            }
            return Ok(peak);
        }
        sleep(LOOK_EVERY);
    }
}

/// Reads `VmHWM:  1234 kB`, the peak so far.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::high_water;

    #[test]
    fn the_peak_is_read_off_the_status_of_a_process() {
        assert_eq!(high_water("Name:\tkerf\nVmHWM:\t    2048 kB\nVmRSS: 1 kB\n"), Some(2 << 20));
    }

    #[test]
    fn a_process_that_has_ended_has_no_peak_any_more() {
        assert_eq!(high_water("Name:\tkerf\nState:\tZ (zombie)\n"), None);
    }
}
