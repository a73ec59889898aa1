//! EC2NodeClasses as the world holds them.

use kerf_api::ec2_node_class::EC2NodeClass;
use kerf_engine::observed::NodeClass;
use serde_json::{Value, json};

/// Reads a node class of the world.
///
/// # Errors
/// Its spec or status is not that of an EC2NodeClass.
pub fn read(class: &NodeClass) -> Result<EC2NodeClass, serde_json::Error> {
    let mut object = json!({
        "apiVersion": format!("{}/v1", class.key.group),
        "kind": class.key.kind,
        "metadata": { "name": class.key.name },
        "spec": *class.spec,
    });
    if class.status.resolved.is_object() {
        object["status"] = Value::clone(&class.status.resolved);
    }
    serde_json::from_value(object)
}
