//! Colours, where they are welcome.

use std::io::IsTerminal;

/// Whether there is colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// None.
    Plain,
    /// Plain ANSI colours.
    Coloured,
}

/// How a piece of text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// A heading.
    Bold,
    /// Beside the point.
    Dim,
    /// Something good.
    Green,
    /// Something on its way.
    Yellow,
    /// Something bad.
    Red,
    /// A step of the scenario.
    Cyan,
}

impl Style {
    /// What standard output and `NO_COLOR` allow.
    pub(super) fn of_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if wanted && std::io::stdout().is_terminal() { Self::Coloured } else { Self::Plain }
    }

    /// The text in its colour.
    pub(super) fn paint(self, ink: Ink, text: &str) -> String {
        if self == Self::Plain {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Bold => "1",
            Ink::Dim => "2",
            Ink::Green => "32",
            Ink::Yellow => "33",
            Ink::Red => "31",
            Ink::Cyan => "36",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
