//! The bounds of histograms, in seconds: those that Karpenter's metrics of the same name have.

/// The bounds the metric is known for.
pub(super) fn of(metric: &str) -> &'static [f64] {
    match metric {
        "karpenter_nodeclaims_instance_termination_duration_seconds" => &TERMINATION[..11],
        "karpenter_nodeclaims_termination_duration_seconds" => &TERMINATION,
        "karpenter_nodes_lifetime_duration_seconds"
        // A practice run lasts half an hour, a shift made by hand up to three days and more.
        | "karpenter_cloudprovider_zonal_shift_duration" => &LIFETIME,
        "karpenter_nodes_reboot_duration_seconds"
        | "karpenter_nodes_reboot_recovery_duration_seconds" => &REBOOTS,
        "karpenter_cloudprovider_duration_seconds" => &CALLS,
        "karpenter_consolidation_score" => &SCORES,
        "client_go_request_duration_seconds" => &REQUESTS,
        metric if metric.starts_with("operator_") => &TRANSITIONS,
        _ => &DURATION_BOUNDS,
    }
}

/// The public bounds of most durations, in seconds.
const DURATIONS: [f64; 44] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0, 120.0, 150.0, 300.0, 450.0,
];
const LONGEST_DURATION: f64 = 600.0;
/// Doublings from a second.
const TERMINATION: [f64; 12] =
    [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0];
/// Doublings from ten seconds.
const REBOOTS: [f64; 8] = [10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0];
/// What Prometheus' clients use where nothing is said.
const CALLS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// Half is enough for a move.
const SCORES: [f64; 8] = [0.1, 0.25, 0.33, 0.5, 1.0, 2.0, 5.0, 10.0];
/// Doublings from half a second.
const TRANSITIONS: [f64; 15] = [
    0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0,
];
/// Half as long again each, from a millisecond.
const REQUESTS: [f64; 20] = [
    0.001,
    0.0015,
    0.00225,
    0.003375,
    0.0050625,
    0.00759375,
    0.011390625,
    0.0170859375,
    0.02562890625,
    0.038443359375,
    0.0576650390625,
    0.08649755859375,
    0.129746337890625,
    0.194619506835938,
    0.291929260253906,
    0.437893890380859,
    0.656840835571289,
    0.985261253356934,
    1.4778918800354,
    2.2168378200531,
];
const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;
const LIFETIME: [f64; 21] = [
    0.25 * HOUR,
    0.5 * HOUR,
    0.75 * HOUR,
    HOUR,
    2.0 * HOUR,
    4.0 * HOUR,
    6.0 * HOUR,
    8.0 * HOUR,
    10.0 * HOUR,
    12.0 * HOUR,
    16.0 * HOUR,
    20.0 * HOUR,
    DAY,
    2.0 * DAY,
    3.0 * DAY,
    5.0 * DAY,
    10.0 * DAY,
    15.0 * DAY,
    20.0 * DAY,
    25.0 * DAY,
    30.0 * DAY,
];

static DURATION_BOUNDS: [f64; 45] = with_last(DURATIONS, LONGEST_DURATION);

const fn with_last(most: [f64; 44], last: f64) -> [f64; 45] {
    let mut all = [last; 45];
    let mut index = 0;
    while index < most.len() {
        all[index] = most[index];
        index += 1;
    }
    all
}
