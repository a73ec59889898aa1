"""The control endpoint: how a test says what shall happen, and reads what did.

    GET  /kerf-control/calls             every call so far; DELETE forgets them
    POST /kerf-control/settings          {"terminate_seconds": 5, ...}, see state.SETTINGS
    POST /kerf-control/denials           {"actions": ["ec2:CreateFleet"]} in place of all others
    POST /kerf-control/delays            {"ec2:CreateFleet": 2.0} in place of all others
    POST /kerf-control/quick-start       {"cluster": "demo"}: what the quick start needs
    POST /kerf-control/clusters          {"name": "demo", "version": "1.35", ...}
    POST /kerf-control/images/release    {"family": "al2023", "version": "v20260301"}
    POST /kerf-control/images/deprecate  {"image_id": "ami-1", "at": "2026-01-01T00:00:00.000Z"}
    POST /kerf-control/spot-prices       [{"instance_type": "*", "zone": "*", "price": 0.5}]
    POST /kerf-control/capacity          {"instance_type": "*", "zone": "us-east-1a",
                                          "capacity_type": "spot", "left": 0, "code": ...};
                                          DELETE takes every limit away
    POST /kerf-control/subnets           {"subnet_id": "subnet-1", "free_addresses": 0}
    POST /kerf-control/reservations      {"instance_type": "m5.large", "zone": "us-east-1a",
                                          "count": 2, "type": "capacity-block", ...}
    POST /kerf-control/reservations/end  {"id": "cr-1"}
    POST /kerf-control/machines          {"after": 0}: instances that changed, for whoever plays
                                          their kubelets
    POST /kerf-control/instances/status  {"instance_id": "i-1", "system": "impaired",
                                          "impaired_seconds": 300, "events": ["instance-stop"]}
    POST /kerf-control/announce          {"kind": "spot", "instance_ids": ["i-1"]}

Every body may name a "region".
"""

import json

from moto.ec2.models import ec2_backends

from . import (
    capacity,
    clusters,
    events,
    images,
    instance_status,
    machines,
    prices,
    quick_start,
    reservations,
)
from .state import ACCOUNT, CALLS, DELAYS, DENIED, LOCK, REGION, SETTINGS, reset_calls

PREFIX = "/kerf-control/"


def answer(environ):
    """Serves one request; status, content type, body."""
    path = environ["PATH_INFO"].removeprefix(PREFIX)
    length = int(environ.get("CONTENT_LENGTH") or 0)
    try:
        body = json.loads(environ["wsgi.input"].read(length) or b"{}")
        serve = ROUTES.get((environ["REQUEST_METHOD"], path))
        if serve is None:
            return as_json("404 Not Found", {"error": f"there is no {path}"})
        with LOCK:
            return as_json("200 OK", serve(body))
    except (KeyError, ValueError, TypeError) as why:
        return as_json("400 Bad Request", {"error": f"{type(why).__name__}: {why}"})


def as_json(status, value):
    """An answer in JSON."""
    return status, "application/json", json.dumps(value, default=str).encode()


def region_of(body):
    """The region a body is about."""
    return body.get("region", REGION)


def forget_calls(_body):
    """Empties the log."""
    reset_calls()
    return {}


def set_settings(body):
    """Changes settings; a name that there is not is a mistake in the test."""
    unknown = set(body) - set(SETTINGS)
    if unknown:
        raise ValueError(f"no such setting: {sorted(unknown)}")
    SETTINGS.update(body)
    return SETTINGS


def set_denials(body):
    """Denies these actions and no others."""
    DENIED.clear()
    DENIED.update(body["actions"])
    return sorted(DENIED)


def set_delays(body):
    """Holds back the answers to these actions and no others."""
    DELAYS.clear()
    DELAYS.update({action: float(seconds) for action, seconds in body.items()})
    return DELAYS


def set_cluster(body):
    """Makes a cluster, or says something else about it."""
    fields = {name: value for name, value in body.items() if name not in ("name", "region")}
    return clusters.create(region_of(body), body["name"], fields)


def release(body):
    """Publishes a newer release of a family's images."""
    images.seed(region_of(body))
    return {"images": images.publish(region_of(body), body["family"], body["version"])}


def deprecate(body):
    """Deprecates an image from a time on."""
    images.seed(region_of(body))
    images.deprecate(region_of(body), body["image_id"], body.get("at"))
    return {}


def set_spot_prices(body):
    """Sets spot prices and forgets those set before."""
    prices.SPOT_SET.clear()
    for one in body:
        place = (one.get("instance_type", "*"), one.get("zone", "*"))
        prices.SPOT_SET[place] = float(one["price"])
    return {}


def set_capacity(body):
    """Leaves so many instances of a type, in a zone, of a capacity type; "*" is every one."""
    capacity.set_limit(
        body.get("instance_type", "*"),
        body.get("zone", "*"),
        body.get("capacity_type", "*"),
        body.get("left", 0),
        body.get("code"),
    )
    return {}


def forget_capacity(_body):
    """Takes every limit away."""
    capacity.LIMITS.clear()
    return {}


def set_subnet(body):
    """Leaves so many free addresses in a subnet."""
    subnet = ec2_backends[ACCOUNT][region_of(body)].get_subnet(body["subnet_id"])
    taken = subnet._available_ip_addresses - subnet.available_ip_address_count
    subnet._available_ip_addresses = taken + int(body["free_addresses"])
    return {}


def end_reservation(body):
    """Ends a capacity reservation."""
    reservations.delete(region_of(body), body["id"])
    return {}


def announce(body):
    """Announces something about instances, which need not be there."""
    return events.announce(
        region_of(body), body["kind"], body["instance_ids"], body.get("state")
    )


ROUTES = {
    ("GET", "calls"): lambda _: CALLS,
    ("DELETE", "calls"): forget_calls,
    ("POST", "settings"): set_settings,
    ("POST", "denials"): set_denials,
    ("POST", "delays"): set_delays,
    ("POST", "quick-start"): lambda body: quick_start.prepare(region_of(body), body),
    ("POST", "clusters"): set_cluster,
    ("POST", "images/release"): release,
    ("POST", "images/deprecate"): deprecate,
    ("POST", "spot-prices"): set_spot_prices,
    ("POST", "capacity"): set_capacity,
    ("DELETE", "capacity"): forget_capacity,
    ("POST", "subnets"): set_subnet,
    ("POST", "reservations"): lambda body: reservations.create(region_of(body), body),
    ("POST", "reservations/end"): end_reservation,
    ("POST", "machines"): lambda body: machines.changed_since(region_of(body), body["after"]),
    ("POST", "instances/status"): instance_status.set_status,
    ("POST", "announce"): announce,
}
