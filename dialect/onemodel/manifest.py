"""manifest.json: its keys, and the check that both the writer and the reader run.

==========================  ============================================================================
``producer``                text: who wrote the file, for example ``"onemlir 0.1.0"``
``opset_version``           a positive integer: the version of the ``om`` operations that the graph uses
``inputs``, ``outputs``     a list of ``{"name": text, "dtype": numpy's name, "axes": [axis, ...]}``; an axis is
                            a size, the name (or formula) of a symbolic size, or null where any size fits
``metadata``                optional: a free object, for assumptions of the recording and the like
``format_version``          set by the writer
``weights_header_sha256``   set by the writer: ties the weights' names, dtypes, shapes and offsets to this file
==========================  ============================================================================
"""
from __future__ import annotations

import json
from collections.abc import Mapping

from . import strict_json
from .report import quote, refusal
from .safetensors import DTYPES
from .strict_json import is_count, is_text

FORMAT_VERSION = 1
ENTRY = "manifest.json"
LARGEST = 4 << 20
_LARGEST_SIZE = 2**63 - 1

_DTYPE_NAMES = frozenset(dtype.name for dtype in DTYPES.values())
_PORT_KEYS = {"name", "dtype", "axes"}
_REQUIRED = {"format_version", "producer", "opset_version", "inputs", "outputs", "metadata", "weights_header_sha256"}


def to_bytes(manifest: Mapping, weights_header_sha256: str, where: str) -> bytes:
    """The entry's bytes: the caller's manifest with the writer's own keys set."""
    complete = {
        "metadata": {},
        **manifest,
        "format_version": FORMAT_VERSION,
        "weights_header_sha256": weights_header_sha256,
    }
    check(complete, where)
    data = json.dumps(complete, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
    if len(data) > LARGEST:
        raise refusal(where, f"a manifest of {len(data)} bytes", f"at most {LARGEST}")
    return data


def check_version(manifest: dict, where: str) -> None:
    """Raise FormatError when a newer onemlir wrote the file: nothing else in it can be judged then."""
    version = manifest.get("format_version")
    if not is_count(version) or version < 1:
        raise refusal(where, f"format_version {quote(version)}", "a positive integer")
    if version > FORMAT_VERSION:
        raise refusal(where, f"format version {version}", f"at most {FORMAT_VERSION}",
                      "a newer onemlir wrote this file; upgrade onemlir to read it")


def check(manifest: dict, where: str) -> None:
    """Raise FormatError unless `manifest` has the keys above, with values of their kinds."""
    strict_json.require_plain(manifest, where)
    _check_keys(manifest, _REQUIRED, where)
    check_version(manifest, where)
    _check_scalars(manifest, where)
    for side in ("inputs", "outputs"):
        _check_ports(manifest[side], f"{where}: {side}")


def _check_scalars(manifest: dict, where: str) -> None:
    producer, opset, digest = (manifest[key] for key in ("producer", "opset_version", "weights_header_sha256"))
    if not isinstance(producer, str):
        raise refusal(where, f"producer {quote(producer)}", "text")
    if not is_count(opset) or opset < 1:
        raise refusal(where, f"opset_version {quote(opset)}", "a positive integer")
    if not isinstance(manifest["metadata"], dict):
        raise refusal(where, f"metadata {quote(manifest['metadata'])}", "an object")
    if not (isinstance(digest, str) and len(digest) == 64 and set(digest) <= set("0123456789abcdef")):
        raise refusal(where, f"weights_header_sha256 {quote(digest)}", "64 lower-case hexadecimal digits")


def _check_keys(found: object, expected: set[str], where: str) -> None:
    if not isinstance(found, dict):
        raise refusal(where, quote(found), f"an object with the keys {_listed(expected)}")
    missing, unknown = expected - found.keys(), found.keys() - expected
    if missing:
        raise refusal(where, f"no key {_listed(missing)}", f"the keys {_listed(expected)}")
    if unknown:
        raise refusal(where, f"the unknown key {quote(min(unknown))}", f"the keys {_listed(expected)}",
                      "free content goes into 'metadata'")


def _listed(keys: set[str]) -> str:
    return ", ".join(repr(key) for key in sorted(keys))


def _check_ports(ports: object, where: str) -> None:
    if not isinstance(ports, (list, tuple)):
        raise refusal(where, quote(ports), "a list")
    names = set()
    for position, port in enumerate(ports):
        _check_port(port, f"{where}[{position}]")
        if port["name"] in names:
            raise refusal(f"{where}[{position}]", f"the name {quote(port['name'])} a second time", "unique names")
        names.add(port["name"])


def _check_port(port: object, where: str) -> None:
    _check_keys(port, _PORT_KEYS, where)
    if not (is_text(port["name"]) and port["name"]):
        raise refusal(where, f"name {quote(port['name'])}", "text that is not empty")
    if not (isinstance(port["dtype"], str) and port["dtype"] in _DTYPE_NAMES):
        raise refusal(where, f"dtype {quote(port['dtype'])}", f"one of {', '.join(sorted(_DTYPE_NAMES))}")
    if not isinstance(port["axes"], (list, tuple)):
        raise refusal(where, f"axes {quote(port['axes'])}", "a list")
    for axis in port["axes"]:
        if not _is_axis(axis):
            raise refusal(where, f"axis {quote(axis)}", "a size, the name of a symbolic size, or null")


def _is_axis(axis: object) -> bool:
    if isinstance(axis, str):
        return axis != ""
    return axis is None or (is_count(axis) and axis <= _LARGEST_SIZE)
