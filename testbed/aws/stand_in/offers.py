"""What EC2 sells: types and where they are offered, page by page, written once.

Moto takes two seconds to write down every type, for each caller anew. These answers never change,
so they are kept, also for the next stand-in on this machine.
"""

import hashlib
import json
import os
from pathlib import Path

from moto.ec2.responses import EC2Response

from .answer import Answer

PAGE_MAX = 100
OFFERINGS_PAGE_MAX = 1000

LASTING = {"ec2:DescribeInstanceTypes", "ec2:DescribeInstanceTypeOfferings"}
KEPT = {}
FOLDER = None


def install():
    """Both lists come in pages."""
    EC2Response.describe_instance_types = in_pages(
        EC2Response.describe_instance_types, "InstanceTypes", PAGE_MAX
    )
    EC2Response.describe_instance_type_offerings = in_pages(
        EC2Response.describe_instance_type_offerings,
        "InstanceTypeOfferings",
        OFFERINGS_PAGE_MAX,
    )


def keep_in(folder):
    """Keeps answers in a folder that outlives this process, apart from those of other versions."""
    global FOLDER  # noqa: PLW0603  (set once, at the start)
    if folder:
        version = hashlib.sha1(Path(__file__).read_bytes()).hexdigest()[:16]
        FOLDER = Path(folder) / version


def in_pages(method, field, most):
    """The same call, a page at a time."""

    def paged(response):
        whole = [
            # Moto's types have a field of their own.
            {name: value for name, value in one.items() if name != "name"}
            for one in method(response).result[field]
        ]
        if response._get_param("InstanceTypes"):
            return Answer({field: whole})
        start = int(response._get_param("NextToken") or 0)
        count = min(int(response._get_param("MaxResults") or most), most)
        answer = {field: whole[start : start + count]}
        if start + count < len(whole):
            answer["NextToken"] = str(start + count)
        return Answer(answer)

    return paged


def kept(call, ask):
    """The answer to a call whose answer never changes: an old one, or the one `ask` gives."""
    name = hashlib.sha1(call.region.encode() + b"/" + call.body).hexdigest()
    if name not in KEPT and FOLDER and (FOLDER / name).is_file():
        head, body = (FOLDER / name).read_bytes().split(b"\n", 1)
        status, headers = json.loads(head)
        KEPT[name] = status, [tuple(header) for header in headers], body
    if name not in KEPT:
        answer = ask()
        if not answer[0].startswith("200"):
            return answer
        KEPT[name] = answer
        write(name, answer)
    return KEPT[name]


def write(name, answer):
    """Keeps an answer for the next stand-in. Others may do the same at this moment."""
    if not FOLDER:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    status, headers, body = answer
    partial = FOLDER / f"{name}.{os.getpid()}"
    partial.write_bytes(json.dumps([status, headers]).encode() + b"\n" + body)
    partial.rename(FOLDER / name)
