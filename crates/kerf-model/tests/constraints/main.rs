//! Labels, requirements, taints, selectors and host ports, tested through the public API.

mod bitset;
mod golden;
mod host_ports;
mod labels;
mod min_values;
mod never_panics;
mod requirement;
mod requirement_properties;
mod requirements;
mod selectors;
mod taints;
mod vocabulary;
mod words;
