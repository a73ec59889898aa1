"""Refusals in the words and the wire format of each service."""

import json
from xml.sax.saxutils import escape

from moto.ec2.exceptions import EC2ClientError

from .state import ACCOUNT, DENIED

USER = f"arn:aws:iam::{ACCOUNT}:user/testing"


class Refused(EC2ClientError):
    """EC2 says no, with a code and a message."""


def is_denied(permission):
    """Whether a test took this permission away, by its name or with all of its service."""
    service = permission.split(":")[0]
    return permission in DENIED or f"{service}:*" in DENIED


def denial(permission):
    """What AWS says about a permission that is missing."""
    return (
        f"User: {USER} is not authorized to perform: {permission} because no identity-based "
        f"policy allows the {permission} action"
    )


def denied(call):
    """The answer to a call that a test has forbidden: status, headers, body."""
    message = denial(call.permission)
    if call.service == "ec2":
        message = f"You are not authorized to perform this operation. {message}"
        return ec2("403 Forbidden", "UnauthorizedOperation", message)
    if call.service in ("autoscaling", "cloudformation", "iam", "sts"):
        body = (
            f"<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>"
            f"{escape(message)}</Message></Error><RequestId>0</RequestId></ErrorResponse>"
        )
        return "403 Forbidden", "text/xml", body.encode()
    return as_json("400 Bad Request", "AccessDeniedException", message)


def dry_run():
    """The answer to a call that would have succeeded."""
    message = "Request would have succeeded, but DryRun flag is set."
    return ec2("412 Precondition Failed", "DryRunOperation", message)


def ec2(status, code, message):
    """A refusal as EC2 writes it."""
    body = (
        f"<Response><Errors><Error><Code>{code}</Code><Message>{escape(message)}</Message>"
        f"</Error></Errors><RequestID>0</RequestID></Response>"
    )
    return status, "text/xml", body.encode()


def as_json(status, code, message):
    """A refusal of a service that speaks JSON."""
    body = json.dumps({"__type": code, "message": message})
    return status, "application/x-amz-json-1.1", body.encode()
