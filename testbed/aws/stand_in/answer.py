"""Answers of EC2 written from plain dictionaries.

Moto's own writer looks for every field of a shape in every way an object could have it, which takes
milliseconds for one instance. Ours are dictionaries with the names of the API.
"""

from datetime import datetime
from xml.sax.saxutils import escape

from moto.core.responses import ActionResult

NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"

# The fields of a structure by the name of its shape: their key, their tag, their own shape.
FIELDS = {}


class Answer(ActionResult):
    """A dictionary that becomes the answer to a call of EC2."""

    def execute_result(self, context):
        """Writes the dictionary by the operation's shape."""
        parts = []
        shape = context.operation_model.output_shape
        write_structure(shape, self.result, parts)
        name = context.operation_model.name
        head = f'<{name}Response xmlns="{NAMESPACE}"><requestId>0</requestId>'
        body = f"{head}{''.join(parts)}</{name}Response>"
        return 200, {"Content-Type": "text/xml"}, body


def fields_of(shape):
    """The fields of a structure, read from the model once."""
    if shape.name not in FIELDS:
        FIELDS[shape.name] = {
            key: (member.serialization.get("name", key), member)
            for key, member in shape.members.items()
        }
    return FIELDS[shape.name]


def write_structure(shape, value, parts):
    """Every field that is there. A field that the API does not have is a mistake of ours."""
    fields = fields_of(shape)
    for key, one in value.items():
        if one is not None:
            tag, member = fields[key]
            write(tag, member, one, parts)


def write(tag, shape, value, parts):
    """One value with its tag."""
    if isinstance(value, dict):
        parts.append(f"<{tag}>")
        write_structure(shape, value, parts)
        parts.append(f"</{tag}>")
    elif isinstance(value, list):
        parts.append(f"<{tag}>")
        item = shape.member.serialization.get("name", "item")
        for one in value:
            write(item, shape.member, one, parts)
        parts.append(f"</{tag}>")
    else:
        parts.append(f"<{tag}>{plain(value)}</{tag}>")


def plain(value):
    """A value without parts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return escape(str(value))
