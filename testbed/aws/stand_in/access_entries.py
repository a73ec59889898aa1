"""Access entries of EKS clusters, which moto lacks: who may join, by role."""

from urllib.parse import unquote

from moto.core.responses import ActionResult, EmptyResult
from moto.core.utils import utcnow
from moto.eks.exceptions import ResourceInUseException, ResourceNotFoundException
from moto.eks.responses import EKSResponse
from moto.eks.urls import response as eks_response
from moto.eks.urls import url_paths

from .state import ACCOUNT

# By region, cluster and principal.
ALL = {}


def install():
    """The calls that make, read and delete entries."""
    EKSResponse.create_access_entry = create_access_entry
    EKSResponse.describe_access_entry = describe_access_entry
    EKSResponse.list_access_entries = list_access_entries
    EKSResponse.delete_access_entry = delete_access_entry
    entries = "{0}/clusters/(?P<name>[^/]+)/access-entries"
    url_paths[f"{entries}$"] = eks_response.dispatch
    url_paths[f"{entries}/(?P<principalArn>.+)$"] = eks_response.dispatch


def cluster_of(response):
    """The cluster a call is about; it has to be there."""
    name = response._get_param("name")
    response.eks_backend.describe_cluster(name=name)
    return name


def found(response):
    """The entry a call is about, and its key."""
    principal = unquote(response._get_param("principalArn"))
    key = (response.region, cluster_of(response), principal)
    if key not in ALL:
        text = f"The specified principalArn could not be found: {principal}."
        raise ResourceNotFoundException(message=text)
    return key, ALL[key]


def create_access_entry(response):
    """Lets a principal in."""
    cluster, principal = cluster_of(response), response._get_param("principalArn")
    key = (response.region, cluster, principal)
    if key in ALL:
        text = "The specified access entry resource is already in use on this cluster."
        raise ResourceInUseException(message=text)
    ALL[key] = {
        "clusterName": cluster,
        "principalArn": principal,
        "kubernetesGroups": response._get_param("kubernetesGroups") or [],
        "accessEntryArn": f"arn:aws:eks:{response.region}:{ACCOUNT}:access-entry/{cluster}",
        "createdAt": utcnow(),
        "modifiedAt": utcnow(),
        "tags": response._get_param("tags") or {},
        "username": response._get_param("username") or principal,
        "type": response._get_param("type") or "STANDARD",
    }
    return ActionResult({"accessEntry": ALL[key]})


def describe_access_entry(response):
    """One entry."""
    return ActionResult({"accessEntry": found(response)[1]})


def list_access_entries(response):
    """Every principal that is let in."""
    place = (response.region, cluster_of(response))
    return ActionResult({"accessEntries": [key[2] for key in ALL if key[:2] == place]})


def delete_access_entry(response):
    """Lets a principal in no longer."""
    del ALL[found(response)[0]]
    return EmptyResult()
