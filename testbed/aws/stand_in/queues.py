"""Messages that are waited for without keeping others from sending them.

Moto waits while it holds whatever its caller holds, and it gives messages to callers that have
hung up. Here a poll takes the lock only to look, and looks only while somebody listens.
"""

import select
import socket
import time

from flask import request as flask_request

from moto.sqs.models import SQSBackend, sqs_backends

from .state import ACCOUNT, LOCK

# How often a waiting poll looks: short beside any deadline in a test.
LOOK_EVERY_SECONDS = 0.02


def install():
    """Polls lock for themselves."""
    receive = SQSBackend.receive_message

    def receive_message(backend, queue_name, count, wait_seconds, visibility, names=None):
        deadline = time.monotonic() + float(wait_seconds or 0)
        while True:
            if not somebody_listens():
                return []
            with LOCK:
                messages = receive(backend, queue_name, count, 0, visibility, names)
            if messages or time.monotonic() >= deadline:
                return messages
            time.sleep(LOOK_EVERY_SECONDS)

    SQSBackend.receive_message = receive_message


def somebody_listens():
    """Whether the caller's connection is still open."""
    try:
        connection = flask_request.environ.get("werkzeug.socket")
    except RuntimeError:
        return True
    if connection is None:
        return True
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return not readable or connection.recv(1, socket.MSG_PEEK) != b""
    except OSError:
        return False


def send(region, name, body):
    """Puts a message into a queue."""
    with LOCK:
        sqs_backends[ACCOUNT][region].send_message(name, body)


def create(region, name):
    """Makes a queue, or finds it; its URL."""
    backend = sqs_backends[ACCOUNT][region]
    if name not in backend.queues:
        backend.create_queue(name, {})
    return backend.queues[name]
