//! Just enough HTTP: one request a connection.

use std::collections::BTreeMap;
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
    /// By name, in small letters.
    headers: BTreeMap<String, String>,
    pub(super) text: String,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Reply {
    status: &'static str,
    error: &'static str,
    content_type: &'static str,
    body: String,
}

impl Request {
    /// Reads a request. `None`: the client said nothing.
    pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<Self>> {
        let mut reader = BufReader::new(stream);
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line == "\r\n" {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            }
        }
        let body_bytes = headers.get("content-length").and_then(|length| length.parse().ok());
        let body_bytes = body_bytes.unwrap_or(0);
        let mut body = vec![0; usize::min(body_bytes, BODY_BYTES_MAX)];
        reader.read_exact(&mut body)?;
        let mut words = first.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let text = String::from_utf8_lossy(&body).into_owned();
        Ok(Some(Self { method, path, headers, text }))
    }

    /// The body as JSON; null where there is none.
    pub(super) fn body(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// The path, without what was asked of it.
    pub(super) fn path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The first part of the path, and the rest in plain characters.
    pub(super) fn parts(&self) -> (&str, Option<String>) {
        let path = self.path().trim_start_matches('/');
        match path.split_once('/') {
            Some((first, rest)) => (first, Some(plain(rest))),
            None => (path, None),
        }
    }
}

impl Reply {
    pub(super) fn ok(body: Value) -> Self {
        Self::json("200 OK", "", &body)
    }

    pub(super) fn created(body: Value) -> Self {
        Self::json("201 Created", "", &body)
    }

    /// Plain text.
    pub(super) fn text(status: &'static str, body: String) -> Self {
        Self { status, error: "", content_type: "text/plain", body }
    }

    fn json(status: &'static str, error: &'static str, body: &Value) -> Self {
        Self { status, error, content_type: "application/json", body: body.to_string() }
    }

    pub(super) fn not_found(what: &str) -> Self {
        let body = json!({"message": format!("there is no {what}")});
        Self::json("404 Not Found", "ResourceNotFoundException", &body)
    }

    pub(super) fn invalid(why: &str) -> Self {
        let body = json!({"message": why, "reason": "MissingValue"});
        Self::json("400 Bad Request", "ValidationException", &body)
    }

    pub(super) fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let Self { status, error, content_type, body } = self;
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nx-amzn-ErrorType: {error}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
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
