//! What Linux tells of this process; elsewhere nothing.

use std::fs;

use super::page::Page;

/// The unit in which Linux tells processor times, on every architecture Kerf runs on.
const TICKS_PER_SECOND: f64 = 100.0;
const KIB: f64 = 1024.0;

/// What the metrics below say.
pub(super) const HELP: [(&str, &str); 7] = [
    ("process_cpu_seconds_total", "Processor time taken."),
    ("process_max_fds", "Files that may be open at once."),
    ("process_open_fds", "Files open now."),
    ("process_resident_memory_bytes", "Memory in use."),
    ("process_start_time_seconds", "When the process started, since 1970."),
    ("process_virtual_memory_bytes", "Virtual memory in bytes."),
    ("process_virtual_memory_max_bytes", "Maximum virtual memory in bytes."),
];

/// Writes memory, processor time, open files and the start.
pub(super) fn write(page: &mut Page) {
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let kib = |name: &str| number_after(&status, name);
        gauge(page, "process_resident_memory_bytes", kib("VmRSS:").map(|kib| kib * KIB));
        gauge(page, "process_virtual_memory_bytes", kib("VmSize:").map(|kib| kib * KIB));
    }
    if let Ok(limits) = fs::read_to_string("/proc/self/limits") {
        gauge(page, "process_max_fds", number_after(&limits, "Max open files"));
        // No limit is shown as the largest number, as Karpenter does.
        let most = number_after(&limits, "Max address space").unwrap_or(u64::MAX as f64);
        gauge(page, "process_virtual_memory_max_bytes", Some(most));
    }
    if let Ok(files) = fs::read_dir("/proc/self/fd") {
        page.gauge("process_open_fds", &[], files.count() as f64);
    }
    if let Some(seconds) = cpu_seconds() {
        page.total("process_cpu_seconds_total", seconds);
    }
    gauge(page, "process_start_time_seconds", started_at());
}

fn gauge(page: &mut Page, metric: &str, value: Option<f64>) {
    if let Some(value) = value {
        page.gauge(metric, &[], value);
    }
}

/// The first number in the line that begins so.
fn number_after(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What the process took of the processors: the 14th and 15th field.
fn cpu_seconds() -> Option<f64> {
    Some((own_field(14)? + own_field(15)?) / TICKS_PER_SECOND)
}

/// When the process started, in seconds since 1970: the 22nd field counts from the boot of the host.
pub fn started_at() -> Option<f64> {
    let booted_at = number_after(&fs::read_to_string("/proc/stat").ok()?, "btime")?;
    Some(booted_at + own_field(22)? / TICKS_PER_SECOND)
}

/// A field of what Linux tells of the process, counted from one. The second is the name in
/// parentheses, which may contain spaces.
fn own_field(number: usize) -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields = stat.rsplit_once(')')?.1;
    fields.split_whitespace().nth(number.checked_sub(3)?)?.parse().ok()
}
