//! How large batches of calls are, and how long they stay open.

use std::time::Duration;

use kerf_runtime::metrics::Registry;

/// Bounds of the histogram of times, in seconds.
const TIMES: &[f64] = &[0.01, 0.035, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Bounds of the histogram of sizes.
const SIZES: &[f64] = &[1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0];

/// Counts a batch that was closed.
pub(crate) fn observe_batch(
    registry: &Registry,
    batcher: &'static str,
    size: usize,
    open_for: Duration,
) {
    let labels = || vec![("batcher", batcher.to_owned())];
    let time = "karpenter_cloudprovider_batcher_batch_time_seconds";
    registry.observe(time, labels(), TIMES, open_for);
    // A histogram counts seconds, and a size is a plain number: as many seconds.
    let size = Duration::from_secs(u64::try_from(size).unwrap_or(u64::MAX));
    registry.observe("karpenter_cloudprovider_batcher_batch_size", labels(), SIZES, size);
}
