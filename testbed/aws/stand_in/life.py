"""The life of an instance: pending, running, shutting-down, terminated, each with its event.

Moto's instances run at once and end at once, and nobody is told.
"""

import heapq
import threading
import time
import traceback

from . import events, reservations
from .state import LOCK, SETTINGS

CODES = {
    "pending": 0,
    "running": 16,
    "shutting-down": 32,
    "terminated": 48,
    "stopping": 64,
    "stopped": 80,
}

# What is to happen, by time. The number keeps what is due at the same time in order.
DUE = []
WOKEN = threading.Condition(LOCK)
NUMBER = 0

# How many changes of state there were.
CHANGES = 0


def start():
    """Starts the thread that lets time pass."""
    threading.Thread(target=run, daemon=True).start()


def run():
    """Does what is due, when it is due."""
    while True:
        with WOKEN:
            if DUE and DUE[0][0] <= time.monotonic():
                action = heapq.heappop(DUE)[2]
                try:
                    action()
                except Exception:  # noqa: BLE001  (one mistake must not stop time)
                    traceback.print_exc()
            else:
                WOKEN.wait(DUE[0][0] - time.monotonic() if DUE else None)


def later(seconds, action):
    """Does something after a while, or at once if the while is nothing."""
    global NUMBER  # noqa: PLW0603  (under the lock)
    if seconds <= 0:
        action()
        return
    with WOKEN:
        NUMBER += 1
        heapq.heappush(DUE, (time.monotonic() + seconds, NUMBER, action))
        WOKEN.notify()


def enter(instance, state):
    """Puts an instance into a state, numbers the change, and announces it."""
    global CHANGES  # noqa: PLW0603  (under the lock)
    CHANGES += 1
    instance.change = CHANGES
    instance._state.name, instance._state.code = state, CODES[state]
    events.announce(instance.ec2_backend.region_name, "state", [instance.id], state)


def began(instance):
    """An instance was launched."""
    instance.began_at = time.time()
    enter(instance, "pending")

    def runs():
        if instance.state == "pending":
            enter(instance, "running")

    later(SETTINGS["pending_seconds"], runs)


def end(instance):
    """Ends an instance; the state it was in."""
    before = instance.state
    if before in ("shutting-down", "terminated"):
        return before
    enter(instance, "shutting-down")
    later(SETTINGS["terminate_seconds"], lambda: ended(instance))
    return before


def ended(instance):
    """The instance is gone: its addresses and volumes are free, its reservation has room."""
    instance.terminate()
    subnet = instance.ec2_backend.get_subnet(instance.subnet_id)
    for address in instance._private_ips:
        subnet.del_subnet_ip(address)
    reservations.give_back(instance)
    enter(instance, "terminated")
    later(SETTINGS["terminated_kept_seconds"], lambda: forget(instance))


def forget(instance):
    """After an hour EC2 no longer knows a terminated instance."""
    reservations_of_moto = instance.ec2_backend.reservations
    for name, reservation in list(reservations_of_moto.items()):
        if instance in reservation.instances:
            del reservations_of_moto[name]
