//! Names of the resources AWS instances have beyond those of every node.

/// NVIDIA's GPUs.
pub const NVIDIA_GPU: &str = "nvidia.com/gpu";
/// AMD's GPUs.
pub const AMD_GPU: &str = "amd.com/gpu";
/// Habana's accelerators.
pub const GAUDI: &str = "habana.ai/gaudi";
/// AWS's own accelerators.
pub const NEURON: &str = "aws.amazon.com/neuron";
/// The cores of AWS's own accelerators.
pub const NEURON_CORE: &str = "aws.amazon.com/neuroncore";
/// Branch network interfaces, for pods with security groups of their own.
pub const POD_ENI: &str = "vpc.amazonaws.com/pod-eni";
/// Elastic Fabric Adapters.
pub const EFA: &str = "vpc.amazonaws.com/efa";
/// Addresses for pods on Windows.
pub const PRIVATE_IPV4_ADDRESS: &str = "vpc.amazonaws.com/PrivateIPv4Address";
