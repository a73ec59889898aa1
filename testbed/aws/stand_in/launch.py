"""Makes one instance from a launch template and an override, with every field that they name.

Moto's own instances have the fields that RunInstances takes, and of those only some. What EC2
describes beside that is kept in ``instance.launched`` and put into descriptions.
"""

import base64
import ipaddress
import secrets

from moto.ec2.utils import convert_tag_spec
from moto.iam.models import iam_backends

from . import life
from .refusal import Refused
from .state import ACCOUNT

USER_DATA_BYTES_MAX = 16384

# The number of the last address that was given out in each subnet. Going on from there, an address
# comes again only after all others: the name of a node would otherwise recur at once.
LAST_ADDRESS = {}


def check(backend, data, subnet):
    """Refuses what EC2 refuses before it looks for capacity."""
    image = backend.amis.get(data.get("ImageId"))
    if image is None:
        name = data.get("ImageId")
        raise Refused("InvalidAMIID.NotFound", f"The image id '[{name}]' does not exist")
    if data.get("UserData"):
        check_user_data(str(data["UserData"]))
    check_architecture(backend, data, image)
    for group_id in group_ids(data):
        group = backend.get_security_group_from_id(group_id)
        if group is None:
            text = f"The security group '{group_id}' does not exist"
            raise Refused("InvalidGroup.NotFound", text)
        if group.vpc_id != subnet.vpc_id:
            text = f"Security group {group_id} and subnet {subnet.id} belong to different networks."
            raise Refused("InvalidParameter", text)
    profile_of(data)


def check_user_data(user_data):
    """User data is limited before it is encoded."""
    if len(base64.b64decode(user_data)) > USER_DATA_BYTES_MAX:
        text = f"User data is limited to {USER_DATA_BYTES_MAX} bytes"
        raise Refused("InvalidParameterValue", text)


def check_architecture(backend, data, image):
    """An image runs on types of its own architecture."""
    types = [one for one in backend.instance_types if one["InstanceType"] == data["InstanceType"]]
    if not types:
        text = f"The instance type '{data['InstanceType']}' does not exist"
        raise Refused("InvalidInstanceType", text)
    offered = types[0]["ProcessorInfo"]["SupportedArchitectures"]
    if image.architecture not in offered:
        text = (
            f"The architecture '{','.join(offered)}' of the specified instance type does not "
            f"match the architecture '{image.architecture}' of the specified AMI. Specify an "
            f"instance type and an AMI that have matching architectures, and try again."
        )
        raise Refused("InvalidParameterValue", text)


def group_ids(data):
    """The security groups a template names, at the top or with its interfaces."""
    found = list(data.get("SecurityGroupIds") or [])
    for interface in data.get("NetworkInterfaces") or []:
        found.extend(interface.get("Groups") or [])
    return list(dict.fromkeys(found))


def profile_of(data):
    """The instance profile a template names; None if it names none."""
    asked = data.get("IamInstanceProfile") or {}
    name = asked.get("Name") or (asked.get("Arn") or "").split("/")[-1]
    if not name:
        return None
    for profile in iam_backends[ACCOUNT]["aws"].instance_profiles.values():
        if profile.name == name:
            return profile
    text = (
        f"Value ({name}) for parameter iamInstanceProfile.name is invalid. "
        f"Invalid IAM Instance Profile name"
    )
    raise Refused("InvalidParameterValue", text)


def start(backend, data, subnet, how):
    """Starts an instance. ``how`` says by which fleet, template, lifecycle and reservation."""
    tags = convert_tag_spec(data.get("TagSpecifications") or [])
    reservation = backend.run_instances(
        data["ImageId"],
        1,
        data.get("UserData"),
        [],
        instance_type=data["InstanceType"],
        # Moto then looks through no offerings; the fleet has done so.
        is_instance_type_default=True,
        region_name=backend.region_name,
        subnet_id=subnet.id,
        private_ip=next_address(subnet),
        nics=moto_interfaces(data, subnet),
        block_device_mappings=volumes(data),
        key_name=data.get("KeyName"),
        ebs_optimized=data.get("EbsOptimized") or False,
        monitoring_state="enabled" if monitored(data) else "disabled",
        metadata_options=data.get("MetadataOptions") or {},
        tags={
            "instance": {**tags.get("instance", {}), **how["instance_tags"]},
            "volume": {**tags.get("volume", {}), **how["volume_tags"]},
        },
        client_token=how.get("client_token"),
    )
    instance = reservation.instances[0]
    instance.security_groups = [backend.get_security_group_from_id(i) for i in group_ids(data)]
    instance.lifecycle = "spot" if how["lifecycle"] == "spot" else None
    instance.launched = {"data": data, "profile": profile_of(data), **how}
    if how["lifecycle"] == "spot":
        request_id = f"sir-{secrets.token_hex(4)}"
        instance.launched["spot_request"] = request_id
        backend.create_tags([request_id], tags.get("spot-instances-request", {}))
    finish_interfaces(backend, instance, data, tags.get("network-interface", {}))
    finish_volumes(instance, data)
    life.began(instance)
    return instance


def monitored(data):
    """Whether detailed monitoring is on."""
    return bool((data.get("Monitoring") or {}).get("Enabled"))


def volumes(data):
    """The block devices as moto reads them. Volumes made at a launch go with their instance."""
    found = []
    for device in data.get("BlockDeviceMappings") or []:
        if "Ebs" in device:
            ebs = {"DeleteOnTermination": True, **device["Ebs"]}
            found.append({"DeviceName": device["DeviceName"], "Ebs": ebs})
    return found or [
        {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 8, "DeleteOnTermination": True}}
    ]


def finish_volumes(instance, data):
    """Puts on volumes what moto does not take at a launch."""
    by_name = {device["DeviceName"]: device["Ebs"] for device in volumes(data)}
    for name, device in instance.get_block_device_mapping:
        volume = instance.ec2_backend.volumes[device.volume_id]
        volume.iops = by_name[name].get("Iops")
        volume.throughput = by_name[name].get("Throughput")


def moto_interfaces(data, subnet):
    """The interfaces as moto reads them: numbered in order, since it has no network cards."""
    found = []
    for number, interface in enumerate(data.get("NetworkInterfaces") or [{}]):
        one = {
            "DeviceIndex": number,
            "SubnetId": subnet.id,
            "Groups": list(interface.get("Groups") or data.get("SecurityGroupIds") or []),
            "DeleteOnTermination": True,
        }
        if interface.get("AssociatePublicIpAddress") is not None:
            one["AssociatePublicIpAddress"] = interface["AssociatePublicIpAddress"]
        if number > 0:
            one["PrivateIpAddress"] = next_address(subnet)
        found.append(one)
    return found


def finish_interfaces(backend, instance, data, tags):
    """Puts on interfaces what moto does not know: cards, kinds, IPv6, prefixes, tags."""
    asked = data.get("NetworkInterfaces") or [{}]
    for number, interface in enumerate(asked):
        made = instance.nics[number]
        made.asked = interface
        made.interface_type = interface.get("InterfaceType") or "interface"
        if made.interface_type == "efa-only":
            made.private_ip_addresses = []
        count = int(interface.get("Ipv6AddressCount") or 0)
        host = int(made.id.removeprefix("eni-")[:8], 16)
        made.ipv6_addresses = [
            str(ipaddress.IPv6Address("2600:1f18::") + (host << 8) + n + 1) for n in range(count)
        ]
        backend.create_tags([made.id], tags)


def next_address(subnet):
    """An address nobody has, the one used longest ago."""
    network = subnet.cidr
    first, size = 4, network.num_addresses - 5
    for _ in range(size):
        number = LAST_ADDRESS.get(subnet.id, -1) + 1
        LAST_ADDRESS[subnet.id] = number
        address = str(network.network_address + first + number % size)
        if address not in subnet._subnet_ips:
            return address
    raise no_addresses(subnet)


def no_addresses(subnet):
    """What EC2 says of a subnet that is full."""
    text = f"There are not enough free addresses in subnet '{subnet.id}' to satisfy the request."
    return Refused("InsufficientFreeAddressesInSubnet", text)
