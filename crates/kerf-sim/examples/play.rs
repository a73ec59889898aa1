//! Plays a scenario and prints every record: `cargo run -p kerf-sim --example play -- FILE [SEED]`.

use std::sync::Arc;

use kerf_sim::{Report, Scenario, Simulation};

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("name a scenario file");
    let seed = args.next().map_or(1, |text| text.parse().expect("the seed is a number"));
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let scenario = Arc::new(Scenario::parse(&text).unwrap_or_else(|error| panic!("{error}")));
    let mut simulation = Simulation::new(scenario, seed).unwrap_or_else(|error| panic!("{error}"));
    let start = simulation.now();
    let mut shown = 0;
    while simulation.step() {
        let fresh = usize::try_from(simulation.trace.recorded - shown).expect("records are few");
        let known = simulation.trace.records.len();
        for record in simulation.trace.records.iter().skip(known - fresh.min(known)) {
            let at = record.at.since(start).millis();
            println!("{at:>9} {:?} {} {}", record.kind, record.about, record.text);
        }
        shown = simulation.trace.recorded;
    }
    println!("{:#?}", Report::of(&simulation));
}
