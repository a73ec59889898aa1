"""What one tells an Auto Scaling group that waits for a lifecycle hook; moto lacks both calls."""

from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.responses import EmptyResult


def install():
    """Both are accepted for hooks that there are."""
    AutoScalingResponse.complete_lifecycle_action = accept
    AutoScalingResponse.record_lifecycle_action_heartbeat = accept


def accept(response):
    """Takes note; nothing waits here."""
    group = response._get_param("AutoScalingGroupName")
    hook = response._get_param("LifecycleHookName")
    if not response.autoscaling_backend.describe_lifecycle_hooks(group, [hook]):
        raise ValidationError(f"No active Lifecycle Action found with hook {hook}")
    return EmptyResult()
