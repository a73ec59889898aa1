//! Whether instances of a type can be what a node class asks for.

use thiserror::Error;

use crate::ami_family::AmiFamily;
use crate::name::name_parts;
use crate::settings::NodeClassSettings;
use crate::shape::{Hypervisor, Shape};

/// Why no instance of a type can serve a node class. Its offerings are then unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum Incompatibility {
    /// Configured network interfaces need enhanced networking.
    #[error("the node class configures network interfaces, but the type has no ENA support")]
    NoEna,
    /// An interface is on a card the type does not have.
    #[error("network card {card} is configured, but the type has only {cards}")]
    NoSuchCard {
        /// The number asked for.
        card: u32,
        /// How many there are.
        cards: usize,
    },
    /// An interface is at a place its card does not have.
    #[error("device {device} of network card {card} is configured, but it takes only {places}")]
    NoSuchDevice {
        /// The card.
        card: u32,
        /// The place asked for.
        device: u32,
        /// How many places there are.
        places: u32,
    },
    /// There are more fabric interfaces than the type can have.
    #[error("{wanted} EFA-only interfaces are configured, but the type can have {most}")]
    TooManyEfa {
        /// How many are asked for.
        wanted: u32,
        /// How many there can be.
        most: u32,
    },
    /// The image does not run on the processor.
    #[error("AL2023 does not run on the a1 family")]
    A1OnAl2023,
    /// Virtual machines inside the instance are asked for.
    #[error("the type has no nested virtualization")]
    NoNestedVirtualization,
    /// The kind of placement group does not take the type.
    #[error("the type cannot be in a placement group of that strategy")]
    PlacementStrategy,
    /// Connection tracking can be set on Nitro alone.
    #[error("connection tracking can be set on Nitro instances only")]
    ConnectionTrackingNeedsNitro,
}

/// The first reason against a type, if there is one.
#[must_use]
pub fn incompatibility(shape: &Shape, settings: &NodeClassSettings) -> Option<Incompatibility> {
    let against = |is_bad: bool, reason| is_bad.then_some(reason);
    let group = settings.placement_group.as_ref();
    network_incompatibility(shape, settings)
        .or_else(|| {
            let is_a1 = name_parts(&shape.name).family == Some("a1");
            let is_bad = is_a1 && settings.ami_family == AmiFamily::Al2023;
            against(is_bad, Incompatibility::A1OnAl2023)
        })
        .or_else(|| {
            let is_bad = settings.nested_virtualization && !shape.has_nested_virtualization;
            against(is_bad, Incompatibility::NoNestedVirtualization)
        })
        .or_else(|| {
            let is_bad = group.is_some_and(|group| !shape.placement.contains(&group.strategy));
            against(is_bad, Incompatibility::PlacementStrategy)
        })
        .or_else(|| {
            let is_nitro = shape.hypervisor == Some(Hypervisor::Nitro);
            let is_bad = settings.connection_tracking && !is_nitro;
            against(is_bad, Incompatibility::ConnectionTrackingNeedsNitro)
        })
}

fn network_incompatibility(shape: &Shape, settings: &NodeClassSettings) -> Option<Incompatibility> {
    if settings.network_interfaces.is_empty() {
        return None;
    }
    if !shape.network.has_ena {
        return Some(Incompatibility::NoEna);
    }
    let cards = &shape.network.interfaces_by_card;
    for nic in &settings.network_interfaces {
        let (card, device) = (nic.card, nic.device);
        match cards.get(card as usize) {
            None => return Some(Incompatibility::NoSuchCard { card, cards: cards.len() }),
            Some(&places) if places <= device => {
                return Some(Incompatibility::NoSuchDevice { card, device, places });
            }
            Some(_) => {}
        }
    }
    let wanted = settings.efa_only_interfaces();
    let most = shape.network.efa_interfaces.unwrap_or(0);
    (wanted > most).then_some(Incompatibility::TooManyEfa { wanted, most })
}
