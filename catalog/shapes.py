"""What each machine has: one line a type, from the stand-in's DescribeInstanceTypes data."""

import gzip
import json

COLUMNS = [
    "type", "arch", "vcpus", "memory_mib", "maker", "clock_mhz", "hypervisor", "usage", "traits",
    "placement", "ebs_mbps", "storage_gb", "ipv4_per_interface", "cards", "default_card",
    "efa_interfaces", "gpus", "neurons", "accelerators",
]

# EC2's word for an architecture and Kubernetes'.
ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}


def read(ec2):
    with gzip.open(ec2 / "instance_types.json.gz") as file:
        return json.load(file)


def usable(machines):
    """Machines that Kubernetes nodes can be: full virtualization, a known architecture."""
    return {
        name: machine
        for name, machine in machines.items()
        if architecture(machine) and "hvm" in machine["SupportedVirtualizationTypes"]
    }


def rows(machines):
    yield ",".join(COLUMNS)
    for name in sorted(machines):
        yield row(name, machines[name])


def row(name, machine):
    processor, network = machine["ProcessorInfo"], machine["NetworkInfo"]
    storage, ebs = machine.get("InstanceStorageInfo", {}), machine["EbsInfo"]
    fields = [
        name,
        architecture(machine),
        machine["VCpuInfo"]["DefaultVCpus"],
        machine["MemoryInfo"]["SizeInMiB"],
        processor["Manufacturer"],
        round(processor.get("SustainedClockSpeedInGhz", 0) * 1000),
        machine.get("Hypervisor", ""),
        "+".join(machine["SupportedUsageClasses"]),
        "+".join(traits(machine)),
        "+".join(machine["PlacementGroupInfo"]["SupportedStrategies"]),
        ebs_bandwidth(ebs),
        storage.get("TotalSizeInGB", ""),
        network["Ipv4AddressesPerInterface"],
        "+".join(map(str, interfaces_by_card(network))),
        network["DefaultNetworkCardIndex"],
        network.get("EfaInfo", {}).get("MaximumEfaInterfaces", ""),
        "+".join(gpus(machine)),
        "+".join(neurons(machine)),
        "+".join(accelerators(machine)),
    ]
    texts = [str(field) for field in fields]
    if any("," in text for text in texts):
        raise ValueError(f"{name}: a field holds a comma: {texts}")
    return ",".join(texts)


def architecture(machine):
    """The first architecture Kubernetes has a word for."""
    known = (ARCHITECTURES.get(a) for a in machine["ProcessorInfo"]["SupportedArchitectures"])
    return next(filter(None, known), None)


def traits(machine):
    network, storage = machine["NetworkInfo"], machine.get("InstanceStorageInfo")
    if storage and storage["NvmeSupport"] != "unsupported":
        yield "nvme"
    if network["EnaSupport"] != "unsupported":
        yield "ena"
    if network["EncryptionInTransitSupported"]:
        yield "encryption"
    if machine["NitroEnclavesSupport"] == "supported":
        yield "enclaves"
    if "nested-virtualization" in machine["ProcessorInfo"].get("SupportedFeatures", []):
        yield "nested"


def ebs_bandwidth(ebs):
    """Only where the machine is EBS-optimized without being asked."""
    if ebs["EbsOptimizedSupport"] != "default":
        return ""
    return ebs["EbsOptimizedInfo"]["MaximumBandwidthInMbps"]


def interfaces_by_card(network):
    cards = sorted(network["NetworkCards"], key=lambda card: card["NetworkCardIndex"])
    if [card["NetworkCardIndex"] for card in cards] != list(range(len(cards))):
        raise ValueError(f"network cards are not numbered from zero: {cards}")
    return [card["MaximumNetworkInterfaces"] for card in cards]


def gpus(machine):
    for gpu in machine.get("GpuInfo", {}).get("Gpus", []):
        memory_mib = gpu["MemoryInfo"]["SizeInMiB"]
        yield f"{gpu['Manufacturer']}/{gpu['Name']}/{gpu['Count']}/{memory_mib}"


def neurons(machine):
    for device in machine.get("NeuronInfo", {}).get("NeuronDevices", []):
        yield f"{device['Name']}/{device['Count']}/{device['CoreInfo']['Count']}"


def accelerators(machine):
    for device in machine.get("InferenceAcceleratorInfo", {}).get("Accelerators", []):
        yield f"{device['Manufacturer']}/{device['Name']}/{device['Count']}"
