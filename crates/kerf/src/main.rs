//! The kerf command.
fn main() {}
