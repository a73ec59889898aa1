"""What AWS announces about instances, in the shape that EventBridge gives it.

Moto announces nothing. Every event goes to the rules of EventBridge that match it, and to the queue
that a test has named in the settings.
"""

import json
import uuid

from moto.core.utils import unix_time, utcnow
from moto.events.models import events_backends

from . import queues
from .state import ACCOUNT, SETTINGS

DETAIL_TYPES = {
    "state": ("aws.ec2", "EC2 Instance State-change Notification"),
    "spot": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "rebalance": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "reservation": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
    "scheduled": ("aws.health", "AWS Health Event"),
}


def announce(region, kind, instance_ids, state=None):
    """Announces something of a kind about instances; Health tells of many in one event."""
    if kind == "scheduled":
        return [emit(region, event(region, kind, instance_ids, health(instance_ids)))]
    made = []
    for one in instance_ids:
        detail = {"instance-id": one}
        if kind == "state":
            detail["state"] = state
        if kind in ("spot", "reservation"):
            detail["instance-action"] = "terminate"
        made.append(emit(region, event(region, kind, [one], detail)))
    return made


def event(region, kind, instance_ids, detail):
    """The envelope."""
    source, detail_type = DETAIL_TYPES[kind]
    arns = [f"arn:aws:ec2:{region}:{ACCOUNT}:instance/{one}" for one in instance_ids]
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": detail_type,
        "source": source,
        "account": ACCOUNT,
        "time": utcnow().strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": region,
        "resources": instance_ids if kind == "scheduled" else arns,
        "detail": detail,
    }


def health(instance_ids):
    """What AWS Health says of hosts that will be retired."""
    return {
        "eventArn": f"arn:aws:health:us-east-1::event/EC2/{uuid.uuid4()}",
        "service": "EC2",
        "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
        "eventTypeCategory": "scheduledChange",
        "affectedEntities": [{"entityValue": one} for one in instance_ids],
    }


def emit(region, made):
    """Sends an event where it belongs; the event."""
    for rule in events_backends[ACCOUNT][region].event_buses["default"].rules.values():
        # Inside moto, events have their time in seconds; it writes it as text when it sends them.
        now = int(unix_time())
        rule.send_to_targets({**made, "time": now, "ingestion-time": now})
    if SETTINGS["event_queue"]:
        queues.send(region, SETTINGS["event_queue"], json.dumps(made))
    return made
