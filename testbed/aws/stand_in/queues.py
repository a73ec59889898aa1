"""Queues that several can use at once, also when they hold thousands of messages.

Moto waits while it holds whatever its caller holds, gives messages to callers that have hung up, and
is slow. Here a poll takes the lock only to look, and looks only while somebody listens.
"""

import json
import select
import socket
import time

from flask import request as flask_request

from moto.sqs.exceptions import ReceiptHandleIsInvalid
from moto.sqs.models import Queue, SQSBackend, sqs_backends

from .shelf import Shelf
from .state import ACCOUNT, LOCK

# How often a waiting poll looks: short beside any deadline in a test.
LOOK_EVERY_SECONDS = 0.02

# Calls that come by the thousand are answered without moto, where they come as JSON.
OURS = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:DeleteMessageBatch"}
JSON = "application/x-amz-json-1.0"


def install():
    """Standard queues have a shelf; those that keep an order stay as they are in moto."""
    put_on_shelf("add_message", lambda queue, message: shelf(queue).add(message))
    put_on_shelf("delete_message", lambda queue, handle: shelf(queue).delete(handle))
    for number, name in enumerate(("messages", "messages_not_visible", "messages_delayed")):
        count_on_shelf(f"approximate_number_of_{name}", number)
    by_queue("receive_message", receive)
    by_queue("change_message_visibility", change_visibility)
    by_queue("purge_queue", lambda queue: queue.__dict__.pop("shelf", None))


def shelf(queue):
    """The shelf of a queue, made when it is first needed."""
    if "shelf" not in queue.__dict__:
        queue.shelf = Shelf(queue)
    return queue.shelf


def put_on_shelf(name, ours):
    """Replaces a method of standard queues."""
    of_moto = getattr(Queue, name)
    setattr(
        Queue,
        name,
        lambda queue, *given: (of_moto if queue.fifo_queue else ours)(queue, *given),
    )


def count_on_shelf(name, number):
    """Replaces a number that standard queues tell."""
    of_moto = getattr(Queue, name)

    def count(queue):
        return of_moto.fget(queue) if queue.fifo_queue else shelf(queue).counts()[number]

    setattr(Queue, name, property(count))


def by_queue(name, ours):
    """Replaces a call for standard queues."""
    of_moto = getattr(SQSBackend, name)

    def call(backend, queue_name, *given, **named):
        queue = backend.get_queue(queue_name)
        if queue.fifo_queue:
            return of_moto(backend, queue_name, *given, **named)
        return ours(queue, *given, **named)

    setattr(SQSBackend, name, call)


def change_visibility(queue, receipt_handle, visibility_timeout):
    """ChangeMessageVisibility."""
    shelf(queue).change_visibility(receipt_handle, visibility_timeout)


def receive(queue, count, wait_seconds, visibility_seconds, attribute_names=None):
    """ReceiveMessage as moto calls it."""
    connection = flask_request.environ.get("werkzeug.socket") if flask_request else None
    return wait_for(
        queue, count, wait_seconds, visibility_seconds, attribute_names, connection
    )


def wait_for(queue, count, wait_seconds, visibility_seconds, attribute_names, connection):
    """Messages, waited for while somebody listens."""
    deadline = time.monotonic() + float(wait_seconds or 0)
    while listens(connection):
        with LOCK:
            found = shelf(queue).receive(int(count), visibility_seconds, attribute_names)
        if found or time.monotonic() >= deadline:
            return found
        time.sleep(LOOK_EVERY_SECONDS)
    return []


def listens(connection):
    """Whether a caller's connection is still open."""
    if connection is None:
        return True
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return not readable or connection.recv(1, socket.MSG_PEEK) != b""
    except OSError:
        return False


def answer(call, environ):
    """One of our calls; None leaves it to moto, which also says what is wrong with it."""
    if call.permission not in OURS or not call.is_json:
        return None
    asked = call.json()
    queue = find(call.region, asked.get("QueueUrl", ""))
    if queue is None or queue.fifo_queue:
        return None
    try:
        if call.action == "ReceiveMessage":
            body = received(queue, asked, environ.get("werkzeug.socket"))
        elif call.action == "DeleteMessage":
            with LOCK:
                shelf(queue).delete(asked["ReceiptHandle"])
            body = {}
        else:
            body = deleted(queue, asked["Entries"])
    except (KeyError, TypeError, ReceiptHandleIsInvalid):
        return None
    return "200 OK", JSON, json.dumps(body).encode()


def find(region, url):
    """The queue of a URL, whosever it is."""
    account, _, name = url.rpartition("/")
    account = account.rpartition("/")[2]
    if not account.isdigit():
        return None
    return sqs_backends[account][region].queues.get(name)


def received(queue, asked, connection):
    """The messages of one poll."""
    wait = asked.get("WaitTimeSeconds")
    visibility = asked.get("VisibilityTimeout")
    found = wait_for(
        queue,
        asked.get("MaxNumberOfMessages") or 1,
        queue.receive_message_wait_time_seconds if wait is None else wait,
        queue.visibility_timeout if visibility is None else visibility,
        asked.get("MessageAttributeNames") or [],
        connection,
    )
    wanted = asked.get("MessageSystemAttributeNames") or asked.get("AttributeNames") or []
    return {"Messages": [written(one, wanted) for one in found]} if found else {}


def written(message, wanted):
    """A message as SQS writes it."""
    one = {
        "MessageId": message.id,
        "ReceiptHandle": message.receipt_handle,
        "MD5OfBody": message.body_md5,
        "Body": message.body,
    }
    if message.message_attributes:
        one["MessageAttributes"] = message.message_attributes
        one["MD5OfMessageAttributes"] = message.attribute_md5
    known = {
        "SenderId": message.sender_id,
        "SentTimestamp": str(message.sent_timestamp),
        "ApproximateReceiveCount": str(message.approximate_receive_count),
        "ApproximateFirstReceiveTimestamp": str(message.approximate_first_receive_timestamp),
    }
    named = {key: value for key, value in known.items() if key in wanted or "All" in wanted}
    if named:
        one["Attributes"] = named
    return one


def deleted(queue, entries):
    """What came of deleting several."""
    done, failed = [], []
    for entry in entries:
        try:
            with LOCK:
                shelf(queue).delete(entry["ReceiptHandle"])
            done.append({"Id": entry["Id"]})
        except ReceiptHandleIsInvalid:
            code = "ReceiptHandleIsInvalid"
            text = "The input receipt handle is not a valid receipt handle."
            failed.append(
                {"Id": entry["Id"], "SenderFault": True, "Code": code, "Message": text}
            )
    return {"Successful": done, "Failed": failed}


def send(region, name, body):
    """Puts a message into a queue."""
    with LOCK:
        sqs_backends[ACCOUNT][region].send_message(name, body)


def create(region, name):
    """Makes a queue, or finds it."""
    backend = sqs_backends[ACCOUNT][region]
    if name not in backend.queues:
        backend.create_queue(name, {})
    return backend.queues[name]
