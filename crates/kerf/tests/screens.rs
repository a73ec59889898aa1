//! What `kerf plan` and `kerf demo` look like on a real terminal: a pseudo-terminal of each size, an
//! emulator that draws what comes out of it, and a stored screen beside each.
//!
//! With `KERF_BLESS=1` the screens are written anew; look at them before you keep them.

use std::io::{ErrorKind, Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use pty_process::Size;
use pty_process::blocking::{Command, Pty};
use vt100::Parser;

/// Columns and rows.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A program on a terminal of its own.
struct Terminal {
    pty: Pty,
    child: std::process::Child,
    emulator: Parser,
    /// The last bytes that came.
    last: Vec<u8>,
}

/// What every picture of the demo ends with: nothing is left of the one before.
const PICTURE_END: &[u8] = b"\x1b[J";

impl Terminal {
    fn run(arguments: &[&str], (columns, rows): (u16, u16)) -> Self {
        let (pty, slave) = pty_process::blocking::open().expect("a pseudo-terminal");
        pty.resize(Size::new(rows, columns)).expect("it has a size");
        let mut command =
            Command::new(env!("CARGO_BIN_EXE_kerf")).args(arguments).current_dir(ROOT);
        command =
            command.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("COLUMNS");
        let child = command.spawn(slave).expect("kerf starts");
        let size = |number| NonZeroU16::new(number).expect("a terminal has a size");
        let emulator = Parser::new(size(rows), size(columns), 1_000);
        Self { pty, child, emulator, last: Vec::new() }
    }

    /// Takes in what the program says next. Returns whether there may be more.
    fn listen(&mut self) -> bool {
        let mut heard = [0; 4096];
        match self.pty.read(&mut heard) {
            Ok(0) => false,
            Ok(count) => {
                self.emulator.process(&heard[..count]);
                self.last.extend_from_slice(&heard[..count]);
                let kept = self.last.len().saturating_sub(PICTURE_END.len());
                self.last.drain(..kept);
                true
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => true,
            // The other end was closed.
            Err(_) => false,
        }
    }

    fn screen(&self) -> String {
        self.emulator.screen().contents() + "\n"
    }

    fn press(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).expect("somebody reads keys");
    }

    fn end(&mut self) -> ExitStatus {
        while self.listen() {}
        self.child.wait().expect("kerf ends")
    }
}

#[test]
fn plan_looks_as_stored_and_no_line_wraps() {
    let mut wrong = Vec::new();
    for size in SIZES {
        for (name, arguments) in [
            ("plan", &["plan", "-f", "examples/shop.yaml"][..]),
            ("plan-consolidate", &["plan", "--consolidate", "-f", "examples/consolidation"]),
        ] {
            let mut terminal = Terminal::run(arguments, size);
            let status = terminal.end();
            assert!(status.success(), "{status} {}", terminal.screen());
            let screen = terminal.emulator.screen();
            let wrapped = (0..size.1).filter(|row| screen.row_wrapped(*row)).count();
            assert_eq!(wrapped, 0, "{name} wraps at {size:?}:\n{}", terminal.screen());
            wrong.extend(compare(name, size, &terminal.screen()).err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_demo_looks_as_stored_at_a_moment_of_it_and_gives_the_terminal_back() {
    let mut wrong = Vec::new();
    let moments = [("230", &SIZES[..1]), ("270", &SIZES[..]), ("420", &SIZES[..1])];
    for (seconds, sizes) in moments {
        for size in sizes.iter().copied() {
            let mut terminal = Terminal::run(&["demo", "--pause-at", seconds], size);
            // A key that means nothing is passed over.
            terminal.press("x");
            while terminal.last != PICTURE_END {
                assert!(terminal.listen(), "kerf ended:\n{}", terminal.screen());
            }
            let screen = terminal.emulator.screen();
            assert!(screen.alternate_screen(), "another screen than the shell's");
            assert!(screen.hide_cursor(), "no cursor in the picture");
            let wrapped = (0..size.1).filter(|row| screen.row_wrapped(*row)).count();
            assert_eq!(wrapped, 0, "the demo wraps at {size:?}:\n{}", terminal.screen());
            wrong.extend(compare(&format!("demo-{seconds}s"), size, &terminal.screen()).err());
            terminal.press("q");
            let status = terminal.end();
            assert!(status.success(), "{status}");
            let screen = terminal.emulator.screen();
            assert!(!screen.alternate_screen() && !screen.hide_cursor(), "all is given back");
            assert!(screen.contents().contains("SUMMARY"), "{}", screen.contents());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_demo_ends_by_itself_with_a_summary_that_names_a_greedy_packer() {
    let mut terminal = Terminal::run(&["demo", "--speed", "100000"], SIZES[0]);
    let status = terminal.end();
    assert!(status.success(), "{status}");
    let screen = terminal.screen();
    assert!(!terminal.emulator.screen().alternate_screen());
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    for part in ["SUMMARY", "greedy", "0 left", "every rule held"] {
        assert!(screen.contains(part), "{part} in\n{screen}");
    }
    if let Err(complaint) = compare("demo-summary", SIZES[0], &screen) {
        panic!("{complaint}");
    }
}

/// Holds a screen against the stored one.
fn compare(name: &str, (columns, rows): (u16, u16), screen: &str) -> Result<(), String> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/screens")
        .join(format!("{name}-{columns}x{rows}.txt"));
    let screen: String = screen.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    if std::env::var_os("KERF_BLESS").is_some() {
        std::fs::write(&path, &screen).expect("the screen can be written");
        return Ok(());
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    if stored == screen {
        return Ok(());
    }
    Err(format!("{}\n--- stored\n{stored}--- found\n{screen}", path.display()))
}
