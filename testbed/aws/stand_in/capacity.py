"""How much capacity there is of each type, zone and capacity type: endless unless a test says so."""

from .state import LOCK

# By (type, zone, capacity type), where "*" is any: how many are left, and the code of the refusal.
LIMITS = {}

DEFAULT_CODE = "InsufficientInstanceCapacity"

MESSAGES = {
    "InsufficientInstanceCapacity": (
        "We currently do not have sufficient {instance_type} capacity in the Availability Zone "
        "you requested ({zone})."
    ),
    "UnfulfillableCapacity": (
        "Unable to fulfill capacity due to your request configuration. Please adjust your "
        "request and try again."
    ),
    "MaxSpotInstanceCountExceeded": "Max spot instance count exceeded",
    "VcpuLimitExceeded": (
        "You have requested more vCPU capacity than your current vCPU limit allows for the "
        "instance bucket that the specified instance type belongs to."
    ),
    "Unsupported": (
        "Your requested instance type ({instance_type}) is not supported in your requested "
        "Availability Zone ({zone})."
    ),
    "MaxFleetCountExceeded": "You've reached the quota for the number of fleets.",
    "ReservationCapacityExceeded": "The requested reservation does not have sufficient capacity.",
    "AuthFailure.ServiceLinkedRoleCreationNotPermitted": (
        "The provided credentials do not have permission to create the service-linked role for "
        "EC2 Spot Instances."
    ),
}


def set_limit(instance_type, zone, capacity_type, left, code=None):
    """Leaves so many instances; None takes the limit away."""
    place = (instance_type, zone, capacity_type)
    with LOCK:
        if left is None:
            LIMITS.pop(place, None)
        else:
            LIMITS[place] = {"left": int(left), "code": code or DEFAULT_CODE}


def limits_of(instance_type, zone, capacity_type):
    """Every limit that counts for one way to launch."""
    return [
        limit
        for place, limit in LIMITS.items()
        if all(
            wanted in ("*", got)
            for wanted, got in zip(place, (instance_type, zone, capacity_type))
        )
    ]


def lacking(instance_type, zone, capacity_type):
    """The code of the refusal where nothing is left; None where there is something."""
    for limit in limits_of(instance_type, zone, capacity_type):
        if limit["left"] <= 0:
            return limit["code"]
    return None


def take(instance_type, zone, capacity_type):
    """Takes one away from every limit."""
    for limit in limits_of(instance_type, zone, capacity_type):
        limit["left"] -= 1


def message(code, instance_type, zone):
    """What EC2 says with a code."""
    text = MESSAGES.get(code, "The request could not be fulfilled.")
    return text.format(instance_type=instance_type, zone=zone)
