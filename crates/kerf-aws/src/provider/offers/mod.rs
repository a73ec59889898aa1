//! What pools are offered: instance types as EC2 sells them, what they cost, and what is out of
//! stock.
//!
//! ```text
//!  EC2 or built-in tables ─► Stock ──┐
//!  file, price list, spot ─► Prices ─┼─► for_class ─► instance types of a node class
//!  failed launches ─► Unavailable ───┤
//!  reservations ─► ReservationCounts ┤     each change ─► Changes ─► asked for anew
//!  nodes ─► DiscoveredMemory ────────┘
//! ```

mod changes;
mod class_facts;
mod discovered_memory;
mod for_class;
mod on_demand;
mod price_file;
mod prices;
mod refresh;
mod reservation_counts;
mod shape;
mod spot;
mod stock;
#[cfg(test)]
mod tests;
mod unavailable;

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use kerf_catalog::settings::PlacementGroup;
use kerf_engine::event::Failure;
use kerf_engine::notice::{AnnouncedInstance, NoticeKind};
use kerf_engine::observed::{Claim, Node, NodeClass};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::{aws, well_known};
use kerf_model::node_spec::NodeClassRef;
use serde_json::Value;
use tracing::info;

pub(crate) use changes::Changes;
use class_facts::{ClassFacts, MadeFrom};
use discovered_memory::DiscoveredMemory;
use for_class::ForClass;
pub use price_file::PriceFileError;
use prices::Prices;
pub(crate) use reservation_counts::ReservationCounts;
use stock::Stock;
pub(crate) use unavailable::{PlacementScope, Unavailable};

use super::context::Context;
use super::launch_template;
use crate::catalogue::node_class;

/// What is offered, kept up to date.
pub(crate) struct Offers {
    context: Context,
    changes: Arc<Changes>,
    unavailable: Arc<Unavailable>,
    reservations: Arc<ReservationCounts>,
    memory: DiscoveredMemory,
    stock: RwLock<Arc<Stock>>,
    prices: RwLock<Arc<Prices>>,
    answers: Mutex<HashMap<NodeClassRef, Answer>>,
}

/// What was last answered for a node class, and what it was made from.
struct Answer {
    changes: u64,
    generation: i64,
    resolved: Arc<Value>,
    group: Option<PlacementGroup>,
    facts: Arc<ClassFacts>,
    instance_types: Arc<[InstanceType]>,
}

impl Offers {
    /// Nothing is known yet but the price file.
    ///
    /// # Errors
    /// The price file cannot be used.
    pub(crate) fn new(context: Context) -> Result<Self, PriceFileError> {
        let file = context.settings.price_file.as_deref().map(price_file::load).transpose()?;
        let prices = Prices { file: file.unwrap_or_default(), ..Prices::default() };
        let changes: Arc<Changes> = Arc::default();
        Ok(Self {
            context,
            unavailable: Arc::new(Unavailable::new(changes.clone())),
            reservations: Arc::new(ReservationCounts::new(changes.clone())),
            memory: DiscoveredMemory::new(changes.clone()),
            changes,
            stock: RwLock::default(),
            prices: RwLock::new(Arc::new(prices)),
            answers: Mutex::default(),
        })
    }

    /// What is out of stock, for those who find out.
    pub(crate) fn unavailable(&self) -> &Arc<Unavailable> {
        &self.unavailable
    }

    /// What is left of reservations, for those who use them.
    pub(crate) fn reservations(&self) -> &Arc<ReservationCounts> {
        &self.reservations
    }

    /// What is announced about an instance tells of those like it: spot capacity that is taken back
    /// is short, and a reservation that takes its instances back takes no new ones.
    pub(crate) fn hear(&self, announced: &AnnouncedInstance) {
        let label = |key: &str| announced.labels.get(key).map_or("", String::as_str);
        match announced.kind {
            NoticeKind::SpotInterrupted => {
                let (name, zone) = (label(well_known::INSTANCE_TYPE), label(well_known::ZONE));
                self.unavailable.mark_offering(well_known::SPOT, name, zone, None);
            }
            NoticeKind::CapacityReservationInterrupted => {
                self.reservations.exhausted(label(aws::CAPACITY_RESERVATION_ID));
            }
            NoticeKind::RebalanceRecommendation
            | NoticeKind::InstanceStopped
            | NoticeKind::InstanceTerminated
            | NoticeKind::ScheduledChange
            | NoticeKind::EventStatus
            | NoticeKind::InstanceStatus
            | NoticeKind::SystemStatus
            | NoticeKind::LifecycleTermination
            | NoticeKind::LifecycleLaunch
            | NoticeKind::Withdrawn => {}
        }
    }

    /// A node was seen, with the claim it is of.
    pub(crate) fn see(&self, node: &Node, claim: &Claim) {
        self.memory.see(node, claim);
    }

    /// Comes when anything has changed since this was called.
    pub(crate) fn changed(&self) -> impl Future<Output = ()> + Send + use<> {
        self.changes.next()
    }

    /// What nodes of a class can be made of, in its placement group as that was last known. Asked
    /// again before anything has changed, it is the same list.
    pub(crate) fn of(
        &self,
        class: &NodeClass,
        group: Option<PlacementGroup>,
    ) -> Result<Arc<[InstanceType]>, Failure> {
        // One at a time: pools of one class all ask at once, and share the answer.
        let mut answers = self.answers();
        let changes = self.changes.count();
        let known = answers.get(&class.key).filter(|answer| {
            answer.changes == changes
                && answer.generation == class.meta.generation
                && answer.resolved == class.status.resolved
                && answer.group == group
        });
        if let Some(answer) = known {
            return Ok(answer.instance_types.clone());
        }
        let stock = read(&self.stock);
        if stock.is_empty() {
            return Err(not_yet("EC2 has not said what it sells"));
        }
        let object = crate::node_class::read(class).map_err(|error| Failure::Invalid {
            message: format!("EC2NodeClass {}: {error}", class.key.name),
        })?;
        if object.spec.placement_group_selector.is_some() && group.is_none() {
            return Err(not_yet("the placement group has not been found"));
        }
        let made_from = MadeFrom {
            settings: self.settings(&object, group.as_ref()),
            kubelet: object.spec.kubelet.as_ref(),
            images: launch_template::asked(object.status.as_ref()),
            zones: node_class::zones(&object),
        };
        let facts = answers.values().find(|it| it.facts.are_of(&stock, &made_from));
        let facts = facts.map(|it| it.facts.clone()).unwrap_or_else(|| {
            let facts = ClassFacts::new(&self.context.cluster.region, stock, made_from);
            log_without_image(&class.key.name, &facts.without_image);
            Arc::new(facts)
        });
        let last = answers.get(&class.key).map(|answer| answer.instance_types.clone());
        let wanted = ForClass {
            class: &object,
            hash: class.hash.as_deref().unwrap_or_default(),
            group: group.as_ref(),
            last: last.as_deref().unwrap_or_default(),
        };
        let instance_types = self.for_class(&wanted, &facts, &read(&self.prices));
        let (generation, resolved) = (class.meta.generation, class.status.resolved.clone());
        let answer = Answer { changes, generation, resolved, group, facts, instance_types };
        let instance_types = answer.instance_types.clone();
        answers.insert(class.key.clone(), answer);
        Ok(instance_types)
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<NodeClassRef, Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says which types cannot be had for want of an image: pods that need one of them wait.
fn log_without_image(class: &str, types: &[String]) {
    if let [first, ..] = types {
        let types = types.len();
        info!(
            class,
            types,
            such_as = first,
            "no image of the EC2NodeClass runs on these instance types; see its status.amis"
        );
    }
}

fn not_yet(what: &str) -> Failure {
    Failure::Unavailable { message: format!("{what} yet") }
}

/// What is there now.
fn read<T>(cell: &RwLock<Arc<T>>) -> Arc<T> {
    cell.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Replaces what is there; whether it is something else now.
fn replace<T: PartialEq>(cell: &RwLock<Arc<T>>, new: T) -> bool {
    let mut cell = cell.write().unwrap_or_else(PoisonError::into_inner);
    let is_new = **cell != new;
    if is_new {
        *cell = Arc::new(new);
    }
    is_new
}
