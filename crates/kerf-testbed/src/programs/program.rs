//! A program under test: started with free ports, read, and ended.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::error::{Error, Result};
use crate::programs::command::run;
use crate::programs::port::free_port;

/// A running program. Killed when dropped; if that is because a test failed, what it wrote is
/// shown.
#[derive(Debug)]
pub struct Program {
    child: Child,
    ports: Vec<(&'static str, u16)>,
    written: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Program {
    /// Starts a program and gives a free port to each of these flags and variables, as in
    /// `--metrics-port` and `METRICS_PORT`.
    pub fn start(mut command: Command, port_names: &[&'static str]) -> Result<Self> {
        let mut ports = Vec::new();
        for name in port_names {
            let port = free_port()?;
            if name.starts_with('-') {
                command.arg(format!("{name}={port}"));
            } else {
                command.env(name, port.to_string());
            }
            ports.push((*name, port));
        }
        let name = command.get_program().to_owned();
        let child = command.stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(Error::io("start", name))?;
        let written = Arc::new(Mutex::new(Vec::new()));
        let reader = child.stdout.take().map(|stdout| {
            let written = Arc::clone(&written);
            thread::spawn(move || collect(stdout, &written))
        });
        Ok(Self { child, ports, written, reader })
    }

    /// What the port of a name answers to a path: everything, the status line first. Nothing while
    /// nobody listens there.
    pub fn get(&self, port_name: &str, path: &str) -> Option<String> {
        let (_, port) = self.ports.iter().find(|(name, _)| *name == port_name)?;
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).ok()?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// What it has written to its standard output so far.
    pub fn written(&self) -> String {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&written).into_owned()
    }

    /// Asks it to end, and waits: whether it ended well, and everything it wrote.
    pub fn end(mut self) -> Result<(bool, String)> {
        let pid = self.child.id().to_string();
        run(Command::new("kill").args(["-TERM", &pid]), "")?;
        let status = self.child.wait().map_err(Error::io("wait for", "a program under test"))?;
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        Ok((status.success(), self.written()))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only if it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("{}", self.written());
        }
    }
}

fn collect(mut stdout: impl Read, written: &Mutex<Vec<u8>>) {
    let mut part = [0; 4096];
    while let Ok(count @ 1..) = stdout.read(&mut part) {
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        written.extend_from_slice(&part[..count]);
    }
}
