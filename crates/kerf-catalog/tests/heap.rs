//! How much memory lists of instance types take that differ in stock only.
//!
//! The allocator counts bytes asked for, so the figure is the same on every machine and in every
//! build. This file holds one test because there is one heap to look at.

use std::sync::Arc;

use dhat::{Alloc, HeapStats, Profiler};
use kerf_catalog::aws::{Market, TypeFacts, Zone, sold_in};
use kerf_catalog::price::BuiltInPrices;
use kerf_catalog::settings::NodeClassSettings;
use kerf_catalog::shape::Shape;
use kerf_catalog::table;
use kerf_model::instance_type::InstanceType;

#[global_allocator]
static ALLOCATOR: Alloc = Alloc;

const REGION: &str = "us-east-1";
const LISTS: usize = 10;
const MEBIBYTE: usize = 1 << 20;
/// The first list with all its labels.
const FIRST_MAX: usize = 12 * MEBIBYTE;
/// Nine more, each with one offering changed: names and places, no labels.
const OTHERS_MAX: usize = 2 * MEBIBYTE;

#[test]
fn lists_that_differ_in_stock_take_little_more_memory_than_one() {
    let settings = NodeClassSettings::default();
    let zones = ["us-east-1a", "us-east-1b", "us-east-1c"];
    let zones = zones.map(|name| Zone { name: name.to_owned(), id: None });
    let market = Market::new(REGION, &settings, zones);
    let sold = sold_in(REGION).expect("known");
    let shapes: Vec<&Shape> = sold.iter().filter_map(|(name, _)| table::shape(name)).collect();
    let _profiler = Profiler::builder().testing().build();
    let facts: Vec<TypeFacts> =
        shapes.iter().filter_map(|shape| market.facts(shape, |_| true)).collect();
    let mut lists: Vec<Vec<InstanceType>> = Vec::new();
    let mut first = 0;
    for number in 0..LISTS {
        let offered = shapes.iter().zip(&facts).enumerate().map(|(place, (shape, facts))| {
            let mut it = market.instance_type(shape, facts, |_| true, &BuiltInPrices);
            if place == number {
                Arc::make_mut(&mut it.offerings)[0].available = false;
            }
            if let Some(last) = lists.last() {
                it.share_with(&last[place]);
            }
            it
        });
        let list = offered.collect();
        lists.push(list);
        if number == 0 {
            first = HeapStats::get().curr_bytes;
        }
    }
    let others = HeapStats::get().curr_bytes - first;
    println!("{} types: {first} bytes, {} more lists {others} bytes", shapes.len(), LISTS - 1);
    assert!(first < FIRST_MAX, "the first list takes {first} bytes");
    assert!(others < OTHERS_MAX, "{} more lists take {others} bytes", LISTS - 1);
}
