//! When nodes are cordoned, as a watcher sees it.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Instant;

use futures_util::stream::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use kube::api::Api;
use kube::runtime::watcher::{self, Config, Event, watcher};
use tokio::time::timeout;

use crate::stage::{AT_MOST, Stage};

/// A watch of nodes.
pub(crate) struct Cordons<'a> {
    stage: &'a Stage,
    told: Pin<Box<dyn Stream<Item = Result<Event<Node>, watcher::Error>>>>,
    /// The nodes that are cordoned.
    names: BTreeSet<String>,
}

impl<'a> Cordons<'a> {
    /// Starts watching, and waits until the nodes there are have been listed.
    pub(crate) fn watch(stage: &'a Stage) -> Self {
        let nodes = Api::<Node>::all(stage.client.clone());
        let told = watcher(nodes, Config::default()).boxed_local();
        let mut this = Self { stage, told, names: BTreeSet::new() };
        this.take_until(|_, event| matches!(event, Event::InitDone));
        this
    }

    /// How many nodes are cordoned.
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    /// The moment so many nodes were seen to be cordoned.
    pub(crate) fn until(&mut self, count: usize) -> Instant {
        self.take_until(|names, _| names.len() >= count);
        Instant::now()
    }

    fn take_until(&mut self, is_so: impl Fn(&BTreeSet<String>, &Event<Node>) -> bool) {
        let Self { stage, told, names } = self;
        let take = async {
            loop {
                // A watch that fails starts anew by itself.
                let Ok(event) = told.next().await.unwrap() else { continue };
                if let Event::Apply(node) | Event::InitApply(node) = &event
                    && node.spec.as_ref().is_some_and(|spec| spec.unschedulable == Some(true))
                {
                    names.insert(node.name_any());
                }
                if is_so(names, &event) {
                    return;
                }
            }
        };
        let in_time = stage.runtime.block_on(async { timeout(AT_MOST, take).await });
        assert!(in_time.is_ok(), "not in time: {} nodes are cordoned", names.len());
    }
}
