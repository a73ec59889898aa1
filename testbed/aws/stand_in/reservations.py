"""Capacity reservations: default ones, capacity blocks, and interruptible ones.

Moto has none. The counts go down with a launch and up again when its instance is gone.
"""

import fnmatch
import secrets

from moto.core.utils import utcnow
from moto.ec2.models import ec2_backends
from moto.ec2.responses import EC2Response

from .answer import Answer
from .refusal import Refused
from .state import ACCOUNT

# By region and id, as DescribeCapacityReservations describes them.
ALL = {}


def install():
    """The one call about reservations that is made."""
    EC2Response.describe_capacity_reservations = describe_capacity_reservations


def create(region, body):
    """Makes a reservation for a test, or changes one; its description."""
    name = body.get("id") or f"cr-{secrets.token_hex(8)}"
    zones = ec2_backends[ACCOUNT][region].describe_availability_zones()
    ids = {zone.name: zone.zone_id for zone in zones}
    count = int(body.get("count", 1))
    made = {
        "CapacityReservationId": name,
        "CapacityReservationArn": f"arn:aws:ec2:{region}:{ACCOUNT}:capacity-reservation/{name}",
        "OwnerId": body.get("owner", ACCOUNT),
        "InstanceType": body["instance_type"],
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZone": body["zone"],
        "AvailabilityZoneId": ids.get(body["zone"], ""),
        "Tenancy": "default",
        "TotalInstanceCount": count,
        "AvailableInstanceCount": int(body.get("available", count)),
        "EbsOptimized": False,
        "EphemeralStorage": False,
        "State": body.get("state", "active"),
        "StartDate": utcnow(),
        "EndDateType": "limited" if body.get("end") else "unlimited",
        "InstanceMatchCriteria": body.get("match", "targeted"),
        "CreateDate": utcnow(),
        "ReservationType": body.get("type", "default"),
        "Interruptible": bool(body.get("interruptible", False)),
        "Tags": [{"Key": k, "Value": v} for k, v in body.get("tags", {}).items()],
    }
    if body.get("end"):
        made["EndDate"] = body["end"]
    ALL[(region, name)] = made
    return made


def delete(region, name):
    """A reservation ends; its instances go on without it."""
    ALL.pop((region, name), None)
    for moto_reservation in ec2_backends[ACCOUNT][region].reservations.values():
        for instance in moto_reservation.instances:
            launched = getattr(instance, "launched", {})
            if (launched.get("reservation") or {}).get("CapacityReservationId") == name:
                launched["reservation"] = None


def describe_capacity_reservations(response):
    """One page of reservations by id, filter and tag."""
    ids = response._get_param("CapacityReservationIds", [])
    known = {name: one for (region, name), one in ALL.items() if region == response.region}
    unknown = [name for name in ids if name not in known]
    if unknown:
        text = f"The capacity reservation '{unknown[0]}' does not exist"
        raise Refused("InvalidCapacityReservationId.NotFound", text)
    filters = response._filters_from_querystring()
    found = [
        one
        for name, one in sorted(known.items())
        if (not ids or name in ids) and all(matches(one, *each) for each in filters.items())
    ]
    start = int(response._get_param("NextToken") or 0)
    count = int(response._get_param("MaxResults") or 1000)
    more = str(start + count) if start + count < len(found) else None
    page = found[start : start + count]
    return Answer({"CapacityReservations": page, "NextToken": more})


FILTERS = {
    "instance-type": "InstanceType",
    "owner-id": "OwnerId",
    "state": "State",
    "availability-zone": "AvailabilityZone",
    "instance-match-criteria": "InstanceMatchCriteria",
    "tenancy": "Tenancy",
    "reservation-type": "ReservationType",
}


def matches(one, name, wanted):
    """Whether a filter lets a reservation through."""
    tags = {tag["Key"]: tag["Value"] for tag in one["Tags"]}
    if name.startswith("tag:"):
        have = [tags.get(name.removeprefix("tag:"))]
    elif name == "tag-key":
        have = list(tags)
    elif name in FILTERS:
        have = [one[FILTERS[name]]]
    else:
        raise Refused("InvalidParameterValue", f"The filter '{name}' is invalid")
    return any(v is not None and fnmatch.fnmatchcase(v, want) for v in have for want in wanted)


def for_launch(region, data, zone):
    """The reservation a launch goes into; None for a launch without one."""
    asked = data.get("CapacityReservationSpecification") or {}
    preference = asked.get("CapacityReservationPreference") or "open"
    target = (asked.get("CapacityReservationTarget") or {}).get("CapacityReservationId")
    if target:
        return targeted(region, target, data, zone)
    if preference == "none":
        return None
    room = [one for one in ALL.values() if one["InstanceMatchCriteria"] == "open"]
    room = [one for one in room if fits(one, data, zone) and one["AvailableInstanceCount"] > 0]
    if not room and preference == "capacity-reservations-only":
        raise Refused("ReservationCapacityExceeded", "There is no open reservation with room.")
    return room[0] if room else None


def targeted(region, name, data, zone):
    """The reservation that a launch names."""
    one = ALL.get((region, name))
    if one is None or one["State"] != "active":
        text = f"The capacity reservation '{name}' does not exist"
        raise Refused("InvalidCapacityReservationId.NotFound", text)
    market = (data.get("InstanceMarketOptions") or {}).get("MarketType")
    if (one["ReservationType"] == "capacity-block") != (market == "capacity-block"):
        text = f"The market type does not fit the capacity reservation '{name}'"
        raise Refused("InvalidParameterCombination", text)
    if not fits(one, data, zone) or one["AvailableInstanceCount"] < 1:
        text = "The requested reservation does not have sufficient compatible and available capacity"
        raise Refused("ReservationCapacityExceeded", text)
    return one


def fits(one, data, zone):
    """Whether a reservation is for such an instance."""
    return (one["InstanceType"], one["AvailabilityZone"]) == (data["InstanceType"], zone)


def use(one, instance):
    """An instance takes a place in a reservation."""
    one["AvailableInstanceCount"] -= 1
    instance.launched["reservation"] = one


def give_back(instance):
    """The place of an instance that is gone is free."""
    one = getattr(instance, "launched", {}).get("reservation")
    if one:
        one["AvailableInstanceCount"] += 1
