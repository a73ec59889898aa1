"""What instances cost: on demand from the catalogue's own table, spot as a stable share of that.

Moto has no price list, and one spot price for everything, so low that spot is never worth
replacing.
"""

import csv
import hashlib
import json
from datetime import timedelta

from moto.core.utils import utcnow
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS
from moto.ec2.responses import EC2Response

from . import refusal
from .answer import Answer
from .state import REGION

# A spot price lies between a quarter and three fifths of the price on demand.
SPOT_SHARE_LOW, SPOT_SHARE_RANGE = 0.25, 0.35
# What an instance on hardware of one's own costs more.
DEDICATED_FACTOR = 1.06
SHARED, METAL = "Compute Instance", "Compute Instance (bare metal)"
PAGE = 1000

ON_DEMAND = {}

# Spot prices that a test has set, in dollars, by type and zone; "*" is every type or zone.
SPOT_SET = {}


def install():
    """Spot prices that differ by type and zone."""
    EC2Response.describe_spot_price_history = describe_spot_price_history


def read(data):
    """Reads the catalogue's prices, in dollars an hour."""
    with open(data / "prices.csv", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            if row[REGION]:
                ON_DEMAND[row["type"]] = float(row[REGION])


def spot(instance_type, zone):
    """The spot price of a type in a zone; nothing for a type without a price."""
    places = [(instance_type, zone), (instance_type, "*"), ("*", zone), ("*", "*")]
    found = next((SPOT_SET[place] for place in places if place in SPOT_SET), None)
    if found is not None or instance_type not in ON_DEMAND:
        return found
    number = hashlib.sha1(f"{instance_type}/{zone}".encode()).digest()[0] / 255
    return round(ON_DEMAND[instance_type] * (SPOT_SHARE_LOW + SPOT_SHARE_RANGE * number), 6)


def describe_spot_price_history(response):
    """The price of the last hour for each type and zone that is asked for."""
    filters = response._filters_from_querystring()
    types = set(response._get_param("InstanceTypes", []) or filters.get("instance-type", []))
    zones = set(filters.get("availability-zone", []))
    if response._get_param("AvailabilityZone"):
        zones.add(response._get_param("AvailabilityZone"))
    products = response._get_param("ProductDescriptions", []) or ["Linux/UNIX"]
    rows = [
        (offering["InstanceType"], offering["Location"], product)
        for offering in INSTANCE_TYPE_OFFERINGS["availability-zone"].get(response.region, [])
        if (not types or offering["InstanceType"] in types)
        and (not zones or offering["Location"] in zones)
        for product in products
    ]
    start = int(response._get_param("NextToken") or 0)
    count = min(int(response._get_param("MaxResults") or PAGE), PAGE)
    stamp = (utcnow() - timedelta(hours=1)).strftime("%Y-%m-%dT%H:00:00.000Z")
    history = [
        {
            "InstanceType": instance_type,
            "ProductDescription": product,
            "SpotPrice": f"{price:.6f}",
            "AvailabilityZone": zone,
            "Timestamp": stamp,
        }
        for instance_type, zone, product in rows[start : start + count]
        if (price := spot(instance_type, zone)) is not None
    ]
    more = str(start + count) if start + count < len(rows) else ""
    return Answer({"SpotPriceHistory": history, "NextToken": more})


def answer(call):
    """GetProducts, the one call of the price list that is made."""
    if call.action != "GetProducts":
        return refusal.as_json("400 Bad Request", "UnknownOperationException", call.action)
    asked = call.json()
    wanted = {term["Field"]: term["Value"] for term in asked.get("Filters", [])}
    dedicated = wanted.get("tenancy", "Shared") == "Dedicated"
    types = [
        name
        for name in ON_DEMAND
        if wanted.get("instanceType", name) == name
        and wanted.get("productFamily", family(name)) == family(name)
        # Hardware that is one's own altogether is sold in no other way.
        and (dedicated or family(name) == SHARED)
    ]
    start = int(asked.get("NextToken") or 0)
    count = min(int(asked.get("MaxResults") or 100), 100)
    region = wanted.get("regionCode", REGION)
    products = [product(name, region, dedicated) for name in types[start : start + count]]
    body = {"FormatVersion": "aws_v1", "PriceList": [json.dumps(one) for one in products]}
    if start + count < len(types):
        body["NextToken"] = str(start + count)
    return "200 OK", "application/x-amz-json-1.1", json.dumps(body).encode()


def family(instance_type):
    """The family of products that a type is listed in."""
    return METAL if ".metal" in instance_type else SHARED


def product(instance_type, region, dedicated):
    """One line of the price list."""
    sku = hashlib.sha1(f"{instance_type}/{region}/{dedicated}".encode()).hexdigest()[:16].upper()
    costs_more = dedicated and family(instance_type) == SHARED
    price = ON_DEMAND[instance_type] * (DEDICATED_FACTOR if costs_more else 1)
    term, dimension = f"{sku}.JRTCKXETXF", f"{sku}.JRTCKXETXF.6YS6EN2CT7"
    dimensions = {
        dimension: {
            "unit": "Hrs",
            "rateCode": dimension,
            "pricePerUnit": {"USD": f"{price:.10f}"},
        }
    }
    return {
        "product": {
            "productFamily": family(instance_type),
            "sku": sku,
            "attributes": {
                "instanceType": instance_type,
                "regionCode": region,
                "operatingSystem": "Linux",
                "tenancy": "Dedicated" if dedicated else "Shared",
                "capacitystatus": "Used",
                "preInstalledSw": "NA",
                "marketoption": "OnDemand",
            },
        },
        "serviceCode": "AmazonEC2",
        "terms": {"OnDemand": {term: {"sku": sku, "priceDimensions": dimensions}}},
        "version": "20260204000000",
        "publicationDate": "2026-02-04T00:00:00Z",
    }
