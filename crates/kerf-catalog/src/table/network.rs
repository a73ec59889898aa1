//! Tables of what no EC2 call says about a type's network.

use super::TableError;
use super::line::lines;
use crate::shape::VpcLimits;

/// Reads the limits of the VPC: a type, addresses of an interface, branch interfaces a line, in the
/// order of the types' names.
///
/// # Errors
/// A line is not of that form, or names do not ascend.
pub fn read_limits(text: &str) -> Result<Vec<(&str, VpcLimits)>, TableError> {
    let lines = lines::<3>(text, "type,ipv4_per_interface,branch_interfaces")?;
    lines
        .map(|line| {
            let line = line?;
            let limits = VpcLimits {
                ipv4_per_interface: line.number(1, "ipv4_per_interface")?,
                branch_interfaces: line.number(2, "branch_interfaces")?,
            };
            Ok((line.name(), limits))
        })
        .collect()
}

/// Reads baseline bandwidths: a type and megabits per second a line, in the order of the
/// types' names.
///
/// # Errors
/// A line is not of that form, or names do not ascend.
pub fn read_bandwidth(text: &str) -> Result<Vec<(&str, u32)>, TableError> {
    let lines = lines::<2>(text, "type,baseline_mbps")?;
    lines
        .map(|line| {
            let line = line?;
            Ok((line.name(), line.number(1, "baseline_mbps")?))
        })
        .collect()
}
