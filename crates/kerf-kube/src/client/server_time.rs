//! The API server's time, by which a wrong clock of this host is found out.
//!
//! Whoever expires nodes by a clock that is a day ahead ends all of them. Every answer of the server
//! says what time it is there, so a small one is asked for from time to time.

use std::time::Duration;

use http::header::DATE;
use http::{HeaderMap, Request};
use jiff::fmt::rfc2822::DateTimeParser;
use kerf_engine::event::Event;
use kerf_engine::time::Time;
use kube::Client;
use kube::client::Body;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// How often it is asked for.
const ASK_EVERY: Duration = Duration::from_secs(60);
/// How soon after a try that gave nothing.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// An answer that takes longer says too little of the time it is now.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
/// Anybody who may talk to the server may ask this, and a refusal has the time on it too.
const SMALLEST: &str = "/version";

/// Tells the engine the server's time, as long as it listens.
pub(crate) async fn follow(client: Client, events: mpsc::Sender<Event>) {
    loop {
        let time = timeout(ANSWERED_WITHIN, ask(&client)).await.ok().flatten();
        let wait = if time.is_some() { ASK_EVERY } else { AGAIN_AFTER };
        if let Some(time) = time
            && events.send(Event::ServerTime(time)).await.is_err()
        {
            return;
        }
        sleep(wait).await;
    }
}

async fn ask(client: &Client) -> Option<Time> {
    let request = Request::get(SMALLEST).body(Body::empty()).ok()?;
    read(client.send(request).await.ok()?.headers())
}

/// The time at which an answer was given, in whole seconds.
fn read(headers: &HeaderMap) -> Option<Time> {
    let date = headers.get(DATE)?.to_str().ok()?;
    let time = DateTimeParser::new().parse_timestamp(date).ok()?;
    Some(Time::from_seconds(time.as_second()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_an_answer_is_read_from_its_header() {
        let time = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, text.parse().expect("a header"));
            read(&headers).map(Time::seconds)
        };
        assert_eq!(time("Thu, 01 Jan 1970 00:01:40 GMT"), Some(100));
        assert_eq!(time("Tue, 17 Nov 2026 12:00:00 GMT"), Some(1_794_916_800));
        assert_eq!(time("yesterday"), None);
        assert_eq!(read(&HeaderMap::new()), None);
    }
}
