//! How fast the API server is called.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroU32;
use std::time::Duration;

use kerf_kube::Pace;
use tokio::time::{Instant, advance};

fn pace(per_second: u32, burst: u32) -> Pace {
    Pace::new(NonZeroU32::new(per_second).unwrap(), NonZeroU32::new(burst).unwrap())
}

/// How long so many calls take, one after the other.
async fn calls(pace: &Pace, count: u32) -> Duration {
    let since = Instant::now();
    for _ in 0..count {
        pace.turn().await;
    }
    since.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_burst_goes_at_once_and_the_rest_evenly() {
    let pace = pace(10, 5);
    advance(Duration::from_secs(10)).await;
    assert_eq!(calls(&pace, 5).await, Duration::ZERO);
    let rest = calls(&pace, 20).await;
    assert!(
        (Duration::from_millis(1_990)..Duration::from_millis(2_020)).contains(&rest),
        "{rest:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pause_gives_back_the_burst_and_no_more() {
    let pace = pace(10, 5);
    advance(Duration::from_secs(10)).await;
    calls(&pace, 10).await;
    advance(Duration::from_secs(3_600)).await;
    assert_eq!(calls(&pace, 5).await, Duration::ZERO);
    let next = calls(&pace, 1).await;
    assert!((Duration::from_millis(90)..Duration::from_millis(110)).contains(&next), "{next:?}");
}
