//! What every event needs, wherever it comes from.

use std::sync::Arc;

use kerf_kube::{Health, NoticeDelivery};
use tokio::sync::mpsc;

use crate::kubernetes_events::KubernetesEvents;
use crate::metrics::Counters;
use crate::settings::EventSettings;
use crate::store::Store;

/// What every event needs. Copies share it.
#[derive(Clone)]
pub(crate) struct EventContext {
    pub(crate) settings: Arc<EventSettings>,
    pub(crate) notices: mpsc::Sender<NoticeDelivery>,
    pub(crate) counters: Counters,
    pub(crate) store: Store,
    pub(crate) health: Health,
    /// Where Kubernetes Events are recorded, if they are.
    pub(crate) events: Option<KubernetesEvents>,
}
