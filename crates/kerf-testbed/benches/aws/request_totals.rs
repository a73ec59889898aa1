//! The requests that the API server counted.

use std::collections::BTreeMap;

use kerf_testbed::ControlPlane;

const METRIC: &str = "apiserver_request_total{";

/// How many requests there were so far, by verb and resource. Watches last and are left out.
pub(crate) fn request_totals(control_plane: &ControlPlane) -> BTreeMap<String, u64> {
    let page = control_plane.kubectl(&["get", "--raw", "/metrics"]).unwrap();
    let mut totals = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with(METRIC)) {
        let label = |name: &str| {
            let (_, rest) = line.split_once(&format!("{name}=\""))?;
            rest.split_once('"').map(|(value, _)| value)
        };
        let (verb, resource) = (label("verb").unwrap_or(""), label("resource").unwrap_or(""));
        let subresource = label("subresource").unwrap_or("");
        if verb == "WATCH" || resource.is_empty() {
            continue;
        }
        let name = match subresource {
            "" => format!("{verb} {resource}"),
            subresource => format!("{verb} {resource}/{subresource}"),
        };
        let count = line.rsplit(' ').next().and_then(|count| count.parse::<f64>().ok());
        *totals.entry(name).or_insert(0) += count.unwrap_or(0.0) as u64;
    }
    totals
}
