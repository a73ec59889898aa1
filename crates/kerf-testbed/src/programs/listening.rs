//! A port that is served until its owner goes away.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::error::{Error, Result};

/// A port on loopback; each connection is served by a thread of its own.
#[derive(Debug)]
pub(crate) struct Listening {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
}

impl Listening {
    /// Serves every connection until this is dropped.
    pub(crate) fn start(serve: impl Fn(TcpStream) + Clone + Send + 'static) -> Result<Self> {
        let listener =
            TcpListener::bind("127.0.0.1:0").map_err(Error::io("listen on", "127.0.0.1"))?;
        let address = listener.local_addr().map_err(Error::io("listen on", "127.0.0.1"))?;
        let ended = Arc::new(AtomicBool::new(false));
        let has_ended = Arc::clone(&ended);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if has_ended.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let serve = serve.clone();
                // A client that goes away ends its own call and nothing else.
                thread::spawn(move || serve(stream));
            }
        });
        Ok(Self { address, ended })
    }

    /// Where it listens, as in `http://127.0.0.1:20001`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees the end.
        let _ = TcpStream::connect(self.address);
    }
}
