//! Which node an instance is: by its provider id, which cannot lie; else by the name the cloud has
//! for the instance, among nodes without a provider id. A handler that runs on the node need not ask.

use std::sync::Arc;

use crate::notice::Notice;
use crate::observed::Node;
use crate::world::World;

/// The label that kubelets put their host's name on.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// The nodes a notice is about, each with its instance.
pub(super) fn nodes_of<'a>(world: &'a World, notice: &Notice) -> Vec<(Arc<str>, &'a Node)> {
    if let Some(name) = &world.settings.drain.own_node {
        let node = world.nodes.get(name);
        let instance = notice.instances.first().cloned().unwrap_or_default();
        return node.map(|node| (instance, node.as_ref())).into_iter().collect();
    }
    let mut found = Vec::new();
    for (place, instance) in notice.instances.iter().enumerate() {
        let before = found.len();
        let nodes = world.nodes_with_instance_id(instance);
        found.extend(nodes.map(|node| (instance.clone(), node)));
        if found.len() == before && !world.settings.drain.by_provider_id_only {
            let name = notice.handling.node_names.get(place).filter(|name| !name.is_empty());
            let node = name.and_then(|name| node_named(world, name));
            found.extend(node.map(|node| (instance.clone(), node)));
        }
    }
    found
}

/// The node of that name or host name. A short host name counts only where one node has it: hosts
/// of two domains may share it.
fn node_named<'a>(world: &'a World, name: &Arc<str>) -> Option<&'a Node> {
    let unplaced = |node: &&'a Node| node.provider_id.as_deref().is_none_or(str::is_empty);
    if let Some(node) = world.nodes.get(name).map(Arc::as_ref).filter(unplaced) {
        return Some(node);
    }
    let hosts = |host: &str| {
        let nodes = world.nodes.values().map(Arc::as_ref).filter(unplaced);
        nodes.filter(|node| node.labels.get(HOSTNAME).is_some_and(|is| is == host)).collect()
    };
    let full: Vec<&Node> = hosts(name);
    if let [node, ..] = full[..] {
        return Some(node);
    }
    let short: Vec<&Node> = hosts(name.split('.').next().unwrap_or_default());
    match short[..] {
        [node] => Some(node),
        _ => None,
    }
}
