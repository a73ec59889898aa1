"""What a request asks for, read before moto sees it."""

import io
import json
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from moto.core.request import Request
from moto.core.routing import get_service_router

from .state import REGION


@dataclass
class Call:
    """One call of AWS."""

    service: str
    action: str
    region: str
    body: bytes = b""
    form: dict = field(default_factory=dict)
    is_json: bool = False

    @property
    def permission(self):
        """The permission it needs, as in ``ec2:CreateFleet``."""
        return f"{self.service}:{self.action}"

    @property
    def is_dry_run(self):
        """Whether EC2 is only asked if it would."""
        return self.form.get("DryRun", [""])[0].lower() == "true"

    def json(self):
        """The body, where the protocol is JSON."""
        return json.loads(self.body or b"{}")


def read(environ):
    """Reads a request and leaves it as it was for whoever serves it."""
    service, region = signed_for(environ.get("HTTP_AUTHORIZATION", ""))
    body = whole_body(environ)
    target = environ.get("HTTP_X_AMZ_TARGET", "")
    content = environ.get("CONTENT_TYPE", "")
    form = {}
    if "x-www-form-urlencoded" in content or (not content and body.startswith(b"Action=")):
        form = parse_qs(body.decode(), keep_blank_values=True)
    action = (form.get("Action") or [target.split(".")[-1]])[0]
    if not action and service:
        action = routed_action(service, environ)
    return Call(service, action, region, body, form, bool(target))


def signed_for(authorization):
    """Service and region a signature is for. Who does not sign gets what moto guesses."""
    try:
        scope = authorization.split("Credential=")[1].split(",")[0].split("/")
        return scope[3].lower(), scope[2]
    except IndexError:
        return "", REGION


def whole_body(environ):
    """The body of a request, which can still be read afterwards."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length) if length else b""
    if length:
        environ["wsgi.input"] = io.BytesIO(body)
    return body


def routed_action(service, environ):
    """The action of a service that tells its actions apart by method and path."""
    try:
        operation, _ = get_service_router(service).match(Request(environ.copy()))
        return operation.name
    except Exception:  # noqa: BLE001  (many services, many ways to say that there is none)
        return ""
