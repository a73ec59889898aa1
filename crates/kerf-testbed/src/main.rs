//! A testbed for a person: see `kerf_testbed::run_for_a_person`.

use std::process::ExitCode;

fn main() -> ExitCode {
    kerf_testbed::run_for_a_person(std::env::args().skip(1))
}
