//! The terminal while a show runs: another screen than the one people come back to, no cursor, and
//! keys as they are pressed.

use std::io::{self, IsTerminal, Read, Write};
use std::time::Duration;

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use terminal_size::{Height, Width};

const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";
/// Ends a show, as nothing else does while keys are read one by one.
const CTRL_C: u8 = 3;
/// What is drawn for if the terminal does not say how large it is.
const SIZE_DEFAULT: Size = Size { columns: 80, rows: 24 };

/// How large a terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// What a person pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Enough of it.
    Quit,
    /// Stop, or go on.
    Pause,
}

/// The terminal, given back as it was when this is dropped.
pub(super) struct Stage {
    /// How keys were read before; none where there is nobody to press them.
    before: Option<Termios>,
}

impl Stage {
    /// Takes the terminal.
    pub(super) fn enter() -> io::Result<Self> {
        let stdin = io::stdin();
        let before = if stdin.is_terminal() { tcgetattr(&stdin).ok() } else { None };
        if let Some(before) = &before {
            let mut modes = before.clone();
            modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
            // A read waits a tenth of a second for a key, which paces the show.
            modes.special_codes[SpecialCodeIndex::VMIN] = 0;
            modes.special_codes[SpecialCodeIndex::VTIME] = 1;
            tcsetattr(&stdin, OptionalActions::Now, &modes)?;
        }
        let stage = Self { before };
        show(ENTER)?;
        Ok(stage)
    }

    /// Draws a picture over the last one.
    pub(super) fn draw(&self, lines: &[String]) -> io::Result<()> {
        let ended = lines.iter().map(|line| format!("{line}\u{1b}[K"));
        let picture = ended.collect::<Vec<_>>().join("\r\n");
        show(&format!("\u{1b}[H{picture}\u{1b}[J"))
    }

    /// Waits up to a tenth of a second for a key.
    pub(super) fn key(&self) -> io::Result<Option<Key>> {
        if self.before.is_none() {
            std::thread::sleep(Duration::from_millis(100));
            return Ok(None);
        }
        let mut pressed = [0; 1];
        Ok(match io::stdin().lock().read(&mut pressed)? {
            0 => None,
            _ => match pressed[0] {
                b'q' | b'Q' | CTRL_C => Some(Key::Quit),
                b' ' | b'p' => Some(Key::Pause),
                _ => None,
            },
        })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // There is nobody left to tell of an error.
        let _ = show(LEAVE);
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// How large the terminal is now.
pub(super) fn size() -> Size {
    match terminal_size::terminal_size_of(io::stdout()) {
        Some((Width(columns), Height(rows))) if columns > 0 && rows > 0 => {
            Size { columns: columns.into(), rows: rows.into() }
        }
        _ => SIZE_DEFAULT,
    }
}

fn show(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
