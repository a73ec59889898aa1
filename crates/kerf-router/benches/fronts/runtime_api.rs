//! The side of Lambda that a function talks to, on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the function did.
pub(crate) enum Call {
    /// It asks for the next invocation; the answer waits for [`RuntimeApi::invoke`].
    Next,
    /// It answered the last one.
    Answer(String),
}

/// A running API for one function.
pub(crate) struct RuntimeApi {
    pub(crate) address: SocketAddr,
    pub(crate) calls: Receiver<Call>,
    payloads: Sender<String>,
}

impl RuntimeApi {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let ((call, calls), (payloads, waiting)) = (channel(), channel());
        thread::spawn(move || {
            // One connection at a time is what the function uses; it may open a new one.
            while let Ok((stream, _)) = listener.accept() {
                if serve(stream, &call, &waiting).is_none() {
                    return;
                }
            }
        });
        Self { address, calls, payloads }
    }

    /// Hands over the next invocation.
    pub(crate) fn invoke(&self, payload: String) {
        self.payloads.send(payload).unwrap();
    }
}

/// Answers one connection to its end. `None`: nobody listens any more.
fn serve(stream: TcpStream, calls: &Sender<Call>, payloads: &Receiver<String>) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    while let Some((first_line, body)) = request(&mut reader) {
        let answer = if first_line.contains("/invocation/next") {
            calls.send(Call::Next).ok()?;
            next(&payloads.recv().ok()?)
        } else {
            calls.send(Call::Answer(body)).ok()?;
            "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_owned()
        };
        writer.write_all(answer.as_bytes()).ok()?;
    }
    Some(())
}

fn next(payload: &str) -> String {
    let deadline = SystemTime::now() + Duration::from_secs(60);
    let deadline_ms = deadline.duration_since(UNIX_EPOCH).unwrap().as_millis();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
         Lambda-Runtime-Aws-Request-Id: 8476a536-e9f4-11e8-9739-2dfe598c3fcd\r\n\
         Lambda-Runtime-Deadline-Ms: {deadline_ms}\r\n\
         Lambda-Runtime-Invoked-Function-Arn: arn:aws:lambda:us-east-1:123456789012:function:r\r\n\
         Content-Length: {}\r\n\r\n{payload}",
        payload.len()
    )
}

/// A request's first line and body, whose length is told or which comes in pieces.
fn request(reader: &mut impl BufRead) -> Option<(String, String)> {
    let first = line(reader)?;
    let (mut length, mut in_pieces) = (0, false);
    loop {
        let header = line(reader)?.to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(told) = header.strip_prefix("content-length:") {
            length = told.trim().parse().ok()?;
        }
        in_pieces |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let mut body = Vec::new();
    if !in_pieces {
        reader.take(length).read_to_end(&mut body).ok()?;
    }
    while in_pieces {
        let size = u64::from_str_radix(line(reader)?.trim(), 16).ok()?;
        reader.take(size).read_to_end(&mut body).ok()?;
        line(reader)?;
        in_pieces = size > 0;
    }
    Some((first, String::from_utf8_lossy(&body).into_owned()))
}

/// A line without its end; `None` once there are no more.
fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let read = reader.read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}
