"""ListInstanceProfiles by path: moto lists all, and a clean-up by path would delete all."""

from moto.core.responses import ActionResult
from moto.iam.responses import IamResponse


def install():
    """Only profiles below the path, in pages."""
    IamResponse.list_instance_profiles = list_instance_profiles


def list_instance_profiles(response):
    """One page of the profiles whose path begins as is asked."""
    prefix = response._get_param("PathPrefix") or "/"
    found = [one for one in response.backend.get_instance_profiles() if one.path.startswith(prefix)]
    start = int(response._get_param("Marker") or 0)
    count = int(response._get_param("MaxItems") or 100)
    is_more = start + count < len(found)
    answer = {"InstanceProfiles": found[start : start + count], "IsTruncated": is_more}
    if is_more:
        answer["Marker"] = str(start + count)
    return ActionResult(answer)
