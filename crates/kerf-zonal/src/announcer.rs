//! Kubernetes Events on pools: what people read with `kubectl describe nodepool`.

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kerf_notices::zonal_shift::PoolEvent;
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};

use crate::api_call::{ApiFailure, call};
use crate::complaints::{Complaints, Kind};

/// The component Events come from.
const COMPONENT: &str = "kerf-zonal-autoshift";
/// Where Events about objects without a namespace lie.
const NAMESPACE: &str = "default";
/// What the API server takes.
const MESSAGE_BYTES_MAX: usize = 1_024;

/// Writes Events.
#[derive(Clone)]
pub(crate) struct Announcer {
    api: Api<Event>,
    complaints: Complaints,
}

impl Announcer {
    pub(crate) fn new(client: Client, complaints: Complaints) -> Self {
        Self { api: Api::namespaced(client, NAMESPACE), complaints }
    }

    /// Writes an Event about a pool. They are news, not state: one that fails is not tried again.
    pub(crate) async fn announce(&self, event: &PoolEvent, uid: Option<String>) {
        const WHAT: &str = "writing Events";
        let event = written(event, uid);
        match call(self.api.create(&PostParams::default(), &event)).await {
            Ok(_) => self.complaints.settle(WHAT),
            Err(failure @ ApiFailure::Denied(_)) => {
                self.complaints.complain(WHAT, Kind::Denied, failure.to_string());
            }
            Err(failure) => self.complaints.complain(WHAT, Kind::Failing, failure.to_string()),
        }
    }
}

fn written(event: &PoolEvent, uid: Option<String>) -> Event {
    let time = Time(jiff::Timestamp::now());
    let end = event.message.floor_char_boundary(MESSAGE_BYTES_MAX);
    Event {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}.", event.pool.name)),
            namespace: Some(NAMESPACE.to_owned()),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            api_version: Some(event.pool.api_version.clone()),
            kind: Some(event.pool.kind.clone()),
            name: Some(event.pool.name.clone()),
            uid,
            ..ObjectReference::default()
        },
        type_: Some(if event.is_warning { "Warning" } else { "Normal" }.to_owned()),
        reason: Some(event.reason.to_owned()),
        message: Some(event.message[..end].to_owned()),
        source: Some(EventSource { component: Some(COMPONENT.to_owned()), host: None }),
        reporting_component: Some(COMPONENT.to_owned()),
        first_timestamp: Some(time.clone()),
        last_timestamp: Some(time),
        count: Some(1),
        ..Event::default()
    }
}
