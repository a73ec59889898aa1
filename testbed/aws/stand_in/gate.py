"""The way in: every request passes here before moto sees it."""

import re
import time

from . import call as calls
from . import control, images, offers, prices, queues, refusal
from .state import CALLS, DELAYS, LOCK

# A message that is waited for must not keep others from sending it: this one locks for itself.
UNLOCKED = {"sqs:ReceiveMessage"}

# What would be launched is looked at before a dry run is said to succeed.
CHECKED_DRY_RUNS = {"ec2:CreateFleet", "ec2:RunInstances"}

CODE = re.compile(rb'<Code>([^<]+)</Code>|"__type":\s*"([^"]+)"')


class Gate:
    """Answers what is ours, refuses what is denied, locks, writes down, and passes on."""

    def __init__(self, moto):
        self.moto = moto

    def __call__(self, environ, start_response):
        if environ.get("PATH_INFO", "").startswith(control.PREFIX):
            return answered(control.answer(environ), start_response)
        call = calls.read(environ)
        began = time.time()
        status, headers, body = self.serve(call, environ)
        write_down(call, began, status, body)
        # The effect is there and the caller does not know yet: the moment that retries are for.
        time.sleep(DELAYS.get(call.permission, 0))
        start_response(status, headers)
        return [body]

    def serve(self, call, environ):
        """The answer of whoever has one."""
        if refusal.is_denied(call.permission):
            return plain(refusal.denied(call))
        if call.service == "ec2" and call.is_dry_run and call.permission not in CHECKED_DRY_RUNS:
            return plain(refusal.dry_run())
        if call.service == "pricing":
            return plain(prices.answer(call))
        if (messages := queues.answer(call, environ)) is not None:
            return plain(messages)
        if call.permission in UNLOCKED:
            return self.ask_moto(environ)
        with LOCK:
            if call.permission in offers.LASTING:
                return offers.kept(call, lambda: self.ask_moto(environ))
            if call.service in ("ec2", "ssm"):
                images.seed(call.region)
            return self.ask_moto(environ)

    def ask_moto(self, environ):
        """Moto's answer, whole."""
        said = {}

        def start_response(status, headers, _exc_info=None):
            said.update(status=status, headers=headers)

        parts = self.moto(environ, start_response)
        try:
            body = b"".join(parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()
        return said["status"], said["headers"], body


def answered(answer, start_response):
    """Sends an answer of our own."""
    status, headers, body = plain(answer)
    start_response(status, headers)
    return [body]


def plain(answer):
    """An answer of our own with its headers."""
    status, content_type, body = answer
    headers = [("Content-Type", content_type), ("Content-Length", str(len(body)))]
    return status, headers, body


def write_down(call, began, status, body):
    """Adds a call to the log."""
    number = int(status.split()[0])
    seen = {
        "service": call.service,
        "action": call.action,
        "region": call.region,
        "time": began,
        "seconds": time.time() - began,
        "status": number,
        "dry_run": call.is_dry_run,
    }
    if number >= 400 and (found := CODE.search(body)):
        seen["code"] = (found.group(1) or found.group(2)).decode().split("#")[-1]
    with LOCK:
        CALLS.append(seen)
