//! Ports that pods take on the node itself.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use thiserror::Error;

/// A port on a node's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostPort {
    ip: IpAddr,
    port: u16,
    protocol: Protocol,
}

/// What speaks on a port.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Protocol {
    /// TCP, also what an omitted protocol means.
    #[default]
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
}

/// A container port that cannot be understood. The pod must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostPortError {
    /// The address is neither IPv4 nor IPv6.
    #[error("hostIP {0:?} is not an IP address")]
    Ip(String),
    /// The port is out of range.
    #[error("hostPort {0} is not between 1 and 65535")]
    Port(i32),
    /// The protocol does not exist.
    #[error("protocol {0:?} is not TCP, UDP or SCTP")]
    Protocol(String),
}

impl HostPort {
    /// A host port. An IPv4 address written as IPv6 is the IPv4 address.
    #[must_use]
    pub fn new(ip: IpAddr, port: u16, protocol: Protocol) -> Self {
        Self { ip: ip.to_canonical(), port, protocol }
    }

    /// Reads a container port; `None` when it takes no port on the node. An empty address is
    /// `0.0.0.0`, an empty protocol TCP.
    ///
    /// # Errors
    /// Address, port or protocol make no sense.
    pub fn parse(host_ip: &str, port: i32, protocol: &str) -> Result<Option<Self>, HostPortError> {
        if port == 0 {
            return Ok(None);
        }
        let port = u16::try_from(port).map_err(|_| HostPortError::Port(port))?;
        let ip = if host_ip.is_empty() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED)
        } else {
            host_ip.parse().map_err(|_| HostPortError::Ip(host_ip.to_owned()))?
        };
        Ok(Some(Self::new(ip, port, protocol.parse()?)))
    }

    /// The number of the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether both cannot be taken on one node. An unspecified address (`0.0.0.0` or `::`) takes
    /// the port on every address, of either family.
    #[must_use]
    pub fn clashes(&self, other: &Self) -> bool {
        self.protocol == other.protocol
            && self.port == other.port
            && (self.ip == other.ip || self.ip.is_unspecified() || other.ip.is_unspecified())
    }
}

impl FromStr for Protocol {
    type Err = HostPortError;

    fn from_str(text: &str) -> Result<Self, HostPortError> {
        match text {
            "" | "TCP" => Ok(Self::Tcp),
            "UDP" => Ok(Self::Udp),
            "SCTP" => Ok(Self::Sctp),
            _ => Err(HostPortError::Protocol(text.to_owned())),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Sctp => "SCTP",
        })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} on {}", self.port, self.protocol, self.ip)
    }
}

/// The host ports taken on one node, by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPortUsage<Owner> {
    // Most nodes have no host ports at all and the others a few, so a sorted map of short lists.
    taken: BTreeMap<Owner, SmallVec<[HostPort; 2]>>,
}

impl<Owner: Ord + Copy> HostPortUsage<Owner> {
    /// Nothing taken.
    #[must_use]
    pub fn new() -> Self {
        Self { taken: BTreeMap::new() }
    }

    /// Whether nothing is taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Records all ports of `owner`, forgetting those it had before.
    pub fn take(&mut self, owner: Owner, ports: &[HostPort]) {
        if ports.is_empty() {
            self.taken.remove(&owner);
        } else {
            self.taken.insert(owner, SmallVec::from_slice(ports));
        }
    }

    /// Frees every port of `owner`.
    pub fn free(&mut self, owner: Owner) {
        self.taken.remove(&owner);
    }

    /// The first of `ports` that somebody else has taken, with the port and the owner it clashes
    /// with. An owner never clashes with itself.
    #[must_use]
    pub fn clash(&self, owner: Owner, ports: &[HostPort]) -> Option<Clash<Owner>> {
        ports.iter().find_map(|wanted| {
            let others = self.taken.iter().filter(|(other, _)| **other != owner);
            others.into_iter().find_map(|(by, taken)| {
                let taken = *taken.iter().find(|taken| taken.clashes(wanted))?;
                Some(Clash { wanted: *wanted, taken, by: *by })
            })
        })
    }
}

impl<Owner: Ord + Copy> Default for HostPortUsage<Owner> {
    fn default() -> Self {
        Self::new()
    }
}

/// Two host ports that cannot be on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clash<Owner> {
    /// The port that was asked for.
    pub wanted: HostPort,
    /// The port that is taken.
    pub taken: HostPort,
    /// Who took it.
    pub by: Owner,
}
