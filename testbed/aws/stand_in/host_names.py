"""Names of instances by what their subnet says: after their address, or after their id.

Moto takes no notice of the subnet's setting.
"""

from moto.ec2.models.instances import Instance
from moto.ec2.responses import EC2Response


def install():
    """The subnet's setting is kept, and instances are named by it."""
    modify = EC2Response.modify_subnet_attribute

    def modify_subnet_attribute(response):
        kind = response._get_param("PrivateDnsHostnameTypeOnLaunch")
        if kind:
            subnet = response.ec2_backend.get_subnet(response._get_param("SubnetId"))
            subnet.private_dns_name_options_on_launch["HostnameType"] = kind
        return modify(response)

    EC2Response.modify_subnet_attribute = modify_subnet_attribute
    by_address = Instance.private_dns_name.fget
    Instance.private_dns_name = property(lambda instance: name_of(instance, by_address))


def name_of(instance, by_address):
    """The name of an instance in its VPC, which it keeps for life."""
    if not hasattr(instance, "host_name"):
        subnet = instance.nics[0].subnet
        by_id = subnet.private_dns_name_options_on_launch.get("HostnameType") == "resource-name"
        name = by_address(instance)
        instance.host_name = f"{instance.id}.{name.partition('.')[2]}" if by_id else name
    return instance.host_name
