//! What every event needs, wherever it comes from.

use std::sync::Arc;

use kerf_kube::{Health, NoticeDelivery};
use tokio::sync::{mpsc, watch};

use crate::kubernetes_events::KubernetesEvents;
use crate::metadata::NodeMetadata;
use crate::metrics::Counters;
use crate::provisioner::Provisioner;
use crate::settings::EventSettings;
use crate::store::Store;
use crate::webhook::Webhook;

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
    /// Who drains nodes that a provisioner owns, if the handler does not.
    pub(crate) provisioner: Option<Provisioner>,
    /// Who else is told, if anybody is.
    pub(crate) webhook: Option<Webhook>,
    /// What is known of the instance, where the handler runs on it.
    pub(crate) metadata: watch::Receiver<NodeMetadata>,
}
