//! Flags with one dash, which Karpenter and AWS Node Termination Handler take as well as those with
//! two: `-log-level=debug`.

use std::ffi::OsString;

use clap::Command;

const COMMANDS: [&str; 3] = ["controller", "termination-handler", "nth"];

/// The arguments with two dashes before every flag of these commands that was given with one.
pub(crate) fn mended(
    arguments: impl Iterator<Item = OsString>,
    program: &Command,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let named = arguments.get(1).and_then(|it| COMMANDS.into_iter().find(|name| it == name));
    let Some(command) = named.and_then(|name| program.find_subcommand(name)) else {
        return arguments;
    };
    for argument in &mut arguments[2..] {
        let flag = argument.to_str().and_then(|text| text.strip_prefix('-'));
        let name = flag.and_then(|flag| flag.split('=').next());
        if name.is_some_and(|name| command.get_arguments().any(|it| it.get_long() == Some(name))) {
            let mut two = OsString::from("-");
            two.push(&*argument);
            *argument = two;
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    fn mended_text(arguments: &str) -> String {
        let flags = ["log-level", "metrics-port"].map(|name| Arg::new(name).long(name));
        let program = Command::new("kerf").subcommand(Command::new("controller").args(flags));
        let words = arguments.split(' ').map(OsString::from);
        mended(words, &program).join(std::ffi::OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn flags_of_the_controller_get_their_second_dash_and_nothing_else_does() {
        for (given, meant) in [
            ("kerf controller -log-level=debug", "kerf controller --log-level=debug"),
            ("kerf controller -metrics-port 8000", "kerf controller --metrics-port 8000"),
            ("kerf controller --log-level -1", "kerf controller --log-level -1"),
            ("kerf controller -h -nothing", "kerf controller -h -nothing"),
            ("kerf plan -log-level=debug", "kerf plan -log-level=debug"),
            ("kerf", "kerf"),
        ] {
            assert_eq!(mended_text(given), meant);
        }
    }
}
