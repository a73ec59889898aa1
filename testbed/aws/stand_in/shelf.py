"""The messages of one queue, found without looking at all of them.

Moto goes through every message for each one that is sent, received or deleted: some thousand
messages take it minutes.
"""

import copy
import heapq
from collections import deque

from moto.core.utils import unix_time_millis
from moto.sqs.exceptions import InvalidParameterValue, ReceiptHandleIsInvalid
from moto.sqs.models import _filter_message_attributes

# For so long a message can be hidden after it was sent.
HIDDEN_MILLIS_MAX = 43200 * 1000


class Shelf:
    """What a standard queue holds."""

    def __init__(self, queue):
        self.queue = queue
        # Every message that is not deleted, by id.
        self.live = {}
        # Those that can be received, oldest first. Some may be deleted or hidden by now.
        self.waiting = deque()
        # Those that are hidden or delayed, by when that ends. Some may be deleted by now.
        self.hidden = []
        # Messages by every handle they were ever received with.
        self.handles = {}
        self.number = 0
        # How many are hidden, and how many of them were never received: delayed.
        self.hidden_count = 0
        self.delayed_count = 0

    def add(self, message):
        """Takes a message in."""
        self.live[message.id] = message
        message.hidden_until = None
        message.is_delayed = message.delayed
        if message.is_delayed:
            self.hide(message, message.delayed_until)
        else:
            self.show(message)

    def count(self, message, by):
        """Counts a message that is hidden from now on, or no longer."""
        if message.is_delayed:
            self.delayed_count += by
        else:
            self.hidden_count += by

    def show(self, message):
        """A message can be received."""
        if message.hidden_until is not None:
            self.count(message, -1)
            message.is_delayed = False
        message.hidden_until = None
        self.waiting.append(message)

    def hide(self, message, until):
        """A message cannot be received until a time."""
        if message.hidden_until is None:
            self.count(message, 1)
        message.hidden_until = until
        self.number += 1
        heapq.heappush(self.hidden, (until, self.number, message))

    def wake(self):
        """Shows again what was hidden long enough."""
        now = unix_time_millis()
        while self.hidden and self.hidden[0][0] <= now:
            until, _, message = heapq.heappop(self.hidden)
            if message.hidden_until == until and message.id in self.live:
                self.show(message)

    def receive(self, count, visibility_seconds, attribute_names):
        """Gives out messages, and hides them for a while."""
        self.wake()
        found, seen_again = [], []
        while self.waiting and len(found) < count:
            message = self.waiting.popleft()
            if message.id not in self.live or message.hidden_until is not None:
                continue
            if self.is_dead(message):
                self.drop(message)
                self.queue.dead_letter_queue.add_message(message)
                continue
            if self.is_old(message):
                self.drop(message)
                continue
            message.mark_received(visibility_timeout=visibility_seconds)
            self.handles[message.receipt_handle] = message
            if int(visibility_seconds or 0) > 0:
                self.hide(message, message.visible_at)
            else:
                seen_again.append(message)
            given = copy.copy(message)
            _filter_message_attributes(given, attribute_names or [])
            found.append(given)
        self.waiting.extend(seen_again)
        return found

    def is_dead(self, message):
        """Whether a message was received too often."""
        policy = self.queue.redrive_policy
        if self.queue.dead_letter_queue is None or not policy:
            return False
        return message.approximate_receive_count >= int(policy["maxReceiveCount"])

    def is_old(self, message):
        """Whether a message was kept as long as the queue keeps messages."""
        kept_millis = int(self.queue.message_retention_period) * 1000
        return message.sent_timestamp + kept_millis <= unix_time_millis()

    def drop(self, message):
        """A message is gone."""
        if self.live.pop(message.id, None) is not None and message.hidden_until is not None:
            self.count(message, -1)

    def delete(self, handle):
        """Deletes a message; a second time is no mistake."""
        message = self.handles.get(handle)
        if message is None:
            raise ReceiptHandleIsInvalid()
        self.drop(message)

    def change_visibility(self, handle, seconds):
        """Hides a message for longer or shorter."""
        message = self.handles.get(handle)
        if message is None or message.id not in self.live:
            raise ReceiptHandleIsInvalid()
        if unix_time_millis() + int(seconds) * 1000 - message.sent_timestamp > HIDDEN_MILLIS_MAX:
            raise InvalidParameterValue(
                f"Value {seconds} for parameter VisibilityTimeout is invalid. Reason: Total "
                "VisibilityTimeout for the message is beyond the limit [43200 seconds]"
            )
        message.change_visibility(seconds)
        if int(seconds) > 0:
            self.hide(message, message.visible_at)
        else:
            self.show(message)

    def counts(self):
        """How many can be received, are hidden, and are delayed."""
        self.wake()
        visible = len(self.live) - self.hidden_count - self.delayed_count
        return visible, self.hidden_count, self.delayed_count
