//! Just enough HTTP: one request a connection, JSON in and out.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

/// A call larger than this is not one of ours.
const BODY_BYTES_MAX: usize = 1 << 20;

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    path: String,
    /// Null where there is none.
    pub(super) body: Value,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Reply {
    status: &'static str,
    error: &'static str,
    body: Value,
}

impl Request {
    /// Reads a request. `None`: the client said nothing.
    pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<Self>> {
        let mut reader = BufReader::new(stream);
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut body_bytes = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line == "\r\n" {
                break;
            }
            if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                body_bytes = length.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; usize::min(body_bytes, BODY_BYTES_MAX)];
        reader.read_exact(&mut body)?;
        let mut words = first.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        Ok(Some(Self { method, path, body: serde_json::from_slice(&body).unwrap_or_default() }))
    }

    /// The first part of the path, and the rest in plain characters.
    pub(super) fn parts(&self) -> (&str, Option<String>) {
        let path = self.path.split('?').next().unwrap_or_default().trim_start_matches('/');
        match path.split_once('/') {
            Some((first, rest)) => (first, Some(plain(rest))),
            None => (path, None),
        }
    }
}

impl Reply {
    pub(super) fn ok(body: Value) -> Self {
        Self { status: "200 OK", error: "", body }
    }

    pub(super) fn created(body: Value) -> Self {
        Self { status: "201 Created", error: "", body }
    }

    pub(super) fn not_found(what: &str) -> Self {
        let body = json!({"message": format!("there is no {what}")});
        Self { status: "404 Not Found", error: "ResourceNotFoundException", body }
    }

    pub(super) fn invalid(why: &str) -> Self {
        let body = json!({"message": why, "reason": "MissingValue"});
        Self { status: "400 Bad Request", error: "ValidationException", body }
    }

    pub(super) fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let body = self.body.to_string();
        write!(
            stream,
            "HTTP/1.1 {}\r\nContent-Type: application/json\r\nx-amzn-ErrorType: {}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.status,
            self.error,
            body.len()
        )
    }
}

/// `%3A` is a colon and so on.
fn plain(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let code = || {
            let digits = std::str::from_utf8(others.get(..2)?).ok()?;
            u8::from_str_radix(digits, 16).ok()
        };
        match (first, code()) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            _ => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
