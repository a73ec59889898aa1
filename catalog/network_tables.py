"""Bandwidth and address limits, from the tables inside the provider's module."""

import re

BANDWIDTH = re.compile(r'^\t\t"([a-z0-9.-]+)":\s*(\d+),', re.M)
LIMIT = re.compile(r'^\t"([a-z0-9.-]+)": \{\n(.*?)^\t\},', re.M | re.S)


def bandwidth_rows(provider, types):
    found = dict(BANDWIDTH.findall(table(provider, "zz_generated.bandwidth.go")))
    yield "type,baseline_mbps"
    for name in sorted(types & found.keys()):
        yield f"{name},{found[name]}"


def limit_rows(provider, types):
    yield "type,ipv4_per_interface,branch_interfaces"
    found = dict(LIMIT.findall(table(provider, "zz_generated.vpclimits.go")))
    for name in sorted(types & found.keys()):
        members = found[name]
        trunking = member(members, "IsTrunkingCompatible") == "true"
        branches = member(members, "BranchInterface") if trunking else "0"
        yield f"{name},{member(members, 'IPv4PerInterface')},{branches}"


def member(members, name):
    return re.search(rf"^\t\t{name}:\s*(\w+),", members, re.M).group(1)


def table(provider, name):
    path = provider / "pkg" / "providers" / "instancetype" / name
    return path.read_text(encoding="utf-8")
