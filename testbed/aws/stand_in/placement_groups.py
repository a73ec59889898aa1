"""Placement groups, which moto lacks."""

import secrets

from moto.core.responses import EmptyResult
from moto.ec2.responses import EC2Response

from .answer import Answer
from .refusal import Refused
from .state import ACCOUNT

# By region and name, as DescribePlacementGroups describes them.
ALL = {}


def install():
    """Making, reading and deleting."""
    EC2Response.create_placement_group = create_placement_group
    EC2Response.describe_placement_groups = describe_placement_groups
    EC2Response.delete_placement_group = delete_placement_group


def create_placement_group(response):
    """Makes a group; its name is its own."""
    name = response._get_param("GroupName")
    if (response.region, name) in ALL:
        text = f"The placement group '{name}' already exists"
        raise Refused("InvalidPlacementGroup.Duplicate", text)
    strategy = response._get_param("Strategy") or "cluster"
    group_id = f"pg-{secrets.token_hex(8)}"
    made = {
        "GroupName": name,
        "GroupId": group_id,
        "GroupArn": f"arn:aws:ec2:{response.region}:{ACCOUNT}:placement-group/{name}",
        "State": "available",
        "Strategy": strategy,
        "Tags": [
            {"Key": key, "Value": value}
            for key, value in response._parse_tag_specification().get("placement-group", {}).items()
        ],
    }
    if strategy == "partition":
        made["PartitionCount"] = int(response._get_param("PartitionCount") or 7)
    if strategy == "spread":
        made["SpreadLevel"] = response._get_param("SpreadLevel") or "rack"
    ALL[(response.region, name)] = made
    return Answer({"PlacementGroup": made})


def describe_placement_groups(response):
    """Groups by name, id and filter."""
    names = response._get_param("GroupNames", [])
    ids = response._get_param("GroupIds", [])
    known = [one for (region, _), one in sorted(ALL.items()) if region == response.region]
    for asked, field in ((names, "GroupName"), (ids, "GroupId")):
        unknown = [one for one in asked if one not in {group[field] for group in known}]
        if unknown:
            text = f"The Placement Group '{unknown[0]}' is unknown."
            raise Refused("InvalidPlacementGroup.Unknown", text)
    fields = {"group-name": "GroupName", "state": "State", "strategy": "Strategy"}
    found = [
        one
        for one in known
        if (not names or one["GroupName"] in names)
        and (not ids or one["GroupId"] in ids)
        and all(
            name not in fields or one[fields[name]] in values
            for name, values in response._filters_from_querystring().items()
        )
    ]
    return Answer({"PlacementGroups": found})


def delete_placement_group(response):
    """Forgets a group."""
    ALL.pop((response.region, response._get_param("GroupName")), None)
    return EmptyResult()
