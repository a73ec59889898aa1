"""An account in which the documentation's quick start can run: network, role, cluster, queue."""

import base64

from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends

from . import clusters, images, queues
from .state import ACCOUNT

DISCOVERY = "karpenter.sh/discovery"
TRUST = (
    '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole",'
    '"Principal":{"Service":"ec2.amazonaws.com"}}]}'
)


def prepare(region, asked):
    """Makes everything there has to be for a cluster, and says what it is called."""
    cluster = asked.get("cluster", "demo")
    fields = {
        name: asked[name] for name in ("version", "endpoint") if asked.get(name) is not None
    }
    if asked.get("ca_pem") is not None:
        data = base64.b64encode(asked["ca_pem"].encode()).decode()
        fields["certificateAuthority"] = {"data": data}
    if asked.get("ca") is not None:
        fields["certificateAuthority"] = {"data": asked["ca"]}
    images.seed(region)
    described = clusters.create(region, cluster, fields)
    backend = ec2_backends[ACCOUNT][region]
    vpc_id = described["resourcesVpcConfig"]["vpcId"]
    subnets = [one for one in backend.describe_subnets() if one.vpc_id == vpc_id]
    groups = [
        one for one in backend.describe_security_groups() if getattr(one, "vpc_id", "") == vpc_id
    ]
    for resource in subnets + groups:
        backend.create_tags([resource.id], {DISCOVERY: cluster})
    queue = queues.create(region, cluster)
    return {
        "cluster": cluster,
        "region": region,
        "account": ACCOUNT,
        "arn": described["arn"],
        "version": described["version"],
        "endpoint": described["endpoint"],
        "ca": described["certificateAuthority"]["data"],
        "vpc_id": vpc_id,
        "role": role(f"KarpenterNodeRole-{cluster}"),
        "queue": queue.name,
        "subnets": [
            {"id": one.id, "zone": one.availability_zone, "zone_id": one.availability_zone_id}
            for one in sorted(subnets, key=lambda one: one.availability_zone)
        ],
        "security_groups": sorted(one.id for one in groups),
    }


def role(name):
    """Makes a role that instances may have; its name."""
    backend = iam_backends[ACCOUNT]["aws"]
    if all(one.name != name for one in backend.roles.values()):
        backend.create_role(
            role_name=name,
            assume_role_policy_document=TRUST,
            path="/",
            permissions_boundary=None,
            description="",
            tags=[],
            max_session_duration="3600",
        )
    return name
