"""Starts the AWS stand-in: moto in this process, with what moto lacks put in its place.

    python serve.py --port 0 --data crates/kerf-catalog/data --keep /some/folder

The tables of the catalogue are read for prices, so that what the stand-in asks for an instance is
what the product believes it to cost.
"""

import argparse
import os
import signal
import sys
from pathlib import Path

# Thirteen hundred images nobody asks for would be looked through at every launch.
os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
# Roles name the policies that AWS manages.
os.environ.setdefault("MOTO_IAM_LOAD_MANAGED_POLICIES", "true")

from werkzeug.serving import run_simple  # noqa: E402  (moto reads its settings when imported)

from moto.moto_server.werkzeug_app import (  # noqa: E402
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from stand_in import (  # noqa: E402
    access_entries,
    clusters,
    fleet,
    host_names,
    images,
    instance_profiles,
    instance_status,
    instances,
    life,
    lifecycle_actions,
    offers,
    parameters,
    placement_groups,
    pod_identity,
    prices,
    queues,
    reservations,
    service_roles,
    stacks,
    tags,
)
from stand_in.gate import Gate  # noqa: E402

# Each replaces some of moto's answers by its own.
PARTS = [
    access_entries,
    clusters,
    fleet,
    host_names,
    images,
    instance_profiles,
    instance_status,
    instances,
    lifecycle_actions,
    offers,
    parameters,
    placement_groups,
    pod_identity,
    prices,
    queues,
    reservations,
    service_roles,
    stacks,
    tags,
]


def main():
    """Puts every part in place and serves until it is told to end."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--keep", help="a folder for answers that never change")
    chosen = arguments.parse_args()
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: sys.exit(0))
    prices.read(chosen.data)
    offers.keep_in(chosen.keep)
    for part in PARTS:
        part.install()
    life.start()
    moto = DomainDispatcherApplication(create_backend_app)
    run_simple(
        "127.0.0.1", chosen.port, Gate(moto), threaded=True, request_handler=QuietHandler
    )


class QuietHandler(MotoRequestHandler):
    """Writes no line for each call: the stand-in keeps a log of its own, which tests read."""

    def log_request(self, code="-", size="-"):
        """Says nothing."""


if __name__ == "__main__":
    main()
