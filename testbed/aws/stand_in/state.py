"""What a test has set and what was seen of its calls: all there is beside moto's own state."""

import threading

from moto.core import DEFAULT_ACCOUNT_ID

ACCOUNT = DEFAULT_ACCOUNT_ID
REGION = "us-east-1"

# Moto is not made for two calls at once: iterating over what another call changes gives a 500, and
# messages get lost. Everything that touches its state holds this.
LOCK = threading.RLock()

# Seconds unless said otherwise. Tests change these through the control endpoint.
SETTINGS = {
    # How long an instance is pending.
    "pending_seconds": 0.0,
    # How long an instance takes from shutting-down to terminated.
    "terminate_seconds": 1.0,
    # How long after its launch an instance is not described: EC2 is eventually consistent.
    "describe_lag_seconds": 0.0,
    # For how long a terminated instance is still described.
    "terminated_kept_seconds": 3600.0,
    # The queue that changes of state are announced to; rules of EventBridge hear of them anyway.
    "event_queue": None,
    # Whether clusters have the add-on of Pod Identity.
    "pod_identity_agent": False,
}

# Actions that are refused, as in "ec2:CreateFleet".
DENIED = set()

# Seconds that the answer to an action is held back after its effect, by action.
DELAYS = {}

# Every call: service, action, region, time, status, and the code of a refusal.
CALLS = []


def reset_calls():
    """Forgets the calls so far."""
    with LOCK:
        CALLS.clear()
