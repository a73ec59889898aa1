//! What is measured on AWS, and how it is shown.

/// A measurement.
pub(super) struct Measurement {
    /// As it is asked for.
    pub(super) name: &'static str,
    /// The part of the page.
    pub(super) part: &'static str,
    /// What there are so many of.
    pub(super) title: &'static str,
    /// How many.
    pub(super) count: &'static str,
    /// Whether it lasts for a number of minutes.
    pub(super) is_timed: bool,
    /// Whether Karpenter is measured too.
    pub(super) has_peer: bool,
    pub(super) rows: &'static [Row],
    /// Lists of counts below the table: their words, and where they stand in the report.
    pub(super) listed: &'static [(&'static str, &'static str)],
}

/// A figure: its words, where it stands in the report, its unit, and what it is divided by.
type Row = (&'static str, &'static str, &'static str, f64);

const MEMORY: Row = ("Peak memory of the controller", "/peak_memory_bytes", " MB", 1e6);
const PROCESSOR: Row = ("Processor time of the controller", "/processor_seconds", " s", 1.0);
const CALLS: (&str, &str) = ("Calls to AWS until a pod ran on each node", "/calls");

/// Everything that is measured; the first where nothing is named.
pub(super) const MEASUREMENTS: [Measurement; 4] = [
    Measurement {
        name: "nodes",
        part: "aws nodes",
        title: "spot nodes",
        count: "200",
        is_timed: false,
        has_peer: true,
        rows: &[
            ("The last node has joined", "/seconds/last node joined", " s", 1.0),
            ("A pod runs on each", "/seconds/all pods running", " s", 1.0),
            ("Calls to AWS for each node", "/calls_per_node", "", 1.0),
            (
                "The last node closed, after the last notice",
                "/announced/last node closed",
                " s",
                1.0,
            ),
            ("The queue empty, after the last notice", "/announced/queue empty", " s", 1.0),
            MEMORY,
            PROCESSOR,
        ],
        listed: &[CALLS],
    },
    Measurement {
        name: "notices",
        part: "aws notices",
        title: "mixed notices",
        count: "15000",
        is_timed: false,
        has_peer: false,
        rows: &[
            ("Notices worked off", "/notices_per_second", " /s", 1.0),
            ("All sent", "/seconds/last notice sent", " s", 1.0),
            ("All nodes closed", "/seconds/last node closed", " s", 1.0),
            ("All claims being deleted", "/seconds/last claim deleting", " s", 1.0),
            ("The queue empty", "/seconds/queue empty", " s", 1.0),
            (
                "From a notice to the closed node, half of them within",
                "/until_closed/p50",
                " s",
                1.0,
            ),
            ("99 of 100 within", "/until_closed/p99", " s", 1.0),
            ("Requests to the API server for each notice", "/requests_per_notice/all", "", 1.0),
            MEMORY,
            PROCESSOR,
        ],
        listed: &[("Requests to the API server for each notice", "/requests_per_notice/by_name")],
    },
    Measurement {
        name: "launches",
        part: "aws launches",
        title: "nodes that boot for 30 s",
        count: "500",
        is_timed: false,
        has_peer: true,
        rows: &[
            ("A pod runs on each, the boot taken off", "/beside_boot_seconds", " s", 1.0),
            ("Calls to AWS for each node", "/calls_per_node", "", 1.0),
            ("Calls that EC2 refused as too many", "/throttled_count", "", 1.0),
            MEMORY,
            PROCESSOR,
        ],
        listed: &[CALLS, ("Refused as too many", "/throttled")],
    },
    Measurement {
        name: "idle",
        part: "aws idle",
        title: "quiet nodes",
        count: "1000",
        is_timed: true,
        has_peer: true,
        rows: &[
            ("Calls to AWS in an hour", "/calls_per_hour", "", 1.0),
            ("Processor time in an hour", "/processor_seconds_per_hour", " s", 1.0),
            ("Peak memory of the controller", "/memory_bytes", " MB", 1e6),
        ],
        listed: &[("Calls to AWS in an hour", "/calls")],
    },
];
