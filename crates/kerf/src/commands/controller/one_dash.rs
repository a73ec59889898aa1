//! Flags with one dash, which Karpenter takes as well as those with two: `-log-level=debug`.

use std::ffi::OsString;

use clap::Command;

const COMMAND: &str = "controller";

/// The arguments with two dashes before every flag of the controller that was given with one.
pub(crate) fn mended(
    arguments: impl Iterator<Item = OsString>,
    program: &Command,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let controller = program.find_subcommand(COMMAND);
    let Some(controller) = controller.filter(|_| arguments.get(1).is_some_and(|it| it == COMMAND))
    else {
        return arguments;
    };
    for argument in &mut arguments[2..] {
        let flag = argument.to_str().and_then(|text| text.strip_prefix('-'));
        let name = flag.and_then(|flag| flag.split('=').next());
        if name.is_some_and(|name| controller.get_arguments().any(|it| it.get_long() == Some(name)))
        {
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
        let program = Command::new("kerf").subcommand(Command::new(COMMAND).args(flags));
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
