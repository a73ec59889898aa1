//! The table of shapes: one type a line.

use super::TableError;
use super::line::{Line, lines};
use crate::shape::{
    Accelerator, Architecture, Gpu, Hypervisor, InstanceStorage, Network, NetworkFacts, Neuron,
    PlacementStrategy, Shape, Usage,
};

const HEADER: &str = "type,arch,vcpus,memory_mib,maker,clock_mhz,hypervisor,usage,traits,\
    placement,ebs_mbps,storage_gb,ipv4_per_interface,cards,default_card,efa_interfaces,gpus,\
    neurons,accelerators";

type Row<'a> = Line<'a, 19>;

/// What is either there or not.
#[derive(Default)]
struct Traits {
    nvme: bool,
    ena: bool,
    encryption: bool,
    enclaves: bool,
    nested: bool,
}

/// Reads shapes; what EC2 does not say about the network stays unknown.
///
/// # Errors
/// A line is not of the table's form, or names do not ascend.
pub fn read_shapes(text: &str) -> Result<Vec<Shape>, TableError> {
    lines(text, HEADER)?.map(|row| shape(&row?)).collect()
}

fn shape(row: &Row<'_>) -> Result<Shape, TableError> {
    let traits = traits(row)?;
    let storage = row.maybe_number(11, "storage_gb")?;
    Ok(Shape {
        name: row.name().to_owned(),
        architecture: row.read(1, "arch", "amd64 or arm64", architecture)?,
        vcpus: row.number(2, "vcpus")?,
        memory_mib: row.number(3, "memory_mib")?,
        cpu_maker: row.text(4).to_owned(),
        clock_mhz: row.number(5, "clock_mhz")?,
        hypervisor: row.read(6, "hypervisor", "nitro, xen or nothing", hypervisor)?,
        usage: usage(row)?,
        has_enclaves: traits.enclaves,
        has_nested_virtualization: traits.nested,
        placement: row.list(9, "placement", "cluster, partition, spread", placement)?,
        ebs_mbps: row.maybe_number(10, "ebs_mbps")?,
        instance_storage: storage
            .map(|total_gb| InstanceStorage { total_gb, is_nvme: traits.nvme }),
        network: network(row, &traits)?,
        gpus: row.list(16, "gpus", "maker/name/count/memory", gpu)?,
        neurons: row.list(17, "neurons", "name/count/cores", neuron)?,
        accelerators: row.list(18, "accelerators", "maker/name/count", accelerator)?,
    })
}

fn traits(row: &Row<'_>) -> Result<Traits, TableError> {
    let expected = "nvme, ena, encryption, enclaves, nested";
    let mut traits = Traits::default();
    for word in row.list(8, "traits", expected, Some)? {
        match word {
            "nvme" => traits.nvme = true,
            "ena" => traits.ena = true,
            "encryption" => traits.encryption = true,
            "enclaves" => traits.enclaves = true,
            "nested" => traits.nested = true,
            _ => return row.read(8, "traits", expected, |_| None),
        }
    }
    Ok(traits)
}

fn usage(row: &Row<'_>) -> Result<Usage, TableError> {
    let expected = "on-demand, spot, capacity-block";
    let mut usage = Usage::default();
    for word in row.list(7, "usage", expected, Some)? {
        match word {
            "on-demand" => usage.on_demand = true,
            "spot" => usage.spot = true,
            "capacity-block" => usage.capacity_block = true,
            _ => return row.read(7, "usage", expected, |_| None),
        }
    }
    Ok(usage)
}

fn network(row: &Row<'_>, traits: &Traits) -> Result<Network, TableError> {
    let interfaces_by_card =
        row.list(13, "cards", "interfaces of each card", |n| n.parse().ok())?;
    let default_card = row.read(14, "default_card", "the number of a card", |text| {
        text.parse().ok().filter(|card| *card < interfaces_by_card.len())
    })?;
    Ok(Network {
        ipv4_per_interface: row.number(12, "ipv4_per_interface")?,
        interfaces_by_card,
        default_card,
        efa_interfaces: row.maybe_number(15, "efa_interfaces")?,
        has_ena: traits.ena,
        encrypts_in_transit: traits.encryption,
        facts: NetworkFacts::default(),
    })
}

fn architecture(text: &str) -> Option<Architecture> {
    [Architecture::Amd64, Architecture::Arm64].into_iter().find(|arch| arch.label() == text)
}

fn hypervisor(text: &str) -> Option<Option<Hypervisor>> {
    match text {
        "nitro" => Some(Some(Hypervisor::Nitro)),
        "xen" => Some(Some(Hypervisor::Xen)),
        "" => Some(None),
        _ => None,
    }
}

fn placement(text: &str) -> Option<PlacementStrategy> {
    match text {
        "cluster" => Some(PlacementStrategy::Cluster),
        "partition" => Some(PlacementStrategy::Partition),
        "spread" => Some(PlacementStrategy::Spread),
        _ => None,
    }
}

fn gpu(text: &str) -> Option<Gpu> {
    let [maker, name, count, memory_mib] = parts(text)?;
    Some(Gpu {
        maker: maker.to_owned(),
        name: name.to_owned(),
        count: count.parse().ok()?,
        memory_mib: memory_mib.parse().ok()?,
    })
}

fn neuron(text: &str) -> Option<Neuron> {
    let [name, count, cores] = parts(text)?;
    Some(Neuron { name: name.to_owned(), count: count.parse().ok()?, cores: cores.parse().ok()? })
}

fn accelerator(text: &str) -> Option<Accelerator> {
    let [maker, name, count] = parts(text)?;
    Some(Accelerator { maker: maker.to_owned(), name: name.to_owned(), count: count.parse().ok()? })
}

fn parts<const N: usize>(text: &str) -> Option<[&str; N]> {
    text.split('/').collect::<Vec<_>>().try_into().ok()
}
