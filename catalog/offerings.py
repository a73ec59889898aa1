"""Which type is sold in which zone: a section a region, a line a type, a letter a zone."""

import gzip
import json


def rows(ec2, types):
    for file in sorted((ec2 / "instance_type_offerings" / "availability-zone").glob("*.json.gz")):
        region = file.name.removesuffix(".json.gz")
        yield f"[{region}]"
        yield from region_rows(region, file, types)


def region_rows(region, file, types):
    letters = {}
    with gzip.open(file) as text:
        for offering in json.load(text):
            if offering["InstanceType"] in types:
                letter = zone_letter(region, offering["Location"])
                letters.setdefault(offering["InstanceType"], set()).add(letter)
    for name in sorted(letters):
        yield f"{name} {''.join(sorted(letters[name]))}"


def zone_letter(region, zone):
    letter = zone.removeprefix(region)
    if len(letter) != 1 or not letter.islower():
        raise ValueError(f"zone {zone} of {region} is not the region's name and a letter")
    return letter
