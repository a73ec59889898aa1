//! One Kubernetes Event, as it is stored.

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::ObjectMeta;

/// Where Events about objects without a namespace lie.
pub const CLUSTER_NAMESPACE: &str = "default";

/// The API server takes messages of at most so many bytes.
const MESSAGE_BYTES_MAX: usize = 1_024;

/// What an Event tells.
#[derive(Clone, Copy, Debug)]
pub struct EventSpec<'a> {
    /// Who tells.
    pub component: &'a str,
    /// Whether it is a warning.
    pub is_warning: bool,
    /// One word.
    pub reason: &'a str,
    /// A sentence or two; what is too long is cut.
    pub message: &'a str,
}

impl EventSpec<'_> {
    /// The Event about an object, to be created in the namespace it names.
    #[must_use]
    pub fn about(&self, object: ObjectReference, time: Time) -> Event {
        let namespace = object.namespace.clone().unwrap_or_else(|| CLUSTER_NAMESPACE.to_owned());
        let component = self.component.to_owned();
        Event {
            metadata: ObjectMeta {
                generate_name: Some(format!("{}.", object.name.as_deref().unwrap_or_default())),
                namespace: Some(namespace),
                ..ObjectMeta::default()
            },
            involved_object: object,
            type_: Some(if self.is_warning { "Warning" } else { "Normal" }.to_owned()),
            reason: Some(self.reason.to_owned()),
            message: Some(cut(self.message)),
            source: Some(EventSource { component: Some(component.clone()), host: None }),
            reporting_component: Some(component),
            first_timestamp: Some(time.clone()),
            last_timestamp: Some(time),
            count: Some(1),
            ..Event::default()
        }
    }
}

fn cut(message: &str) -> String {
    if message.len() <= MESSAGE_BYTES_MAX {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(MESSAGE_BYTES_MAX - 3);
    format!("{}...", &message[..end])
}
