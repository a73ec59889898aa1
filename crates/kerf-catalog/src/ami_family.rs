//! Families of machine images and what sets them apart for capacity.

use kerf_model::quantity::Quantity;

const GIB: i64 = 1 << 30;

/// A family of machine images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AmiFamily {
    /// Amazon Linux 2.
    Al2,
    /// Amazon Linux 2023.
    #[default]
    Al2023,
    /// Bottlerocket.
    Bottlerocket,
    /// Windows Server 2019.
    Windows2019,
    /// Windows Server 2022.
    Windows2022,
    /// Windows Server 2025.
    Windows2025,
    /// An image nothing is known about.
    Custom,
}

/// A device that holds pods' scratch storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EphemeralDevice {
    /// The device name in block device mappings.
    pub name: &'static str,
    /// Its size where the node class does not give one.
    pub default_size: Quantity,
}

impl AmiFamily {
    /// Every family.
    pub const ALL: [AmiFamily; 7] = [
        AmiFamily::Al2,
        AmiFamily::Al2023,
        AmiFamily::Bottlerocket,
        AmiFamily::Windows2019,
        AmiFamily::Windows2022,
        AmiFamily::Windows2025,
        AmiFamily::Custom,
    ];

    /// The family of that name in a node class, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<AmiFamily> {
        AmiFamily::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The name in a node class.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            AmiFamily::Al2 => "AL2",
            AmiFamily::Al2023 => "AL2023",
            AmiFamily::Bottlerocket => "Bottlerocket",
            AmiFamily::Windows2019 => "Windows2019",
            AmiFamily::Windows2022 => "Windows2022",
            AmiFamily::Windows2025 => "Windows2025",
            AmiFamily::Custom => "Custom",
        }
    }

    /// The build of the Windows kernel, for Windows.
    #[must_use]
    pub const fn windows_build(self) -> Option<&'static str> {
        match self {
            AmiFamily::Windows2019 => Some("10.0.17763"),
            AmiFamily::Windows2022 => Some("10.0.20348"),
            AmiFamily::Windows2025 => Some("10.0.26100"),
            _ => None,
        }
    }

    /// Whether nodes run Windows.
    #[must_use]
    pub const fn is_windows(self) -> bool {
        self.windows_build().is_some()
    }

    /// Whether, by default, a node holds as many pods as its network interfaces have addresses.
    #[must_use]
    pub const fn limits_pods_by_interfaces(self) -> bool {
        !self.is_windows()
    }

    /// Whether `podsPerCore` counts.
    #[must_use]
    pub const fn honours_pods_per_core(self) -> bool {
        !matches!(self, AmiFamily::Bottlerocket)
    }

    /// Whether the memory kept for the kubelet follows the pods the interfaces allow, whatever
    /// `maxPods` says.
    #[must_use]
    pub const fn reserves_memory_by_interfaces(self) -> bool {
        matches!(self, AmiFamily::Al2 | AmiFamily::Al2023 | AmiFamily::Custom)
    }

    /// Where pods' scratch storage lives; unknown for custom images.
    #[must_use]
    pub const fn ephemeral_device(self) -> Option<EphemeralDevice> {
        let (name, gib) = match self {
            AmiFamily::Al2 | AmiFamily::Al2023 => ("/dev/xvda", 20),
            AmiFamily::Bottlerocket => ("/dev/xvdb", 20),
            AmiFamily::Windows2019 | AmiFamily::Windows2022 | AmiFamily::Windows2025 => {
                ("/dev/sda1", 50)
            }
            AmiFamily::Custom => return None,
        };
        Some(EphemeralDevice { name, default_size: Quantity::from_bytes(gib * GIB) })
    }
}
