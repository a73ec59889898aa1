"""DescribeInstanceStatus: impaired instances, impaired systems, and events that are scheduled.

In moto every instance is well, and filters are passed over.
"""

import fnmatch
from datetime import timedelta

from moto.core.utils import utcnow
from moto.ec2.responses import EC2Response

from .answer import Answer
from .instances import all_instances, find, is_visible
from .refusal import Refused

PAGE_MAX = 1000

# What a test has set, by instance.
SET = {}


def install():
    """Ours in place of moto's."""
    EC2Response.describe_instance_status = describe_instance_status


def set_status(body):
    """Impairs an instance or its system since some seconds, or schedules events for it."""
    events = []
    for number, event in enumerate(body.get("events", [])):
        code = event if isinstance(event, str) else event["code"]
        events.append(
            {
                "InstanceEventId": f"instance-event-{number:017x}",
                "Code": code,
                "Description": "set by a test",
                "NotBefore": utcnow() + timedelta(days=7),
            }
        )
    SET[body["instance_id"]] = {
        "instance": body.get("instance", "ok"),
        "system": body.get("system", "ok"),
        "since": utcnow() - timedelta(seconds=body.get("impaired_seconds", 0)),
        "events": events,
    }
    return {}


def describe_instance_status(response):
    """One page of what is known about running instances, or about all of them."""
    ids = response._get_param("InstanceIds", [])
    backend = response.ec2_backend
    found = find(backend, ids) if ids else [i for i in all_instances(backend) if is_visible(i)]
    if not response._get_bool_param("IncludeAllInstances", False):
        found = [one for one in found if one.state == "running"]
    filters = response._filters_from_querystring()
    statuses = [status_of(one) for one in found]
    statuses = [one for one in statuses if all(matches(one, *each) for each in filters.items())]
    start = int(response._get_param("NextToken") or 0)
    count = int(response._get_param("MaxResults") or PAGE_MAX)
    more = str(start + count) if start + count < len(statuses) else None
    page = statuses[start : start + count]
    return Answer({"InstanceStatuses": page, "NextToken": more})


def status_of(instance):
    """What EC2 says about how an instance does."""
    known = SET.get(instance.id, {"instance": "ok", "system": "ok", "events": []})
    return {
        "InstanceId": instance.id,
        "AvailabilityZone": instance.availability_zone,
        "InstanceState": {"Code": instance.state_code, "Name": instance.state},
        "InstanceStatus": summary(instance, known["instance"], known),
        "SystemStatus": summary(instance, known["system"], known),
        "Events": known["events"],
    }


def summary(instance, status, known):
    """One of the two checks."""
    if instance.state != "running":
        return {"Status": "not-applicable", "Details": []}
    detail = {"Name": "reachability", "Status": "passed"}
    if status == "impaired":
        detail["Status"] = "failed"
        detail["ImpairedSince"] = known["since"]
    return {"Status": status, "Details": [detail]}


def matches(status, name, wanted):
    """Whether a status is one that a filter lets through."""
    read = FILTERS.get(name)
    if read is None:
        raise Refused("InvalidParameterValue", f"The filter '{name}' is invalid")
    return any(fnmatch.fnmatchcase(str(have), want) for have in read(status) for want in wanted)


FILTERS = {
    "instance-status.status": lambda one: [one["InstanceStatus"]["Status"]],
    "system-status.status": lambda one: [one["SystemStatus"]["Status"]],
    "instance-status.reachability": lambda one: [
        detail["Status"] for detail in one["InstanceStatus"]["Details"]
    ],
    "system-status.reachability": lambda one: [
        detail["Status"] for detail in one["SystemStatus"]["Details"]
    ],
    "event.code": lambda one: [event["Code"] for event in one["Events"]],
    "availability-zone": lambda one: [one["AvailabilityZone"]],
    "instance-state-name": lambda one: [one["InstanceState"]["Name"]],
    "instance-state-code": lambda one: [one["InstanceState"]["Code"]],
}
