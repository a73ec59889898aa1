//! Watches on their way back.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use kube::client::Body as Upstream;
use tokio::sync::{mpsc, watch};

use super::Shared;
use super::call::ApiCall;
use super::carry::{Broken, status};
use super::rule::ApiFault;

/// Pieces of a stream that may wait for a reader who is slow.
const PIECES_WAITING_MAX: usize = 16;

/// A stream of changes that rules may break while it runs.
pub(super) struct WatchStream(mpsc::Receiver<Result<Bytes, Broken>>);

impl WatchStream {
    pub(super) fn start(upstream: Upstream, call: ApiCall, shared: &Shared) -> Self {
        let (pieces, receiver) = mpsc::channel(PIECES_WAITING_MAX);
        let fate = shared.started(call);
        let forward = Forward { upstream, fate, pieces, is_line_end: true };
        tokio::spawn(forward.run());
        Self(receiver)
    }
}

impl Body for WatchStream {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

struct Forward {
    upstream: Upstream,
    /// What becomes of it, once that is decided.
    fate: watch::Receiver<Option<ApiFault>>,
    pieces: mpsc::Sender<Result<Bytes, Broken>>,
    /// Whether a line was just ended: something else may only be said there.
    is_line_end: bool,
}

impl Forward {
    async fn run(mut self) {
        loop {
            let fate = self.fate.borrow_and_update().clone();
            match fate {
                Some(ApiFault::Silence) => return self.pieces.closed().await,
                Some(ApiFault::HangUp) => return drop(self.pieces.send(Err(Broken)).await),
                Some(ApiFault::Answer { code, .. }) if self.is_line_end => {
                    let error =
                        serde_json::json!({ "type": "ERROR", "object": status(code, None) });
                    return drop(self.pieces.send(Ok(format!("{error}\n").into())).await);
                }
                Some(
                    ApiFault::Answer { .. }
                    | ApiFault::Slow(_)
                    | ApiFault::LostAnswer
                    | ApiFault::Dated(_),
                )
                | None => {}
            }
            let piece = tokio::select! {
                biased;
                Ok(()) = self.fate.changed() => continue,
                () = self.pieces.closed() => return,
                piece = next(&mut self.upstream) => piece,
            };
            let Some(Ok(piece)) = piece else { return };
            self.is_line_end = piece.last().map_or(self.is_line_end, |last| *last == b'\n');
            if self.pieces.send(Ok(piece)).await.is_err() {
                return;
            }
        }
    }
}

/// The next data of a body.
async fn next(body: &mut Upstream) -> Option<kube::Result<Bytes>> {
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await;
        match frame? {
            Ok(frame) => {
                if let Ok(data) = frame.into_data() {
                    return Some(Ok(data));
                }
            }
            Err(error) => return Some(Err(error)),
        }
    }
}
