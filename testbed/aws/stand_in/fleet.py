"""CreateFleet of type ``instant``: the cheapest override that has capacity.

Moto gives the first override, lacks no capacity ever, and drops most of the launch template.
"""

import json

from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS
from moto.ec2.responses import EC2Response
from moto.ec2.utils import convert_tag_spec, random_fleet_id

from . import capacity, launch, prices, refusal, reservations
from .answer import Answer
from .refusal import Refused

# What an answer calls the instances of a target type.
LIFECYCLES = {"spot": "spot", "reserved-capacity": "interruptible-capacity-reservation"}

# Answers by client token, with what was asked.
ANSWERED = {}


def install():
    """Instant fleets are ours; others stay with moto. So do instances, but for their dry runs."""
    of_moto = EC2Response.create_fleet
    run_instances = EC2Response.run_instances

    def create(response):
        if response._get_param("Type") != "instant":
            return of_moto(response)
        return create_fleet(response)

    def run(response):
        if response._get_param("LaunchTemplate"):
            check_run(response)
        return run_instances(response)

    EC2Response.create_fleet = create
    EC2Response.run_instances = run


def check_run(response):
    """Looks at what RunInstances would launch from a template."""
    asked = response._get_param("LaunchTemplate")
    template, version = template_of(response.ec2_backend, asked)
    override = {
        name: response._get_param(name)
        for name in ("ImageId", "InstanceType", "SubnetId")
        if response._get_param(name)
    }
    candidate = merged(response.ec2_backend, template, version, override)
    launch.check(response.ec2_backend, candidate["data"], candidate["subnet"])


def create_fleet(response):
    """The whole call. A token that came before gets the answer it got before."""
    asked = {name: response._get_param(name) for name in sorted(response.params)}
    token = asked.get("ClientToken")
    text = json.dumps(asked, default=str)
    if token in ANSWERED:
        before, answer = ANSWERED[token]
        if before != text:
            code = "IdempotentParameterMismatch"
            raise Refused(code, "The client token was used with other parameters.")
        return Answer(answer)
    candidates = all_candidates(response, asked)
    response.error_on_dryrun()
    answer = fulfil(response.ec2_backend, asked, candidates)
    if token:
        ANSWERED[token] = text, answer
    return Answer(answer)


def all_candidates(response, asked):
    """Every override with its template, and what they amount to."""
    backend = response.ec2_backend
    found = []
    for config in asked.get("LaunchTemplateConfigs") or []:
        template, version = template_of(backend, config["LaunchTemplateSpecification"])
        for override in config.get("Overrides") or [{}]:
            found.append(merged(backend, template, version, override))
    if not found:
        raise Refused("InvalidParameterValue", "There is no override to launch.")
    return found


def template_of(backend, asked):
    """A launch template and the version that is asked for."""
    name, template_id = asked.get("LaunchTemplateName"), asked.get("LaunchTemplateId")
    for template in backend.launch_templates.values():
        if template.name == name or template.id == template_id:
            return template, template.get_version(asked.get("Version") or "$Default")
    if name:
        text = f"The specified launch template, with template name {name}, does not exist."
        raise Refused("InvalidLaunchTemplateName.NotFoundException", text)
    text = f"The specified launch template, with template ID {template_id}, does not exist."
    raise Refused("InvalidLaunchTemplateId.NotFound", text)


def merged(backend, template, version, override):
    """A template with what an override says instead."""
    data = {**version.data, **{k: override[k] for k in ("ImageId", "InstanceType") if k in override}}
    if override.get("Placement"):
        data["Placement"] = {**(data.get("Placement") or {}), **override["Placement"]}
    subnet = backend.get_subnet(override["SubnetId"]) if override.get("SubnetId") else None
    if subnet is None:
        zones = backend.get_default_subnets()
        zone = override.get("AvailabilityZone")
        subnet = zones[zone] if zone in zones else next(iter(zones.values()))
    return {
        "template": template,
        "version": version,
        "override": override,
        "data": data,
        "subnet": subnet,
    }


def fulfil(backend, asked, candidates):
    """Launches as many as are wanted and as there is capacity for."""
    target = asked["TargetCapacitySpecification"]
    wanted = target.get("DefaultTargetCapacityType") or "on-demand"
    lifecycle = LIFECYCLES.get(wanted, "on-demand")
    fleet_id = random_fleet_id()
    tags = convert_tag_spec(asked.get("TagSpecifications") or [])
    backend.create_tags([fleet_id], tags.get("fleet", {}))
    left, errors, groups = int(target["TotalTargetCapacity"]), {}, {}
    for candidate in sorted(candidates, key=lambda one: rank(asked, lifecycle, one)):
        while left > 0:
            try:
                how = how_to_launch(asked, candidate, fleet_id, lifecycle, tags)
                instance = try_launch(backend, candidate, how)
            except Refused as why:
                errors[id(candidate)] = error(candidate, lifecycle, why)
                break
            groups.setdefault(id(candidate), (candidate, []))[1].append(instance)
            left -= 1
    instances = [group(one, lifecycle, made) for one, made in groups.values()]
    return {"FleetId": fleet_id, "Instances": instances, "Errors": list(errors.values())}


def rank(asked, lifecycle, candidate):
    """The order in which the allocation strategy tries overrides."""
    options = asked.get("SpotOptions" if lifecycle == "spot" else "OnDemandOptions") or {}
    instance_type = candidate["data"]["InstanceType"]
    zone = candidate["subnet"].availability_zone
    if "prioritized" in (options.get("AllocationStrategy") or ""):
        cost = float(candidate["override"].get("Priority") or "inf")
    elif lifecycle == "spot":
        cost = prices.spot(instance_type, zone)
    else:
        cost = prices.ON_DEMAND.get(instance_type)
    return (float("inf") if cost is None else cost, instance_type, zone)


def how_to_launch(asked, candidate, fleet_id, lifecycle, tags):
    """What an instance has from its fleet rather than from its template."""
    template, version = candidate["template"], candidate["version"]
    of_aws = {
        "aws:ec2:fleet-id": fleet_id,
        "aws:ec2launchtemplate:id": template.id,
        "aws:ec2launchtemplate:version": str(version.number),
    }
    return {
        "fleet_id": fleet_id,
        "lifecycle": lifecycle,
        "client_token": asked.get("ClientToken"),
        "instance_tags": {**tags.get("instance", {}), **of_aws},
        "volume_tags": tags.get("volume", {}),
    }


def try_launch(backend, candidate, how):
    """Launches one instance, or says as EC2 does why not."""
    data, subnet = candidate["data"], candidate["subnet"]
    instance_type, zone = data["InstanceType"], subnet.availability_zone
    if refusal.is_denied("ec2:RunInstances"):
        text = "You are not authorized to perform this operation. "
        raise Refused("UnauthorizedOperation", text + refusal.denial("ec2:RunInstances"))
    launch.check(backend, data, subnet)
    if not is_offered(backend.region_name, instance_type, zone):
        raise lack("Unsupported", instance_type, zone)
    if subnet.available_ip_address_count < 1:
        raise launch.no_addresses(subnet)
    reservation = reservations.for_launch(backend.region_name, data, zone)
    capacity_type = "reserved" if reservation else how["lifecycle"]
    code = capacity.lacking(instance_type, zone, capacity_type)
    if code:
        raise lack(code, instance_type, zone)
    capacity.take(instance_type, zone, capacity_type)
    instance = launch.start(backend, data, subnet, how)
    if reservation:
        reservations.use(reservation, instance)
    return instance


def lack(code, instance_type, zone):
    """A lack of capacity as an error."""
    return Refused(code, capacity.message(code, instance_type, zone))


def is_offered(region, instance_type, zone):
    """Whether a type is sold in a zone."""
    if region not in OFFERED:
        offerings = INSTANCE_TYPE_OFFERINGS["availability-zone"].get(region, [])
        OFFERED[region] = {(one["InstanceType"], one["Location"]) for one in offerings}
    return (instance_type, zone) in OFFERED[region]


OFFERED = {}


def template_and_override(candidate):
    """The part of an answer that says which override it is about."""
    override = dict(candidate["override"])
    override["InstanceType"] = candidate["data"]["InstanceType"]
    override["SubnetId"] = candidate["subnet"].id
    override["AvailabilityZone"] = candidate["subnet"].availability_zone
    override["ImageId"] = candidate["data"]["ImageId"]
    return {
        "LaunchTemplateSpecification": {
            "LaunchTemplateId": candidate["template"].id,
            "LaunchTemplateName": candidate["template"].name,
            "Version": str(candidate["version"].number),
        },
        "Overrides": override,
    }


def group(candidate, lifecycle, instances):
    """The instances that one override gave."""
    return {
        "LaunchTemplateAndOverrides": template_and_override(candidate),
        "Lifecycle": lifecycle,
        "InstanceIds": [instance.id for instance in instances],
        "InstanceType": candidate["data"]["InstanceType"],
        "AvailabilityZone": candidate["subnet"].availability_zone,
        "AvailabilityZoneId": candidate["subnet"].availability_zone_id,
        "SubnetId": candidate["subnet"].id,
    }


def error(candidate, lifecycle, why):
    """Why one override gave none."""
    return {
        "LaunchTemplateAndOverrides": template_and_override(candidate),
        "Lifecycle": lifecycle,
        "ErrorCode": why.code,
        "ErrorMessage": why.message,
    }
