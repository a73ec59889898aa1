"""Pod Identity of EKS clusters and the add-on it needs, which moto lacks."""

from moto.core.responses import ActionResult
from moto.eks.exceptions import ResourceInUseException, ResourceNotFoundException
from moto.eks.responses import EKSResponse
from moto.eks.urls import response as eks_response
from moto.eks.urls import url_paths

from .state import SETTINGS

# By region, cluster and id.
ALL = {}
AGENT = "eks-pod-identity-agent"


def install():
    """The calls that make, read, change and delete associations, and that read add-ons."""
    EKSResponse.create_pod_identity_association = create
    EKSResponse.list_pod_identity_associations = list_all
    EKSResponse.describe_pod_identity_association = describe
    EKSResponse.update_pod_identity_association = update
    EKSResponse.delete_pod_identity_association = delete
    EKSResponse.describe_addon = describe_addon
    # Moto finds a call by the parameters that its path names, as the API spells them.
    base = "{0}/clusters/(?P<clusterName>[^/]+)/pod-identity-associations"
    url_paths[f"{base}$"] = eks_response.dispatch
    url_paths[f"{base}/(?P<associationId>[^/]+)$"] = eks_response.dispatch
    url_paths["{0}/clusters/(?P<clusterName>[^/]+)/addons/(?P<addonName>[^/]+)$"] = (
        eks_response.dispatch
    )


def cluster_name(response):
    """The cluster a call is about; it has to be there."""
    name = response._get_param("clusterName") or response._get_param("name")
    response.eks_backend.describe_cluster(name=name)
    return name


def found(response):
    """The association a call is about, and its key."""
    name = response._get_param("associationId")
    key = (response.region, cluster_name(response), name)
    if key not in ALL:
        raise ResourceNotFoundException(message=f"There is no association {name}.")
    return key, ALL[key]


def create(response):
    """Gives a service account a role."""
    cluster = cluster_name(response)
    of = ("namespace", "serviceAccount", "roleArn")
    made = {"clusterName": cluster, **{name: response._get_param(name) for name in of}}
    for other in of_cluster(response.region, cluster):
        if all(other[name] == made[name] for name in of[:2]):
            raise ResourceInUseException(message="Association already exists.")
    made["associationId"] = f"a-{len(ALL) + 1:012d}"
    ALL[(response.region, cluster, made["associationId"])] = made
    return ActionResult({"association": made})


def of_cluster(region, cluster):
    """The associations of a cluster."""
    return [one for key, one in ALL.items() if key[:2] == (region, cluster)]


def list_all(response):
    """Those of a cluster, by namespace and account where these are given."""
    all_of = of_cluster(response.region, cluster_name(response))
    for name in ("namespace", "serviceAccount"):
        if wanted := response._get_param(name):
            all_of = [one for one in all_of if one[name] == wanted]
    return ActionResult({"associations": all_of})


def describe(response):
    """One."""
    return ActionResult({"association": found(response)[1]})


def update(response):
    """Gives it another role."""
    _, one = found(response)
    one["roleArn"] = response._get_param("roleArn")
    return ActionResult({"association": one})


def delete(response):
    """Takes it away."""
    key, one = found(response)
    del ALL[key]
    return ActionResult({"association": one})


def describe_addon(response):
    """The agent, where a test has said that it runs; no other."""
    cluster, name = cluster_name(response), response._get_param("addonName")
    if name != AGENT or not SETTINGS["pod_identity_agent"]:
        raise ResourceNotFoundException(message=f"No addon: {name} found in cluster: {cluster}")
    return ActionResult({"addon": {"addonName": name, "clusterName": cluster, "status": "ACTIVE"}})
