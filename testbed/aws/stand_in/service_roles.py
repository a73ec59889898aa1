"""Service-linked roles by the names AWS gives them: moto calls that of spot otherwise."""

from moto.iam.models import SERVICE_NAME_CONVERSION


def install():
    """AWSServiceRoleForEC2Spot."""
    SERVICE_NAME_CONVERSION["spot"] = "EC2Spot"
