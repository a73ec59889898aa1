"""Parameters of EC2 read in time that grows with their number.

Moto asks all parameters whether one begins with a prefix, for every prefix that there might be: a
tenth of a second for a fleet with two hundred overrides.
"""

from moto.core.parse import EC2QueryParser


def install():
    """The prefixes there are, collected once for each call."""
    EC2QueryParser._gonna_recurse = is_absent


def is_absent(parser, parameters, prefix):
    """Whether no parameter is below a prefix."""
    if prefix == "":
        return False
    known = getattr(parser, "known_prefixes", None)
    if known is None:
        known = parser.known_prefixes = set()
        for name in parameters:
            while name:
                known.add(name)
                name = name.rpartition(".")[0]
    return prefix not in known
