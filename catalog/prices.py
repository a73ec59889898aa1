"""On-demand prices in dollars per hour, from the table inside the provider's module."""

import re
from decimal import Decimal

REGION = "us-east-1"
ENTRY = re.compile(r'"([a-z0-9.-]+)": ([0-9]+\.[0-9]+)')


def rows(provider, types):
    table = provider / "pkg" / "providers" / "pricing" / "zz_generated.pricing_aws.go"
    text = table.read_text(encoding="utf-8")
    if text.count(f'"{REGION}": {{') != 1 or len(re.findall(r'^\t"[a-z0-9-]+": \{', text, re.M)) != 1:
        raise ValueError(f"{table.name} no longer holds exactly one table, {REGION}'s")
    prices = dict(ENTRY.findall(text))
    yield f"type,{REGION}"
    for name in sorted(types & prices.keys()):
        price = Decimal(prices[name])
        if price > 0:
            yield f"{name},{shortest(price)}"


def shortest(price):
    whole, _, fraction = f"{price:f}".partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole
