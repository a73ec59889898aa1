"""EKS clusters that look like clusters.

Moto gives a cluster no VPC and another certificate each time. Here a cluster has the VPC of its
subnets (or the default one), and a test says what its endpoint, certificate and version are.
"""

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.eks.models import eks_backends
from moto.eks.responses import EKSResponse

from .state import ACCOUNT

VERSION = "1.36"
SERVICE_RANGE = "10.100.0.0/16"
# Base64 of "the certificate of a stand-in": what matters is that it stays the same.
CERTIFICATE = "dGhlIGNlcnRpZmljYXRlIG9mIGEgc3RhbmQtaW4="

# Fields of the answer that a test has set, by region and name.
SET = {}


def install():
    """Both calls that answer with a cluster give it whole."""
    for name in ("create_cluster", "describe_cluster"):
        setattr(EKSResponse, name, completed(getattr(EKSResponse, name)))


def completed(method):
    """The same call; its answer has everything."""

    def complete(response):
        cluster = method(response).result["cluster"]
        return ActionResult({"cluster": described(response.region, cluster)})

    return complete


def described(region, cluster):
    """A cluster as EKS describes it."""
    network = dict(cluster.resources_vpc_config or {})
    network.setdefault("vpcId", vpc_of(region, network.get("subnetIds") or []))
    network.setdefault("endpointPublicAccess", True)
    network.setdefault("endpointPrivateAccess", False)
    ranges = {"serviceIpv4Cidr": SERVICE_RANGE, "ipFamily": "ipv4"}
    answer = {
        "name": cluster.name,
        "arn": cluster.arn,
        "createdAt": cluster.created_at,
        "version": cluster.version or VERSION,
        "endpoint": f"https://{cluster.name}.gr7.{region}.eks.amazonaws.com",
        "roleArn": cluster.role_arn,
        "resourcesVpcConfig": network,
        "kubernetesNetworkConfig": {**ranges, **(cluster.kubernetes_network_config or {})},
        "identity": cluster.identity,
        "status": cluster.status,
        "certificateAuthority": {"data": CERTIFICATE},
        "platformVersion": "eks.1",
        "tags": cluster.tags,
        "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"},
    }
    return {**answer, **SET.get((region, cluster.name), {})}


def vpc_of(region, subnet_ids):
    """The VPC of the first of these subnets that there is, else the default one."""
    backend = ec2_backends[ACCOUNT][region]
    known = [backend.get_subnet(name) for name in subnet_ids if name in all_subnets(backend)]
    return known[0].vpc_id if known else backend.get_default_vpc().id


def all_subnets(backend):
    """The ids of every subnet."""
    return {subnet.id for subnet in backend.describe_subnets()}


def create(region, name, fields):
    """Makes a cluster for a test, or changes what is said of one."""
    backend = eks_backends[ACCOUNT][region]
    if name not in backend.clusters:
        backend.create_cluster(
            name=name,
            role_arn=f"arn:aws:iam::{ACCOUNT}:role/eks-cluster",
            resources_vpc_config={"subnetIds": []},
            version=VERSION,
        )
    SET.setdefault((region, name), {}).update(fields)
    return described(region, backend.clusters[name])
