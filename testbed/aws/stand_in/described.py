"""An instance as DescribeInstances describes it."""

from moto.core.utils import utcnow


def describe(instance):
    """Everything EC2 says of an instance that a caller might read."""
    launched = getattr(instance, "launched", {})
    data = launched.get("data", {})
    backend = instance.ec2_backend
    answer = {
        "InstanceId": instance.id,
        "ImageId": instance.image_id,
        "InstanceType": instance.instance_type,
        "State": {"Code": instance.state_code, "Name": instance.state},
        "StateReason": {
            "Code": instance.state_reason.code,
            "Message": instance.state_reason.message,
        },
        "StateTransitionReason": instance._reason or "",
        "LaunchTime": instance.launch_time or utcnow(),
        "Placement": placement(instance, data),
        "PrivateDnsName": instance.private_dns_name,
        "PrivateIpAddress": instance.private_ip,
        "PublicDnsName": instance.public_dns_name or "",
        "PublicIpAddress": instance.public_ip,
        "SubnetId": instance.subnet_id,
        "VpcId": instance.vpc_id,
        "Architecture": instance.architecture,
        "Monitoring": {"State": instance.monitoring_state},
        "Tags": [
            {"Key": key, "Value": value}
            for key, value in backend.tags.get(instance.id, {}).items()
        ],
        "SecurityGroups": [
            {"GroupId": group.id, "GroupName": group.name} for group in instance.security_groups
        ],
        "BlockDeviceMappings": [device(name, of) for name, of in instance.get_block_device_mapping],
        "NetworkInterfaces": [interface(instance, one) for one in instance.nics.values()],
        "MetadataOptions": metadata_options(instance.metadata_options),
        "ClientToken": instance.client_token or "",
        "AmiLaunchIndex": instance.ami_launch_index,
        "EbsOptimized": bool(instance.ebs_optimized),
        "EnaSupport": True,
        "Hypervisor": "xen",
        "RootDeviceName": instance.root_device_name,
        "RootDeviceType": "ebs",
        "VirtualizationType": "hvm",
        "KeyName": instance.key_name,
        "SourceDestCheck": instance.source_dest_check,
    }
    answer.update(of_the_launch(instance, launched, data))
    return {name: value for name, value in answer.items() if value is not None}


def of_the_launch(instance, launched, data):
    """What only instances of a fleet have."""
    found = {}
    profile = launched.get("profile") or profile_of(instance)
    if profile is not None:
        found["IamInstanceProfile"] = {"Arn": profile.arn, "Id": profile.id}
    if instance.lifecycle == "spot":
        found["InstanceLifecycle"] = "spot"
        found["SpotInstanceRequestId"] = launched.get("spot_request")
    if instance.platform == "windows":
        found["Platform"] = "windows"
    asked = data.get("CapacityReservationSpecification")
    if asked:
        target = asked.get("CapacityReservationTarget")
        found["CapacityReservationSpecification"] = {
            "CapacityReservationPreference": asked.get("CapacityReservationPreference") or "open",
            **({"CapacityReservationTarget": target} if target else {}),
        }
    reservation = launched.get("reservation")
    if reservation:
        found["CapacityReservationId"] = reservation["CapacityReservationId"]
        if reservation["ReservationType"] == "capacity-block":
            found["InstanceLifecycle"] = "capacity-block"
        elif reservation.get("Interruptible"):
            found["InstanceLifecycle"] = "interruptible-capacity-reservation"
    for name in ("CpuOptions", "EnclaveOptions", "HibernationOptions", "PrivateDnsNameOptions"):
        if data.get(name):
            found[name] = data[name]
    return found


def profile_of(instance):
    """The profile that moto has associated with an instance of its own."""
    association = instance.ec2_backend.iam_instance_profile_associations.get(instance.id)
    return association.iam_instance_profile if association else None


def placement(instance, data):
    """Where an instance runs; moto gives no zone id and drops what the template says."""
    asked = data.get("Placement") or {}
    zones = instance.ec2_backend.describe_availability_zones()
    ids = {zone.name: zone.zone_id for zone in zones}
    found = {
        "AvailabilityZone": instance.availability_zone,
        "AvailabilityZoneId": ids.get(instance.availability_zone),
        "Tenancy": asked.get("Tenancy") or "default",
        "GroupName": asked.get("GroupName") or "",
    }
    for name in ("GroupId", "PartitionNumber", "HostId"):
        if asked.get(name) is not None:
            found[name] = asked[name]
    return found


def device(name, of):
    """One volume of an instance."""
    return {
        "DeviceName": name,
        "Ebs": {
            "VolumeId": of.volume_id,
            "Status": "attached",
            "AttachTime": of.attach_time,
            "DeleteOnTermination": of.delete_on_termination,
        },
    }


def interface(instance, made):
    """One network interface of an instance."""
    asked = getattr(made, "asked", {})
    kind = getattr(made, "interface_type", "interface")
    found = {
        "NetworkInterfaceId": made.id,
        "SubnetId": made.subnet.id,
        "VpcId": made.subnet.vpc_id,
        "MacAddress": made.mac_address,
        "Status": "in-use",
        "InterfaceType": kind,
        "Groups": [{"GroupId": one.id, "GroupName": one.name} for one in made.group_set],
        "Attachment": {
            "AttachmentId": made.attachment_id,
            "DeviceIndex": asked.get("DeviceIndex", made.device_index),
            "NetworkCardIndex": asked.get("NetworkCardIndex") or 0,
            "DeleteOnTermination": bool(made.delete_on_termination),
            "Status": "attached",
        },
        "Ipv6Addresses": [
            {"Ipv6Address": one, "IsPrimaryIpv6": bool(asked.get("PrimaryIpv6"))}
            for one in made.ipv6_addresses
        ],
    }
    if made.private_ip_addresses:
        found["PrivateIpAddress"] = made.private_ip_address
        found["PrivateIpAddresses"] = [
            {"Primary": True, "PrivateIpAddress": made.private_ip_address}
        ]
    if asked.get("ConnectionTrackingSpecification"):
        found["ConnectionTrackingConfiguration"] = asked["ConnectionTrackingSpecification"]
    for field, count, item in (
        ("Ipv4Prefixes", "Ipv4PrefixCount", "Ipv4Prefix"),
        ("Ipv6Prefixes", "Ipv6PrefixCount", "Ipv6Prefix"),
    ):
        if asked.get(count):
            found[field] = [{item: f"prefix-{n}"} for n in range(int(asked[count]))]
    return found


def metadata_options(options):
    """How an instance reaches its metadata."""
    return {
        "State": options.state,
        "HttpTokens": options.http_tokens,
        "HttpPutResponseHopLimit": options.http_put_response_hop_limit,
        "HttpEndpoint": options.http_endpoint,
        "HttpProtocolIpv6": options.http_protocol_ipv6,
        "InstanceMetadataTags": options.instance_metadata_tags,
    }
