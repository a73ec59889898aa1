//! The router's two fronts, measured from outside against a stand-in for AWS.
//!
//! ```text
//! fronts lambda PROGRAM    start-up and memory of the function, as a line of JSON
//! fronts daemon            events a second end to end, and who is busy meanwhile, likewise
//! ```

#![allow(clippy::unwrap_used, reason = "a measurement that cannot be made ends with the reason")]

mod account;
mod daemon;
mod lambda;
mod process;
mod runtime_api;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["lambda", program] => println!("{}", lambda::measure(program.as_ref())),
        ["daemon"] => println!("{}", daemon::measure()),
        // What `cargo bench` starts, without the function's program at hand.
        _ => println!("{}", daemon::measure()),
    }
    ExitCode::SUCCESS
}
