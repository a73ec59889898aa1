"""DescribeInstances and TerminateInstances.

Moto answers 500 to an id that comes twice, gives no zone ids, and ends instances at once.
"""

import fnmatch
import time

from moto.autoscaling import autoscaling_backends
from moto.ec2.responses import EC2Response
from moto.elbv2 import elbv2_backends

from . import life
from .answer import Answer
from .described import describe
from .refusal import Refused
from .state import SETTINGS

PAGE_MAX = 1000


def install():
    """Reading and ending are ours; launching by RunInstances stays with moto."""
    EC2Response.describe_instances = describe_instances
    EC2Response.terminate_instances = terminate_instances


def all_instances(backend):
    """Every instance of an account and region that EC2 still knows."""
    for reservation in list(backend.reservations.values()):
        yield from reservation.instances


def is_visible(instance):
    """Whether an instance is described already: for a while after its launch it is not."""
    began_at = getattr(instance, "began_at", 0)
    return time.time() - began_at >= SETTINGS["describe_lag_seconds"]


def find(backend, ids):
    """The instances of these ids, each once; EC2 refuses all if one is unknown."""
    known = {one.id: one for one in all_instances(backend) if is_visible(one)}
    wanted = list(dict.fromkeys(ids))
    unknown = [one for one in wanted if one not in known]
    if unknown:
        many = len(unknown) > 1
        text = f"The instance ID{'s' if many else ''} '{', '.join(unknown)}' "
        raise Refused("InvalidInstanceID.NotFound", text + f"do{'' if many else 'es'} not exist")
    return [known[one] for one in wanted]


def describe_instances(response):
    """One page of descriptions, each instance in a reservation of its own."""
    ids = response._get_param("InstanceIds", [])
    if ids and response._get_param("MaxResults"):
        text = "The parameter instancesSet cannot be used with the parameter maxResults"
        raise Refused("InvalidParameterCombination", text)
    filters = response._filters_from_querystring()
    backend = response.ec2_backend
    found = find(backend, ids) if ids else [i for i in all_instances(backend) if is_visible(i)]
    found = [one for one in found if all(matches(one, *each) for each in filters.items())]
    start = int(response._get_param("NextToken") or 0)
    count = int(response._get_param("MaxResults") or (len(found) if ids else PAGE_MAX) or 1)
    page = [
        {
            "ReservationId": f"r-{one.id.removeprefix('i-')}",
            "OwnerId": one.owner_id,
            "Instances": [describe(one)],
        }
        for one in found[start : start + count]
    ]
    more = str(start + count) if start + count < len(found) else None
    return Answer({"Reservations": page, "NextToken": more})


def matches(instance, name, wanted):
    """Whether an instance is one that a filter lets through. Values may hold * and ?."""
    have = value_of(instance, name)
    have = have if isinstance(have, list) else [have]
    return any(
        one is not None and fnmatch.fnmatchcase(str(one), str(want))
        for one in have
        for want in wanted
    )


def value_of(instance, name):
    """What a filter of that name looks at."""
    tags = instance.ec2_backend.tags.get(instance.id, {})
    if name.startswith("tag:"):
        return tags.get(name.removeprefix("tag:"))
    read = FILTERS.get(name)
    if read is None:
        raise Refused("InvalidParameterValue", f"The filter '{name}' is invalid")
    return read(instance, tags)


def of_launch(instance, name):
    """Something that only an instance of a fleet has."""
    return getattr(instance, "launched", {}).get(name)


FILTERS = {
    "tag-key": lambda _, tags: list(tags),
    "tag-value": lambda _, tags: list(tags.values()),
    "instance-id": lambda one, _: one.id,
    "instance-state-name": lambda one, _: one.state,
    "instance-state-code": lambda one, _: one.state_code,
    "instance-type": lambda one, _: one.instance_type,
    "instance-lifecycle": lambda one, _: one.lifecycle,
    "image-id": lambda one, _: one.image_id,
    "availability-zone": lambda one, _: one.availability_zone,
    "subnet-id": lambda one, _: one.subnet_id,
    "vpc-id": lambda one, _: one.vpc_id,
    "private-dns-name": lambda one, _: one.private_dns_name,
    "private-ip-address": lambda one, _: one.private_ip,
    "architecture": lambda one, _: one.architecture,
    "client-token": lambda one, _: one.client_token,
    "key-name": lambda one, _: one.key_name,
    "owner-id": lambda one, _: one.owner_id,
    "instance.group-id": lambda one, _: [group.id for group in one.security_groups],
    "instance.group-name": lambda one, _: [group.name for group in one.security_groups],
    "spot-instance-request-id": lambda one, _: of_launch(one, "spot_request"),
    "capacity-reservation-id": lambda one, _: (of_launch(one, "reservation") or {}).get(
        "CapacityReservationId"
    ),
}


def terminate_instances(response):
    """Begins to end instances; they are gone a while later."""
    ids = response._get_param("InstanceIds", [])
    if not ids:
        raise Refused("InvalidParameterCombination", "No instances specified")
    found = find(response.ec2_backend, ids)
    for instance in found:
        if instance.disable_api_termination:
            text = f"The instance '{instance.id}' may not be terminated."
            raise Refused("OperationNotPermitted", text)
    changes = [(instance, life.end(instance)) for instance in found]
    for backends in (autoscaling_backends, elbv2_backends):
        backend = backends[response.current_account][response.region]
        backend.notify_terminate_instances([instance.id for instance in found])
    return Answer(
        {
            "TerminatingInstances": [
                {
                    "InstanceId": instance.id,
                    "CurrentState": {"Code": instance.state_code, "Name": instance.state},
                    "PreviousState": {"Code": life.CODES[before], "Name": before},
                }
                for instance, before in changes
            ]
        }
    )
