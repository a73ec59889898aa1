//! Kubernetes Events on pools: what people read with `kubectl describe nodepool`.

use k8s_openapi::api::core::v1::{Event, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kerf_kube::{CLUSTER_NAMESPACE, EventSpec};
use kerf_notices::zonal_shift::PoolEvent;
use kube::Client;
use kube::api::{Api, PostParams};

use crate::api_call::{ApiFailure, call};
use crate::daemon::complaints::{Complaints, Kind};

/// The component Events come from.
const COMPONENT: &str = "kerf-zonal-autoshift";

/// Writes Events.
#[derive(Clone)]
pub(crate) struct EventRecorder {
    api: Api<Event>,
    complaints: Complaints,
}

impl EventRecorder {
    pub(crate) fn new(client: Client, complaints: Complaints) -> Self {
        Self { api: Api::namespaced(client, CLUSTER_NAMESPACE), complaints }
    }

    /// Writes an Event about a pool. One that fails is not tried again: pools tell the same.
    pub(crate) async fn record(&self, event: &PoolEvent, uid: Option<String>) {
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
    let about = ObjectReference {
        api_version: Some(event.pool.api_version.clone()),
        kind: Some(event.pool.kind.clone()),
        name: Some(event.pool.name.clone()),
        uid,
        ..ObjectReference::default()
    };
    let PoolEvent { is_warning, reason, message, .. } = event;
    let spec = EventSpec { component: COMPONENT, is_warning: *is_warning, reason, message };
    spec.about(about, Time(jiff::Timestamp::now()))
}
