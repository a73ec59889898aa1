"""Writes the catalogue's tables into crates/kerf-catalog/data/ (see README.md)."""

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# Nothing but the tables is to be left in the tree.
sys.dont_write_bytecode = True

import network_tables
import offerings
import prices
import shapes

FOLDER = Path(__file__).resolve().parent
DATA = FOLDER.parent / "crates" / "kerf-catalog" / "data"

PROVIDER = "github.com/aws/karpenter-provider-aws@v1.14.1"
# What the public checksum database says about that version.
PROVIDER_SUM = "h1:WGtIQTQcxpElYMdWfWuPwaF2+9muR+hYhPZsTtoY8Gs="


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--into", type=Path, default=DATA, help="folder to write to")
    into = arguments.parse_args().into
    into.mkdir(parents=True, exist_ok=True)
    provider = provider_folder()
    with tempfile.TemporaryDirectory() as scratch:
        ec2 = stand_in_data(Path(scratch))
        machines = shapes.usable(shapes.read(ec2))
        write(into / "shapes.csv", shapes.rows(machines))
        write(into / "offerings.txt", offerings.rows(ec2, set(machines)))
    write(into / "prices.csv", prices.rows(provider, set(machines)))
    write(into / "bandwidth.csv", network_tables.bandwidth_rows(provider, set(machines)))
    write(into / "limits.csv", network_tables.limit_rows(provider, set(machines)))


def provider_folder():
    """The provider's module in Go's module cache, checked against its known sum."""
    command = ["go", "mod", "download", "-json", PROVIDER]
    # Outside any module, so that no go.mod of ours is read or changed.
    found = json.loads(subprocess.check_output(command, cwd=tempfile.gettempdir()))
    if found["Sum"] != PROVIDER_SUM:
        sys.exit(f"{PROVIDER} has the sum {found['Sum']}, expected {PROVIDER_SUM}")
    return Path(found["Dir"])


def stand_in_data(scratch):
    """The EC2 tables inside the stand-in's package, unpacked; pip checks the package's hash."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--requirement", FOLDER / "requirements.txt", "--dest", scratch]
    subprocess.check_call(command)
    (wheel,) = scratch.glob("moto-*.whl")
    prefix = "moto/ec2/resources/"
    with zipfile.ZipFile(wheel) as package:
        package.extractall(scratch, [n for n in package.namelist() if n.startswith(prefix)])
    return scratch / prefix


def write(path, lines):
    lines = list(lines)
    text = "".join(f"{line}\n" for line in lines)
    path.write_text(text, encoding="ascii", newline="\n")
    print(f"{path.name:<14} {len(lines):>6} lines {(len(text) + 1023) // 1024:>4} KiB")


if __name__ == "__main__":
    main()
