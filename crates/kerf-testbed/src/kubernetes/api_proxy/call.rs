//! A request to the API server, as far as faults and tests need to know it.

use std::time::Instant;

use hyper::Method;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiCall {
    /// When it came.
    pub at: Instant,
    /// `GET`, `POST`, …
    pub method: String,
    /// Without what follows a question mark.
    pub path: String,
    /// The kind of object by its plural, as in `pods`.
    pub resource: String,
    /// Whether the answer is a stream of changes.
    pub is_watch: bool,
    /// What was answered; 0 where nothing was.
    pub status: u16,
}

impl ApiCall {
    pub(super) fn new(method: &Method, path: &str, query: Option<&str>) -> Self {
        let is_watch = query.is_some_and(|query| {
            query.split('&').any(|part| matches!(part, "watch=true" | "watch=1"))
        });
        Self {
            at: Instant::now(),
            method: method.to_string(),
            path: path.to_owned(),
            resource: resource(path).to_owned(),
            is_watch,
            status: 0,
        }
    }

    /// Whether it changes something, apart from Leases, which are renewed all the time, and Events,
    /// which are not state.
    pub fn is_write(&self) -> bool {
        let reads = matches!(self.method.as_str(), "GET" | "HEAD");
        !reads && !matches!(self.resource.as_str(), "leases" | "events")
    }

    /// Whether the server did as it was asked.
    pub fn is_done(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// `/api/v1/namespaces/x/pods/y` and `/apis/apps/v1/deployments` are about pods and deployments.
fn resource(path: &str) -> &str {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let version = match parts.next() {
        Some("api") => parts.next(),
        Some("apis") => parts.nth(1),
        _ => None,
    };
    let parts: Vec<&str> = parts.collect();
    match (version, parts.as_slice()) {
        (Some(_), ["namespaces", _, resource, ..] | [resource, ..]) => resource,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_about_the_kind_of_object_that_its_path_names() {
        for (path, kind) in [
            ("/api/v1/pods", "pods"),
            ("/api/v1/namespaces/a/pods/b/eviction", "pods"),
            ("/api/v1/namespaces/a", "namespaces"),
            ("/apis/karpenter.sh/v1/nodeclaims/a/status", "nodeclaims"),
            ("/apis/coordination.k8s.io/v1/namespaces/a/leases/b", "leases"),
            ("/version", ""),
        ] {
            assert_eq!(resource(path), kind, "{path}");
        }
    }

    #[test]
    fn leases_and_events_are_no_writes() {
        let is_write = |method, path| ApiCall::new(&method, path, None).is_write();
        assert!(is_write(Method::POST, "/apis/karpenter.sh/v1/nodeclaims"));
        assert!(!is_write(Method::GET, "/apis/karpenter.sh/v1/nodeclaims"));
        assert!(!is_write(Method::POST, "/api/v1/namespaces/default/events"));
        let lease = "/apis/coordination.k8s.io/v1/namespaces/a/leases/b";
        assert!(!is_write(Method::PUT, lease));
    }
}
