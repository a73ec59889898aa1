"""Tags by resource, looked up.

Moto goes through the tags of everything to find those of one thing, which makes a list of a
thousand instances take a minute.
"""

from moto.ec2.models.core import TaggedEC2Resource
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, get_prefix


def install():
    """Every resource of EC2 asks here for its tags."""
    TaggedEC2Resource.get_tags = tags_of


def tags_of(resource):
    """The tags of one resource as moto lists them."""
    kind = EC2_PREFIX_TO_RESOURCE.get(get_prefix(resource.id), "")
    found = resource.ec2_backend.tags.get(resource.id, {}) if resource.id else {}
    return [
        {"resource_id": resource.id, "key": key, "value": value, "resource_type": kind}
        for key, value in found.items()
    ]
