"""What a machine learns from its user data: the labels and taints its kubelet registers with.

Read as the operating systems do: NodeConfig of nodeadm (Amazon Linux 2023), TOML (Bottlerocket), and
flags of the kubelet (everything else).
"""

import base64
import email
import re

import yaml

LABELS_FLAG = re.compile(r"--node-labels=[\"']?([^\s\"']*)")
TAINTS_FLAG = re.compile(r"--register-with-taints=[\"']?([^\s\"']*)")
TOML_TABLE = re.compile(r"^\s*\[(.+)\]\s*$")
TOML_ENTRY = re.compile(r"^\s*[\"']?([^\"'=]+?)[\"']?\s*=\s*(.+)$")


def read(encoded):
    """Labels, taints and the most pods, of user data in base64."""
    text = base64.b64decode(encoded or "").decode(errors="replace")
    found = {"labels": {}, "taints": [], "max_pods": None}
    if "[settings.kubernetes" in text:
        read_toml(text, found)
        return found
    for part in parts_of(text):
        if "node.eks.aws" in part:
            read_node_config(part, found)
        else:
            read_flags(part, found)
    return found


def parts_of(text):
    """The parts of a MIME archive, or the text itself."""
    if not text.lstrip().lower().startswith(("mime-version:", "content-type: multipart")):
        return [text]
    message = email.message_from_string(text.lstrip())
    return [
        part.get_payload(decode=True).decode(errors="replace")
        for part in message.walk()
        if not part.is_multipart()
    ]


def read_node_config(text, found):
    """A NodeConfig; a later one wins."""
    for document in yaml.safe_load_all(text):
        if not isinstance(document, dict) or document.get("kind") != "NodeConfig":
            continue
        kubelet = (document.get("spec") or {}).get("kubelet") or {}
        config = kubelet.get("config") or {}
        for flag in kubelet.get("flags") or []:
            read_flags(flag, found)
        if config.get("registerWithTaints"):
            found["taints"] = [
                {"key": one["key"], "value": one.get("value") or "", "effect": one["effect"]}
                for one in config["registerWithTaints"]
            ]
        if config.get("maxPods"):
            found["max_pods"] = int(config["maxPods"])


def read_flags(text, found):
    """Flags of the kubelet, wherever they stand."""
    for flags in LABELS_FLAG.findall(text):
        pairs = (pair.partition("=") for pair in flags.split(",") if pair)
        found["labels"].update({key: value for key, _, value in pairs})
    for flags in TAINTS_FLAG.findall(text):
        found["taints"] = [taint(one) for one in flags.split(",") if one]


def taint(text):
    """A taint as flags write it: ``key=value:effect``."""
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def read_toml(text, found):
    """The two tables of Bottlerocket's settings that are looked at; the rest is its own affair."""
    table = ""
    for line in text.splitlines():
        if header := TOML_TABLE.match(line):
            table = header.group(1).replace('"', "").replace("'", "").strip()
        elif entry := TOML_ENTRY.match(line):
            key, value = entry.group(1), entry.group(2).strip()
            if table == "settings.kubernetes.node-labels":
                found["labels"][key] = value.strip("\"'")
            elif table == "settings.kubernetes.node-taints":
                for one in re.findall(r"[\"']([^\"']*)[\"']", value):
                    found["taints"].append(taint(f"{key}={one}"))
            elif table == "settings.kubernetes" and key == "max-pods":
                found["max_pods"] = int(value)
