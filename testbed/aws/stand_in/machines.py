"""What whoever plays the kubelets has to know of instances, change by change."""

from moto.ec2.models import ec2_backends
from moto.ec2.models.instance_types import INSTANCE_TYPES

from . import user_data
from .instances import all_instances
from .state import ACCOUNT


def changed_since(region, after):
    """Every instance that changed its state after a change of that number, and the last number."""
    found = [
        machine(region, one)
        for one in all_instances(ec2_backends[ACCOUNT][region])
        if getattr(one, "change", 0) > after
    ]
    last = max([after, *(one["change"] for one in found)])
    return {"last": last, "machines": found}


def machine(region, instance):
    """An instance as its own operating system sees it."""
    told = user_data.read(str(instance.user_data or ""))
    shape = INSTANCE_TYPES.get(instance.instance_type, {})
    network = shape.get("NetworkInfo", {})
    interfaces = network.get("MaximumNetworkInterfaces", 3)
    # The network plugin gives every pod an address of an interface, but for the first of each.
    most_pods = interfaces * (network.get("Ipv4AddressesPerInterface", 10) - 1) + 2
    gpus = shape.get("GpuInfo", {}).get("Gpus", [])
    return {
        "id": instance.id,
        "change": instance.change,
        "state": instance.state,
        "region": region,
        "zone": instance.availability_zone,
        "instance_type": instance.instance_type,
        "architecture": "arm64" if instance.architecture == "arm64" else "amd64",
        "os": "windows" if instance.platform == "windows" else "linux",
        "name": instance.private_dns_name,
        "address": instance.private_ip,
        "labels": told["labels"],
        "taints": told["taints"],
        "vcpus": shape.get("VCpuInfo", {}).get("DefaultVCpus", 2),
        "memory_mib": shape.get("MemoryInfo", {}).get("SizeInMiB", 8192),
        "pods": told["max_pods"] or most_pods,
        "nvidia_gpus": sum(g["Count"] for g in gpus if g.get("Manufacturer") == "NVIDIA"),
        "disk_gib": max((v.size for v in volumes(instance)), default=20),
    }


def volumes(instance):
    """The volumes of an instance."""
    known = instance.ec2_backend.volumes
    return [known[d.volume_id] for _, d in instance.get_block_device_mapping if d.volume_id in known]
